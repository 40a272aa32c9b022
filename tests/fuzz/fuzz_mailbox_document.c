/* fuzz_mailbox_document.c - a document that is read is written, and reads as the same message. */
#include "mailbox/document.h"
#include "mailbox/limits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool same_notice(const struct mr_mailbox_notify_block *a,
	const struct mr_mailbox_notify_block *b)
{
	return a && b ? mr_str_eq(a->text, b->text) && a->prepend == b->prepend : a == b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf first MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf second MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mailbox_message a;
	struct mr_mailbox_message b;
	struct mr_err err;

	mr_buf_init(&first, MR_MAILBOX_DOCUMENT_BYTES);
	mr_buf_init(&second, MR_MAILBOX_DOCUMENT_BYTES);
	if (mr_mailbox_document_parse(arena, mr_bytes_of(data, len), &a, &err))
		return 0;
	/* Escapes may make it too long. */
	if (mr_mailbox_document_write(&first, &a, &err)) {
		if (err.code != MR_ELIMIT)
			abort();
		return 0;
	}
	if (mr_mailbox_document_parse(arena, mr_buf_bytes(&first), &b, &err) ||
		!mr_mailbox_message_same(&a, &b, true) ||
		!same_notice(a.notify_block, b.notify_block) || !a.notify_auth != !b.notify_auth)
		abort();
	if (mr_mailbox_document_write(&second, &b, &err) ||
		strcmp(mr_buf_text(&first), mr_buf_text(&second)) != 0)
		abort();
	return 0;
}
