/* fuzz_mailbox_notify.c - an explicit notice always stands in a closed fence of the body. */
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "mailbox/notify.h"
#include "text/markdown.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The first byte is the placement; the text runs to the first NUL, the rest is the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = len ? mr_arena_strndup(arena, (const char *)data, len) : "";
	size_t used = strlen(text) < len ? strlen(text) + 1 : len;
	struct mr_bytes body = mr_bytes_of(data + used, len - used);
	struct mr_mailbox_notify_block block = { text + (text[0] != '\0'), text[0] == 'p' };
	struct mr_mailbox_message m = { .body = body, .notify_block = &block };
	struct mr_mailbox_message implicit = { .body = body };
	struct mr_markdown_fence before;
	struct mr_markdown_fence after;
	struct mr_err err;

	if (mr_mailbox_notify_compose(arena, false, &implicit, &err))
		return 0;
	if (implicit.body.len != body.len)
		abort();
	if (mr_mailbox_notify_compose(arena, true, &m, &err))
		return 0;
	if (mr_utf8_count(m.notify_block->text, strlen(m.notify_block->text)) >
		MR_MAILBOX_NOTIFY_CHARS)
		abort();
	mr_markdown_fence_find(arena, body, "houmao-notify", &before);
	mr_markdown_fence_find(arena, m.body, "houmao-notify", &after);
	if (!after.closed || (before.closed && m.body.len != body.len))
		abort();
	if (!before.closed &&
		!memmem(m.body.data, m.body.len, m.notify_block->text,
			strlen(m.notify_block->text)))
		abort();
	return 0;
}
