/* fuzz_mailbox_payload.c - a payload is refused with issues, or its document says the same. */
#include "mailbox/document.h"
#include "mailbox/limits.h"
#include "text/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *value = NULL;
	struct mr_mailbox_principals recipients;
	struct mr_mailbox_message a;
	struct mr_mailbox_message b;
	struct mr_issues issues;
	struct mr_cursor at;
	struct mr_err err;

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	mr_issues_init(&issues, arena);
	if (mr_json_parse(arena, mr_bytes_of(data, len), NULL, &value, &err))
		return 0;
	at = mr_cursor_root(value, &issues);
	if (!mr_mailbox_message_read(arena, &at, MR_MAILBOX_PAYLOAD, &a)) {
		if (issues.len == 0)
			abort();
		return 0;
	}
	if (issues.len > 0)
		abort();
	if (!mr_mailbox_message_recipients(arena, &a, &recipients, &err) && recipients.len == 0)
		abort();
	if (mr_mailbox_document_write(&buf, &a, &err) == MR_ELIMIT)
		return 0;
	if (mr_mailbox_document_parse(arena, mr_buf_bytes(&buf), &b, &err) ||
		!mr_mailbox_message_same(&a, &b, true))
		abort();
	return 0;
}
