/* workspace/suggest.h - commands about suggestions: make one, list them, drop one, do what it says.
 */
#pragma once

#include "workspace/suggestion.h"

enum mr_work_suggested {
	MR_WORK_SUGGEST_CASE,
	MR_WORK_SUGGEST_ARCHIVE,
	MR_WORK_SUGGEST_SPAM,
	MR_WORK_SUGGEST_TRASH,
};

struct mr_work_suggestion_set {
	const char *message_id;
	unsigned action;    /* enum mr_work_suggested */
	const char *target; /* a ref: of case and archive alone */
	const char *summary, *reason;
};
struct mr_work_suggestion_was_set {
	struct mr_work_suggestion suggestion;
	bool replaced; /* there was another one */
};
/* invalid_request when the message does not wait in triage, when a target or summary is missing, or
 * when a target is given that the action does not have; case_not_found, case_archived,
 * archive_not_found. */
MR_CHECK enum mr_code mr_work_suggestion_set(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_set *request, struct mr_work_suggestion_was_set *result);

struct mr_work_suggestion_row {
	struct mr_work_suggestion suggestion;
	const char *from, *subject, *view_path;
};
struct mr_work_suggestion_listed {
	int64_t count;
	struct mr_work_suggestion_row *items;
	size_t len;
};
MR_CHECK enum mr_code mr_work_suggestion_list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_suggestion_listed *result);

struct mr_work_suggestion_ref {
	const char *message_id;
	const char *reason; /* of accept: in place of the suggestion's own; of clear: why */
};
struct mr_work_suggestion_cleared {
	const char *message_id;
	bool changed; /* there was one */
};
MR_CHECK enum mr_code mr_work_suggestion_clear(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_ref *request, struct mr_work_suggestion_cleared *result);

struct mr_work_suggestion_accepted {
	struct mr_work_suggestion suggestion;
	bool queued; /* something is queued for the server now */
	struct mr_texts push_ids;
};
/* Do what it says; invalid_request when the message has none. Fails as the command that it stands
 * for does, and remains then. */
MR_CHECK enum mr_code mr_work_suggestion_accept(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_ref *request, struct mr_work_suggestion_accepted *result);
