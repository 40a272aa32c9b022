/*
 * mailbox/document.h - a message as bytes: Markdown with YAML front matter.
 *
 * The body is byte-exact both ways. The reader takes everything the reference writes and the seed's
 * samples show; the writer writes one form (spec/mailbox.md 2.4), which the reference reads.
 */
#pragma once

#include "base/buf.h"
#include "mailbox/message.h"

/*
 * MR_EFORMAT (frame, YAML, a body that holds NUL or is not UTF-8), MR_ELIMIT (limits.h) and
 * MR_EINVAL (with issues: a field) say what is wrong with the document, with the file's lines.
 * `document` must live as long as `*out`, whose body points into it.
 */
MR_CHECK enum mr_code mr_mailbox_document_parse(struct mr_arena *arena, struct mr_bytes document,
	struct mr_mailbox_message *out, struct mr_err *err);
/*
 * Appends to `buf`, always as protocol version 3. Texts are written as they are; only the reader
 * checks the rules. MR_EFORMAT: the body holds NUL or is not UTF-8. MR_ELIMIT: it would be longer
 * than what is read.
 */
MR_CHECK enum mr_code mr_mailbox_document_write(struct mr_buf *buf,
	const struct mr_mailbox_message *message, struct mr_err *err);
