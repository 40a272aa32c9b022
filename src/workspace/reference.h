/*
 * workspace/reference.h - what keeps a message from being thrown away or archived on the server.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"
#include "workspace/queue.h"

/* What drafts and the queue need, read once for many questions. */
struct mr_work_holds {
	/* Drafts of active cases that answer a message. */
	struct mr_work_held {
		const char *message_id, *path;
	} * drafts;
	size_t draft_count;
	struct mr_work_push_items queue;
};
MR_CHECK enum mr_code mr_work_holds_load(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_holds *out);
/* The same as they were first read in this command; a change forgets them. */
MR_CHECK enum mr_code mr_work_holds_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_holds **out);

/*
 * What refers to a message: documents of cases and categories that list it, drafts that answer it,
 * queue items (but `except_push_id`, or NULL). Paths, sorted.
 */
MR_CHECK enum mr_code mr_work_references(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const char *except_push_id, struct mr_texts *out_paths);
/* The same with what was read already. `except_collection`, the directory of a case or category, or
 * NULL, does not count; nor do moves back to the inbox that have not begun, if `but_restores`. */
struct mr_work_reference_rule {
	const char *except_push_id, *except_collection;
	bool but_restores;
};
MR_CHECK enum mr_code mr_work_references_among(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const struct mr_work_holds *holds,
	const struct mr_work_reference_rule *rule, struct mr_texts *out_paths);
/* Fail with message_referenced and its details. */
enum mr_code mr_work_refuse_referenced(struct mr_ctx *cx, const char *message_id,
	const struct mr_texts *references);
/* message_referenced with its details when something does. A move back to the inbox that has not
 * begun does not count: whatever discards the message withdraws it. */
MR_CHECK enum mr_code mr_work_check_unreferenced(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id);
/* message_has_related_conversation_use_case with its details when it has related messages. */
MR_CHECK enum mr_code mr_work_check_unrelated(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id);
/* The same when messages of `together`, which share its fate, do not count. */
MR_CHECK enum mr_code mr_work_check_unrelated_but(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const struct mr_texts *together);
/*
 * May the message be archived on the server? It is archived here, and no active case, draft or
 * queue item other than one that archives it needs it. `archiving_case` is the uid of a case that
 * the present change archives, or NULL; `into_category` says that the change puts the message into
 * a category.
 */
MR_CHECK enum mr_code mr_work_is_archivable(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const char *archiving_case, bool into_category, bool *out);
/* The same of a message as it is now, by what mr_work_holds_get() has: for records. */
MR_CHECK enum mr_code mr_work_is_archivable_now(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, bool *out);
/* Those of the messages that may be archived and that no queued item archives already. */
MR_CHECK enum mr_code mr_work_eligible(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *message_ids, const char *archiving_case, bool into_category,
	struct mr_texts *out);
