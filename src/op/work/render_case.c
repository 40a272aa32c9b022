/* op/work/render_case.c - cases on a terminal: lists, pages, and what was done to one. */
#include "op/render_part.h"
#include "op/work/render_page.h"
#include "op/work/render_work.h"

#include <string.h>

static const char *line(struct mr_arena *arena, const struct mr_value *value, const char *key)
{
	return mr_part_line(arena, value, key);
}

/* --- the case itself --- */

void mr_render_case_created(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Case %s is open in %s%s.\n", line(arena, value, "case_uid"),
		line(arena, value, "case_path"),
		mr_part_int(value, "message_count") ? ", with its first message" : "");
	mr_page_queued(out, value);
}

void mr_render_case_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "case", .fixed = true },
		{ .title = "group" },
		{ .title = "name" },
	};
	static const struct mr_grid_column archived[] = {
		{ .title = "case", .fixed = true },
		{ .title = "name" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");
	bool has_groups = list && mr_value_get(&list->list.items[0], "group");
	size_t width = has_groups ? MR_LEN(columns) : MR_LEN(archived);
	const char **cells, **at;

	if (!list) {
		mr_buf_puts(out, "There are no cases here.\n");
		mr_page_invalid(out, value);
		return;
	}
	at = cells = mr_arena_array(arena, list->list.len * width, sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		*at++ = line(arena, one, "case_uid");
		if (has_groups)
			*at++ = line(arena, one, "group");
		*at++ = line(arena, one, "case_name");
	}
	mr_part_grid(out,
		&(struct mr_grid){ .columns = has_groups ? columns : archived,
			.column_count = width,
			.cells = cells,
			.rows = list->list.len },
		list, how, 0);
	mr_page_invalid(out, value);
}

void mr_render_case_page(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	mr_page_put(out, mr_page_text(value, "text"), how);
	mr_buf_putc(out, '\n');
	mr_page_head(out, how, "Files", line(arena, value, "case_path"));
}

void mr_render_case_moved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *from = line(arena, value, "from_group");
	const char *to = line(arena, value, "to_group");

	(void)how;
	if (mr_str_eq(from, to))
		mr_buf_printf(out, "Case %s is in the group %s already.\n",
			line(arena, value, "case_uid"), to);
	else
		mr_buf_printf(out, "Case %s moved from %s to %s: %s\n",
			line(arena, value, "case_uid"), from, to, line(arena, value, "case_path"));
}

void mr_render_case_renamed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out,
		mr_part_bool(value, "changed") ? "Case %s is named \"%s\" now: %s\n"
					       : "Case %s is named \"%s\" already: %s\n",
		line(arena, value, "case_uid"), line(arena, value, "case_name"),
		line(arena, value, "case_path"));
}

void mr_render_case_tagged(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *tags = mr_part_names(arena, value, "tags");

	(void)how;
	if (*tags)
		mr_buf_printf(out, "Tags of case %s: %s\n", line(arena, value, "case_uid"), tags);
	else
		mr_buf_printf(out, "Case %s has no tags.\n", line(arena, value, "case_uid"));
}

void mr_render_case_merged(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Case %s went into %s, with %s.\n",
		line(arena, value, "merged_case_uid"), line(arena, value, "case_uid"),
		mr_page_count(arena, value, "message_count", "message", "messages"));
}

void mr_render_case_archived(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Case %s is archived with %s: %s\n", line(arena, value, "case_uid"),
		mr_page_count(arena, value, "message_count", "message", "messages"),
		line(arena, value, "case_path"));
	mr_page_queued(out, value);
}

void mr_render_case_reopened(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Case %s is active, with %s.\n", line(arena, value, "case_uid"),
		mr_page_count(arena, value, "message_count", "message", "messages"));
}

void mr_render_case_restored(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Case %s is back in the group %s: %s\n", line(arena, value, "case_uid"),
		line(arena, value, "group"), line(arena, value, "case_path"));
}

void mr_render_case_deleted(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Case %s, \"%s\", is deleted.\n", line(arena, value, "case_uid"),
		line(arena, value, "case_name"));
}

/* --- its messages --- */

/* How many of several messages were in the case before. */
static size_t count_present(const struct mr_value *items)
{
	size_t count = 0;

	for (size_t i = 0; i < items->list.len; i++)
		count += mr_part_bool(&items->list.items[i], "already_present");
	return count;
}

void mr_render_case_added(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *items = mr_part_list(value, "items");
	const struct mr_value *related = mr_part_list(value, "related_message_ids");
	const char *uid = line(arena, value, "case_uid");

	(void)how;
	if (items) {
		size_t present = count_present(items);

		mr_buf_printf(out, "%zu of %zu messages are new in case %s.\n",
			items->list.len - present, items->list.len, uid);
	} else {
		mr_buf_printf(out, "Case %s has the message %s%s.\n", uid,
			line(arena, value, "message_id"),
			mr_part_bool(value, "already_present") ? " already" : " now");
	}
	if (related)
		mr_buf_printf(out, "Related messages: %s\n",
			mr_part_names(arena, value, "related_message_ids"));
	mr_page_queued(out, value);
}

void mr_render_case_removed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *items = mr_part_list(value, "items");
	const char *uid = line(arena, value, "case_uid");

	(void)how;
	if (items)
		mr_buf_printf(out, "%zu messages are out of the case %s", items->list.len, uid);
	else
		mr_buf_printf(out, "Message %s is out of the case %s, and %s now",
			line(arena, value, "message_id"), uid,
			mr_str_eq(mr_page_text(value, "status"), "triage")
				? "in triage"
				: mr_arena_printf(arena, "has the status %s",
					  line(arena, value, "status")));
	mr_buf_printf(out, "; %s left.\n",
		mr_page_count(arena, value, "message_count", "message is", "messages are"));
}

void mr_render_summary_set(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *summary = line(arena, value, "summary");

	(void)how;
	if (*summary)
		mr_buf_printf(out, "Message %s is listed as: %s\n",
			line(arena, value, "message_id"), summary);
	else
		mr_buf_printf(out, "Message %s is listed by its subject.\n",
			line(arena, value, "message_id"));
}

void mr_render_case_trashed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	if (!mr_part_int(value, "message_count"))
		mr_buf_printf(out, "Case %s has no messages.\n", line(arena, value, "case_uid"));
	else
		mr_buf_printf(out, "%s of case %s in the trash, and the case is empty.\n",
			mr_page_count(arena, value, "message_count", "message", "messages"),
			mr_arena_printf(arena, "%s %s", line(arena, value, "case_uid"),
				mr_part_int(value, "message_count") == 1 ? "is" : "are"));
	mr_page_queued(out, value);
}

/* --- notes --- */

void mr_render_notes(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_page_text(value, "text");
	size_t len = strlen(text);

	mr_render_text(out, text);
	if (!len || text[len - 1] != '\n')
		mr_buf_putc(out, '\n');
	mr_page_head(out, how, "File", line(arena, value, "notes_path"));
}

void mr_render_notes_written(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "%s written to %s.\n",
		mr_page_count(arena, value, "text_len_bytes", "byte was", "bytes were"),
		line(arena, value, "notes_path"));
}
