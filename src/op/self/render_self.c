/* op/self/render_self.c - the program's own tables, settings and operations, on a terminal. */
#include "op/render_part.h"

#include <string.h>

enum { WIDE = 120 }; /* columns from which on there is room for one more */

struct choice {
	const char *key;
	bool wide; /* only where there is room */
	struct mr_grid_column column;
};

/* The members of a list that fit the terminal; whoever reads it later gets all of them. */
static void put_rows(struct mr_buf *out, const struct mr_value *list, const struct choice *choices,
	size_t choice_count, const char *const *styles, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_grid_column *columns = mr_arena_array(arena, choice_count, sizeof(*columns));
	const char **keys = mr_arena_array(arena, choice_count, sizeof(*keys));
	const char **cells;
	size_t count = 0;

	for (size_t i = 0; i < choice_count; i++) {
		if (choices[i].wide && how->width < WIDE)
			continue;
		keys[count] = choices[i].key;
		columns[count++] = choices[i].column;
	}
	cells = mr_arena_array(arena, list->list.len * count, sizeof(*cells));
	for (size_t r = 0; r < list->list.len; r++) {
		for (size_t c = 0; c < count; c++)
			cells[r * count + c] = mr_part_line(arena, &list->list.items[r], keys[c]);
	}
	mr_part_grid(out, &(struct mr_grid){ columns, count, cells, styles, list->list.len }, list,
		how, 0);
}

void mr_render_settings(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct choice choices[] = {
		{ "key", false, { .title = "key", .fixed = true } },
		{ "value", false, { .title = "value" } },
		{ "source", false, { .title = "from" } },
		{ "summary", true, { .title = "what it is" } },
		{ "ignored", false, { .title = "ignored" } },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "settings");
	bool any_ignored = false;
	const char **styles;

	if (!how->width || !list) {
		mr_render_value(out, value, how);
		return;
	}
	styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *row = &list->list.items[i];
		const struct mr_value *ignored = mr_value_get(row, "ignored");

		styles[i] = mr_str_eq(mr_part_line(arena, row, "source"), "default")
			? NULL
			: mr_style_bold;
		any_ignored = any_ignored || (ignored && ignored->kind == MR_TEXT);
	}
	put_rows(out, list, choices, MR_LEN(choices) - !any_ignored, styles, how);
	mr_part_styled(out, how, mr_style_dim,
		"Environment variables and meanings: mailroom config --json, or "
		"docs/reference.md\n");
}

void mr_render_operations(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct choice choices[] = {
		{ "name", false, { .title = "name", .fixed = true } },
		{ "command", true, { .title = "command", .fixed = true } },
		{ "summary", false, { .title = "what it does" } },
	};
	const struct mr_value *list = mr_part_list(value, "operations");

	if (how->width && list)
		put_rows(out, list, choices, MR_LEN(choices), NULL, how);
	else
		mr_render_value(out, value, how);
}
