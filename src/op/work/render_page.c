/* op/work/render_page.c - pages of a workspace on a terminal, and lines that many results have. */
#include "op/work/render_page.h"

#include "base/utf8.h"
#include "op/render_part.h"

#include <string.h>

const char *mr_page_text(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

/* The length of the fence that a line is, 0 when it is none. One that ends a text says nothing
 * else; one that begins it may name a language. */
static size_t fence_of(const char *line, size_t open)
{
	size_t len = strspn(line, "`");

	if (len < 3 || (open && (len < open || line[len + strspn(line + len, " \t\r")])))
		return 0;
	return len;
}

/* "- Message: [message_x](views/messages/message_x.md)" without the target of its link. */
static const char *without_link(struct mr_arena *arena, const char *line)
{
	const char *text = strstr(line, ": [");
	const char *target = text ? strstr(text, "](") : NULL;

	if (!mr_str_starts(line, "- ") || !target || !mr_str_ends(line, ")"))
		return line;
	return mr_arena_printf(arena, "%.*s: %.*s", (int)(text - line), line,
		(int)(target - text - 3), text + 3);
}

void mr_page_put(struct mr_buf *out, const char *text, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool is_begun = false, has_gap = false;
	size_t open = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *line = mr_arena_strndup(arena, text, len);
		size_t fence = fence_of(line, open);

		text += len + (text[len] == '\n');
		if (!open && !fence &&
			(!line[strspn(line, " \t\r")] || mr_str_starts(line, "<!-- afmail:"))) {
			has_gap = is_begun;
			continue;
		}
		if (has_gap)
			mr_buf_putc(out, '\n');
		has_gap = false;
		is_begun = true;
		if (!open && !fence && *line == '#')
			mr_part_styled(out, how, mr_style_bold, mr_render_line(arena, line));
		else
			mr_buf_puts(out,
				mr_render_line(arena,
					open || fence ? line : without_link(arena, line)));
		mr_buf_putc(out, '\n');
		if (fence)
			open = open ? 0 : fence;
	}
}

const char *mr_page_count(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const char *one, const char *many)
{
	int64_t count = mr_part_int(map, key);

	return mr_arena_printf(arena, "%lld %s", (long long)count, count == 1 ? one : many);
}

void mr_page_queued(struct mr_buf *out, const struct mr_value *value)
{
	if (mr_part_bool(value, "queued"))
		mr_buf_puts(out,
			"The change on the server is queued; `mailroom work push` shows it.\n");
}

void mr_page_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	enum { NAME_WIDTH = 10 };

	if (!*text)
		return;
	mr_part_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', NAME_WIDTH - strlen(name));
	mr_buf_puts(out, text);
	mr_buf_putc(out, '\n');
}

void mr_page_invalid(struct mr_buf *out, const struct mr_value *value)
{
	const struct mr_value *paths = mr_part_list(value, "invalid_paths");

	for (size_t i = 0; paths && i < paths->list.len; i++) {
		mr_buf_puts(out, "This document cannot be read: ");
		mr_render_text(out, paths->list.items[i].text);
		mr_buf_putc(out, '\n');
	}
}
