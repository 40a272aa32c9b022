/* workspace/members.h - questions and steps that commands over lists of messages share. */
#pragma once

#include "workspace/collection.h"
#include "workspace/queue.h"

/* The view of a message in a case or category: "<path>/views/messages/<id>.md". */
const char *mr_work_member_view(struct mr_arena *arena, const char *path, const char *message_id);
/* The ids of its messages, in their order. */
struct mr_texts mr_work_member_ids(struct mr_arena *arena,
	const struct mr_work_collection *collection);
/* The messages and those related to them show something else now. */
MR_CHECK enum mr_code mr_work_touch_conversation(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *message_ids);
/* A text without blanks around it; NULL when nothing is left. */
const char *mr_work_text_or_null(struct mr_arena *arena, const char *text);
/* Usable locations of messages for which nothing is queued. */
MR_CHECK enum mr_code mr_work_count_locations(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *message_ids, struct mr_work_queued *out);
/* Every message is there; message_not_found. */
MR_CHECK enum mr_code mr_work_check_known(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *message_ids);
