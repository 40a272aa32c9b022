/*
 * workspace/reference.h - what keeps a message from being thrown away or archived on the server.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

/*
 * What refers to a message: documents of cases and categories that list it, drafts that answer it,
 * queue items (but `except_push_id`, or NULL). Paths, sorted.
 */
MR_CHECK enum mr_code mr_work_references(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const char *except_push_id, struct mr_texts *out_paths);
/* message_referenced with its details when something does. */
MR_CHECK enum mr_code mr_work_check_unreferenced(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id);
/* message_has_related_conversation_use_case with its details when it has related messages. */
MR_CHECK enum mr_code mr_work_check_unrelated(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id);
/*
 * May the message be archived on the server? It is archived here, and no active case, draft or
 * other queue item needs it. `archiving_case` is the uid of a case that the present change
 * archives, or NULL; `into_category` says that the change puts the message into a category.
 */
MR_CHECK enum mr_code mr_work_is_archivable(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const char *archiving_case, bool into_category, bool *out);
