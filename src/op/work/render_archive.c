/* op/work/render_archive.c - the archive on a terminal: lists, categories, and their messages. */
#include "op/render_part.h"
#include "op/work/render_page.h"
#include "op/work/render_work.h"

static const char *line(struct mr_arena *arena, const struct mr_value *value, const char *key)
{
	return mr_part_line(arena, value, key);
}

/* --- lists --- */

/* Rows of a uid and a name under this title. */
static void put_rows(struct mr_buf *out, const struct mr_value *list, const char *title,
	const char *uid, const char *name, const struct mr_render *how)
{
	const struct mr_grid_column columns[] = {
		{ .title = title, .fixed = true },
		{ .title = "name" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char **cells =
		mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));

	for (size_t i = 0; i < list->list.len; i++) {
		cells[i * MR_LEN(columns)] = line(arena, &list->list.items[i], uid);
		cells[i * MR_LEN(columns) + 1] = line(arena, &list->list.items[i], name);
	}
	mr_part_grid(out,
		&(struct mr_grid){ .columns = columns,
			.column_count = MR_LEN(columns),
			.cells = cells,
			.rows = list->list.len },
		list, how, 0);
}

void mr_render_archive_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *cases = mr_part_list(value, "cases");
	const struct mr_value *categories = mr_part_list(value, "messages");

	if (cases)
		put_rows(out, cases, "case", "case_uid", "case_name", how);
	if (cases && categories)
		mr_buf_putc(out, '\n');
	if (categories)
		put_rows(out, categories, "category", "archive_uid", "archive_name", how);
	if (!cases && !categories)
		mr_buf_puts(out, "The archive is empty.\n");
	mr_page_invalid(out, value);
}

void mr_render_category_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *list = mr_part_list(value, "items");

	if (list)
		put_rows(out, list, "category", "archive_uid", "archive_name", how);
	else
		mr_buf_puts(out, "There are no categories of archived messages.\n");
	mr_page_invalid(out, value);
}

/* --- categories --- */

void mr_render_category_created(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "The category %s is %s%s.\n", line(arena, value, "archive_uid"),
		line(arena, value, "path"),
		mr_part_int(value, "message_count") ? ", with its first message" : "");
	mr_page_queued(out, value);
}

void mr_render_category_page(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	mr_page_put(out, mr_page_text(value, "text"), how);
	mr_buf_putc(out, '\n');
	mr_page_head(out, how, "Files", line(arena, value, "path"));
}

void mr_render_category_renamed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out,
		mr_part_bool(value, "changed") ? "Category %s is named \"%s\" now: %s\n"
					       : "Category %s is named \"%s\" already: %s\n",
		line(arena, value, "archive_uid"), line(arena, value, "archive_name"),
		line(arena, value, "path"));
}

/* --- messages --- */

void mr_render_message_archived(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Message %s is archived in %s.\n", line(arena, value, "message_id"),
		line(arena, value, "path"));
	mr_page_queued(out, value);
}

void mr_render_archive_restored(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Message %s is back in triage: %s\n", line(arena, value, "message_id"),
		line(arena, value, "triage_path"));
	mr_page_queued(out, value);
}

void mr_render_archive_moved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Message %s %s in the category %s.\n", line(arena, value, "message_id"),
		mr_part_bool(value, "changed") ? "is now" : "was already",
		line(arena, value, "archive_uid"));
}
