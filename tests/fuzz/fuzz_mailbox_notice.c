/* fuzz_mailbox_notice.c - what a sender writes stays quoted: no line of a notice is its own. */
#include "base/utf8.h"
#include "mailbox/notice_block.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Every line is a heading or quoted, and none can command a terminal or a template. */
static void check(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n");

		if (len && line[0] != '>' && strncmp(line, "Sender notice ", 14) != 0 &&
			line[0] != '+')
			abort();
		if (memmem(line, len, "{{", 2) || memmem(line, len, "}}", 2) ||
			memmem(line, len, "{%", 2) || memmem(line, len, "\033", 1))
			abort();
		if (!line[len])
			break;
	}
	if (!mr_utf8_is_valid(text, strlen(text), NULL))
		abort();
}

/* The first byte is the text's cap and placement; the text is the rest, up to a NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = len > 1 ? mr_arena_strndup(arena, (const char *)data + 1, len - 1) : "";
	const struct mr_mailbox_notify_block block = { text, len && (data[0] & 1) };
	const struct mr_notice_mail mail = { "ref", text, &block, NULL };
	const struct mr_notice_rules rules = { .render = true,
		.per_message_chars = len ? data[0] : 0,
		.total_chars = 4096 };
	struct mr_notice_slots slots;

	if (!mr_utf8_is_valid(text, strlen(text), NULL))
		return 0;
	mr_notice_block_render(arena, &rules, &mail, 1, &slots);
	check(slots.prepend);
	check(slots.append);
	return 0;
}
