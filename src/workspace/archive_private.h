/* workspace/archive_private.h - what the files of categories share. */
#pragma once

#include "workspace/archive.h"

/* Find and load a category. */
MR_CHECK enum mr_code mr_work_archive_open(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_collection *out);
/*
 * May the message go into a category? message_not_found, message_has_related_conversation_use_case,
 * message_already_archived when it is in another one than `path` (NULL: in any).
 */
MR_CHECK enum mr_code mr_work_archive_check(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const char *path);
/* A message that is put into a category leaves spam and trash, and is archived on the server. */
MR_CHECK enum mr_code mr_work_archive_put(struct mr_ctx *cx, struct mr_work_change *change,
	const char *message_id, struct mr_texts *out_eligible, struct mr_work_queued *out);
