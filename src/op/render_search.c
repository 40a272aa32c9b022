/* op/render_search.c - what was found, and what a conversation came to, as people read it. */
#include "op/render_part.h"

#include <string.h>

/* The snippet's hits stand out; where there is no colour they are as they were. */
static void put_snippet(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *hit,
	const struct mr_render *how)
{
	const struct mr_value *snippet = mr_value_get(hit, "snippet");
	const struct mr_value *offsets = mr_part_list(hit, "offsets");
	const char *text = snippet && snippet->kind == MR_TEXT ? snippet->text : "";
	size_t len = strlen(text), at = 0;

	if (!len)
		return;
	mr_buf_puts(out, "    ");
	for (size_t i = 0; offsets && how->colour && i < offsets->list.len; i++) {
		size_t start = (size_t)mr_part_int(&offsets->list.items[i], "start");
		size_t end = (size_t)mr_part_int(&offsets->list.items[i], "end");

		if (start < at || end < start || end > len)
			break;
		mr_buf_puts(out,
			mr_render_line(arena, mr_arena_strndup(arena, text + at, start - at)));
		mr_part_styled(out, how, mr_style_bold,
			mr_render_line(arena, mr_arena_strndup(arena, text + start, end - start)));
		at = end;
	}
	mr_buf_puts(out, mr_render_line(arena, text + at));
	mr_buf_putc(out, '\n');
}

static void put_hit(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *hit,
	const struct mr_render *how)
{
	const char *thread = mr_part_line(arena, hit, "thread_id");

	mr_part_styled(out, how, mr_style_bold,
		mr_arena_printf(arena, "%lld  %s", (long long)mr_part_int(hit, "id"),
			mr_part_line(arena, hit, "subject")));
	mr_buf_printf(out, "\n    %s, %s%s%s\n", mr_part_line(arena, hit, "from"),
		mr_render_when(arena, hit, "created_ts", how), *thread ? ", thread " : "", thread);
	put_snippet(out, arena, hit, how);
}

void mr_render_hits(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "result");
	size_t count = list ? list->list.len : 0;

	for (size_t i = 0; i < count; i++)
		put_hit(out, arena, &list->list.items[i], how);
	mr_buf_printf(out, count == 0 ? "Nothing was found.\n" : "\n%zu found\n", count);
}

static void put_points(struct mr_buf *out, const struct mr_value *summary, const char *key,
	const char *title, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(summary, key);

	if (!list)
		return;
	mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_bold, title);
	mr_buf_putc(out, '\n');
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *item = &list->list.items[i];

		if (item->kind == MR_TEXT)
			mr_buf_printf(out, "  %s\n", mr_render_line(arena, item->text));
	}
}

void mr_render_summary(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *summary = mr_value_get(value, "summary");
	int64_t open = mr_part_int(summary, "open_actions");
	int64_t done = mr_part_int(summary, "done_actions");

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, value, "thread_id"));
	mr_buf_printf(out, "\n%lld messages by %s\n",
		(long long)mr_part_int(summary, "total_messages"),
		mr_part_names(arena, summary, "participants"));
	if (open || done)
		mr_buf_printf(out, "%lld to do, %lld done\n", (long long)open, (long long)done);
	put_points(out, summary, "key_points", "Points", how);
	put_points(out, summary, "action_items", "To do", how);
	put_points(out, summary, "code_references", "Code", how);
}
