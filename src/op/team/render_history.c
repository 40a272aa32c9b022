/* op/team/render_history.c - the history of a project, and how much goes on, on a terminal. */
#include "op/render_part.h"

#include <string.h>

enum { SHORT_ID = 12 };

static const char *short_id(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const char *id = mr_part_line(arena, map, key);

	return mr_arena_strndup(arena, id, strlen(id) < SHORT_ID ? strlen(id) : SHORT_ID);
}

void mr_render_history(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "commit", .fixed = true },
		{ .title = "when", .fixed = true },
		{ .title = "what" },
	};
	const struct mr_value *list = mr_part_list(value, "result");
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "Nothing is in the archive yet.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = short_id(arena, one, "sha");
		row[1] = mr_render_when(arena, one, "created_ts", how);
		row[2] = mr_part_line(arena, one, "subject");
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
	mr_part_next(out, value, how);
}

static void put_line(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *line,
	const struct mr_render *how)
{
	const char *kind = mr_part_line(arena, line, "kind");
	const char *text = mr_part_line(arena, line, "text");

	if (mr_str_eq(kind, "skip"))
		mr_part_styled(out, how, mr_style_dim,
			mr_arena_printf(arena, "  @ line %s",
				mr_part_number(arena, line, "after")));
	else
		mr_part_styled(out, how,
			mr_str_eq(kind, "removed")         ? mr_style_red
				: mr_str_eq(kind, "added") ? mr_style_bold
							   : mr_style_dim,
			mr_arena_printf(arena, "  %c %s",
				mr_str_eq(kind, "removed")         ? '-'
					: mr_str_eq(kind, "added") ? '+'
								   : ' ',
				text));
	mr_buf_putc(out, '\n');
}

static void put_note(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *map)
{
	const char *note = mr_part_line(arena, map, "note");

	if (*note)
		mr_buf_printf(out, "%s\n", note);
}

static void put_file(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *file,
	const struct mr_render *how)
{
	const struct mr_value *lines = mr_part_list(file, "lines");
	const char *same = mr_part_line(arena, file, "same_as");

	mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, file, "path"));
	mr_buf_printf(out, " %s\n", mr_part_line(arena, file, "change"));
	if (*same)
		mr_buf_printf(out, "  the same as %s\n", same);
	for (size_t i = 0; lines && i < lines->list.len; i++)
		put_line(out, arena, &lines->list.items[i], how);
	put_note(out, arena, file);
}

void mr_render_commit(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *files = mr_part_list(value, "files");
	const struct mr_value *body = mr_value_get(value, "body");

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, value, "subject"));
	mr_buf_printf(out, "\ncommit %s, %s\n", mr_part_line(arena, value, "sha"),
		mr_render_when(arena, value, "created_ts", how));
	if (body && body->kind == MR_TEXT && *body->text) {
		mr_render_text(out, body->text);
		mr_buf_putc(out, '\n');
	}
	put_note(out, arena, value);
	for (size_t i = 0; files && i < files->list.len; i++)
		put_file(out, arena, &files->list.items[i], how);
}

void mr_render_place(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *entries = mr_part_list(value, "entries");
	const struct mr_value *text = mr_value_get(value, "text");

	for (size_t i = 0; entries && i < entries->list.len; i++) {
		const struct mr_value *one = &entries->list.items[i];

		mr_buf_printf(out, "%s%s\n", mr_part_line(arena, one, "name"),
			mr_part_bool(one, "is_dir") ? "/" : "");
	}
	if (text && text->kind == MR_TEXT) {
		mr_render_text(out, text->text);
		if (out->len && out->data[out->len - 1] != '\n')
			mr_buf_putc(out, '\n');
	}
	put_note(out, arena, value);
	mr_part_next(out, value, how);
}

void mr_render_traffic(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "from", .fixed = true },
		{ .title = "to", .fixed = true },
		{ .title = "messages", .right = true, .fixed = true },
		{ .title = "last", .fixed = true },
	};
	const struct mr_value *list = mr_part_list(value, "result");
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "Nobody has written to anybody yet.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "from");
		row[1] = mr_part_line(arena, one, "to");
		row[2] = mr_part_number(arena, one, "messages");
		row[3] = mr_render_when(arena, one, "last_ts", how);
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
}

/* Operations of a process that runs one command say nothing. */
void mr_render_activity(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "hour", .fixed = true },
		{ .title = "messages", .right = true, .fixed = true },
	};
	const struct mr_value *hours = mr_part_list(value, "hours");
	const struct mr_value *archive = mr_value_get(value, "archive");
	const struct mr_value *locks = mr_part_list(value, "locks");
	const char **cells =
		mr_arena_array(arena, hours->list.len * MR_LEN(columns), sizeof(*cells));

	for (size_t i = 0; i < hours->list.len; i++) {
		const struct mr_value *one = &hours->list.items[i];

		cells[i * MR_LEN(columns)] = mr_render_when(arena, one, "begun_ts", how);
		cells[i * MR_LEN(columns) + 1] = mr_part_number(arena, one, "messages");
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, hours->list.len }, hours,
		how, 0);
	mr_buf_printf(out, "Leases that hold: %s\nChanges that the archive does not show yet: %s\n",
		mr_part_number(arena, value, "leases"), mr_part_number(arena, archive, "waiting"));
	for (size_t i = 0; locks && i < locks->list.len; i++) {
		const struct mr_value *lock = &locks->list.items[i];

		mr_buf_printf(out, "Process %s %s the archive of %s\n",
			mr_part_number(arena, lock, "pid"),
			mr_part_bool(lock, "is_alive") ? "writes to" : "died writing to",
			mr_part_line(arena, lock, "project"));
	}
}
