/*
 * workspace/suggestion.h - what an agent would do with a message that waits in triage, for a person
 * to decide.
 *
 * .afmail/suggestions.json holds at most one for each message. Nothing happens until somebody
 * accepts it; then it is done by the same functions as without a suggestion. It counts while its
 * message waits in triage: afterwards it is not shown any more, and the next change removes it.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

/* What can be suggested: "case", "archive", "spam", "trash", NULL. */
extern const char *const mr_work_suggested_names[];

struct mr_work_suggestion {
	const char *message_id;
	const char *action;           /* a name of the above */
	const char *target;           /* the uid of a case or category, or NULL */
	const char *summary, *reason; /* or NULL */
	const char *created_rfc3339;
};
struct mr_work_suggestions {
	struct mr_work_suggestion *items; /* by message id */
	size_t len;
};

/* All that the document holds, read once a command; a change forgets them. store_error when it is
 * no such document. */
MR_CHECK enum mr_code mr_work_suggestions_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestions **out);
/* The same for views, which a broken document does not keep from being written: `work->suggestions`
 * stays NULL then. */
void mr_work_suggestions_warm(struct mr_ctx *cx, struct mr_work *work);
/* The suggestion of a message, or NULL. */
const struct mr_work_suggestion *mr_work_suggestion_of(const struct mr_work_suggestions *all,
	const char *message_id);
/* Does the message wait for a decision? */
bool mr_work_is_waiting(struct mr_ctx *cx, struct mr_work *work, const char *message_id);
/* As part of a change, write all that still count, but that of `message_id`, and `added` unless it
 * is NULL. */
void mr_work_suggestions_save(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_suggestions *all, const char *message_id,
	const struct mr_work_suggestion *added);
