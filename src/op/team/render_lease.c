/* op/team/render_lease.c - leases on a terminal: holder, pattern and expiry. */
#include "op/render_part.h"

static bool is_released(const struct mr_value *lease)
{
	const struct mr_value *released = mr_value_get(lease, "released_ts");

	return released && released->kind == MR_TEXT;
}

static const char *state_of(const struct mr_value *lease)
{
	if (is_released(lease))
		return "released";
	return mr_part_bool(lease, "stale")        ? "stale"
		: mr_part_bool(lease, "exclusive") ? "exclusive"
						   : "shared";
}

static void put_leases(struct mr_buf *out, const struct mr_value *list, const struct mr_render *how,
	bool with_agent, size_t indent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column all[] = {
		{ .title = "id", .right = true, .fixed = true },
		{ .title = "agent" },
		{ .title = "pattern" },
		{ .title = "state", .fixed = true },
		{ .title = "until", .fixed = true },
		{ .title = "reason" },
	};
	struct mr_grid_column columns[MR_LEN(all)];
	size_t width = 0;
	const char **cells = mr_arena_array(arena, list->list.len * MR_LEN(all), sizeof(*cells));
	const char **styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	size_t at = 0;

	for (size_t i = 0; i < MR_LEN(all); i++) {
		if (i != 1 || with_agent)
			columns[width++] = all[i];
	}
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		cells[at++] = mr_part_number(arena, one, "id");
		if (with_agent)
			cells[at++] = mr_part_line(arena, one, "agent");
		cells[at++] = mr_part_line(arena, one, "path_pattern");
		cells[at++] = state_of(one);
		cells[at++] = mr_render_when(arena, one,
			is_released(one) ? "released_ts" : "expires_ts", how);
		cells[at++] = mr_part_line(arena, one, "reason");
		styles[i] = is_released(one)         ? mr_style_dim
			: mr_part_bool(one, "stale") ? mr_style_yellow
						     : NULL;
	}

	struct mr_grid grid = { columns, width, cells, styles, list->list.len };

	if (!mr_grid_put(out, &grid, how, indent))
		mr_render_value(out, list, how);
}

static void put_line(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text)
{
	mr_part_styled(out, how, style, text);
	mr_buf_putc(out, '\n');
}

void mr_render_leases(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	const struct mr_value *list = mr_part_list(value, "result");

	if (list)
		put_leases(out, list, how, true, 0);
	else
		mr_buf_puts(out, "No leases.\n");
	mr_part_next(out, value, how);
}

static void put_conflicts(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const struct mr_value *holders = mr_part_list(one, "holders");

		put_line(out, how, mr_style_bold,
			mr_arena_printf(arena,
				"%s is held by others:", mr_part_line(arena, one, "path")));
		if (holders)
			put_leases(out, holders, how, true, 2);
		if (mr_part_bool(one, "has_more"))
			mr_buf_puts(out, "  and more\n");
	}
}

void mr_render_reserved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *granted = mr_part_list(value, "granted");
	const struct mr_value *conflicts = mr_part_list(value, "conflicts");
	const struct mr_value *warnings = mr_part_list(value, "warnings");

	if (granted)
		put_leases(out, granted, how, false, 0);
	if (conflicts) {
		mr_buf_putc(out, '\n');
		put_conflicts(out, conflicts, how);
		mr_buf_puts(out,
			"\nYou have the leases all the same: talk to the others before you "
			"edit.\n");
	}
	for (size_t i = 0; warnings && i < warnings->list.len; i++)
		put_line(out, how, mr_style_yellow,
			mr_arena_printf(arena, "warning: %s",
				mr_render_line(arena, warnings->list.items[i].text)));
}

void mr_render_paths_checked(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *conflicts = mr_part_list(value, "conflicts");

	if (conflicts)
		put_conflicts(out, conflicts, how);
	else
		mr_buf_puts(out, "Nobody else holds any of them.\n");
}
