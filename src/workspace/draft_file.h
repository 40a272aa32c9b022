/*
 * workspace/draft_file.h - the file of a draft: YAML front matter with the mail's head, then its
 * text. Pure.
 *
 * What people leave out or add is kept as it is; whether the draft can be sent is not asked here
 * (see workspace/draft.h).
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "text/value.h"

enum {
	MR_WORK_DRAFT_BYTES = 8 << 20, /* a whole draft, without its attachments */
	MR_WORK_DRAFT_LIST_MAX = 1000, /* recipients, attachments */
};

/* Texts that are not there, null or blank are NULL. */
struct mr_work_draft_file {
	const char *kind, *case_uid, *send_intent, *reply_to_message_id, *identity, *subject;
	struct mr_texts to, cc, attachments;
	struct mr_value others; /* a map: members that are not ours */
	const char *body;       /* without blank lines before it, and as it is otherwise */
};

/* draft_invalid: not UTF-8, no front matter, no YAML, a member of another type. */
MR_CHECK enum mr_code mr_work_draft_read(struct mr_ctx *cx, struct mr_bytes file,
	struct mr_work_draft_file *out);
/* The file, ending in a newline: it reads back the same. draft_invalid when it is too long. */
MR_CHECK enum mr_code mr_work_draft_write(struct mr_ctx *cx, const struct mr_work_draft_file *draft,
	struct mr_bytes *out);
