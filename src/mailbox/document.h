/*
 * mailbox/document.h - a message as bytes: Markdown with YAML front matter.
 *
 * The body is byte-exact both ways. The reader takes everything the reference writes and the seed's
 * samples show; the writer writes one form (spec/mailbox.md 2.4), which the reference reads.
 */
#pragma once

#include "base/buf.h"
#include "mailbox/message.h"

/* MR_EFORMAT, MR_ELIMIT or MR_EINVAL (with issues) say what is wrong with the document. `document`
 * must live as long as `*out`, whose body points into it. */
MR_CHECK enum mr_code mr_mailbox_document_parse(struct mr_arena *arena, struct mr_bytes document,
	struct mr_mailbox_message *out, struct mr_err *err);
/* Appends to `buf`. */
MR_CHECK enum mr_code mr_mailbox_document_write(struct mr_buf *buf,
	const struct mr_mailbox_message *message, struct mr_err *err);
