/* op/work/render_found.c - what a search in the workspace found, on a terminal. */
#include "op/render_part.h"
#include "op/work/render_work.h"

/* Subject, sender, status, time; the snippet; where it can be read. */
static void put_hit(struct mr_buf *out, const struct mr_render *how, const struct mr_value *hit)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *subject = mr_part_line(arena, hit, "subject");
	const char *path = mr_part_line(arena, hit, "view_path");
	const char *words[3];
	struct mr_texts about = { words, 0 };

	if (*mr_part_line(arena, hit, "from"))
		words[about.len++] = mr_part_line(arena, hit, "from");
	words[about.len++] = mr_part_line(arena, hit, "status");
	words[about.len++] = mr_render_when(arena, hit, "time", how);
	mr_part_styled(out, how, mr_style_bold, *subject ? subject : "(no subject)");
	mr_buf_puts(out, "  ");
	mr_part_styled(out, how, mr_style_dim, mr_str_join(arena, &about, ", "));
	mr_buf_putc(out, '\n');
	mr_part_snippet(out, how, hit, 4);
	mr_buf_puts(out, "    ");
	mr_part_styled(out, how, mr_style_dim,
		*path ? path : mr_part_line(arena, hit, "message_id"));
	mr_buf_putc(out, '\n');
}

void mr_render_work_hits(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *items = mr_part_list(value, "items");

	for (size_t i = 0; items && i < items->list.len; i++)
		put_hit(out, how, &items->list.items[i]);
	if (!items)
		mr_buf_puts(out, "Nothing found.\n");
}
