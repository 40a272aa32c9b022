/* op/render_lease.c - leases as people read them: who works on what, until when. */
#include "op/grid.h"
#include "op/render.h"
#include "text/time.h"

static const char bold[] = "\033[1m";
static const char dim[] = "\033[2m";
static const char yellow[] = "\033[33m";
static const char plain[] = "\033[0m";

static const char *line_at(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return mr_render_line(arena, value && value->kind == MR_TEXT ? value->text : "");
}

static bool bool_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static const char *id_of(struct mr_arena *arena, const struct mr_value *map)
{
	const struct mr_value *value = mr_value_get(map, "id");

	return mr_arena_printf(arena, "%lld",
		(long long)(value && value->kind == MR_INT ? value->integer : 0));
}

static const struct mr_value *list_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_LIST && value->list.len ? value : NULL;
}

/* "in 2 h" for a person who looks now, "2026-03-11 04:15 UTC" for one who reads it later. */
static const char *when(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const struct mr_render *how)
{
	const char *text = line_at(arena, map, key);
	int64_t time_us = 0;
	struct mr_err err;

	if (!*text || mr_time_parse(text, MR_TIME_LENIENT, &time_us, &err))
		return "-";
	if (how->now_us)
		return mr_time_ago(arena, time_us, how->now_us);
	text = mr_time_format(arena, time_us, MR_TIME_SECONDS);
	return mr_arena_printf(arena, "%.10s %.5s UTC", text, text + 11);
}

static bool is_released(const struct mr_value *lease)
{
	const struct mr_value *released = mr_value_get(lease, "released_ts");

	return released && released->kind == MR_TEXT;
}

static const char *state_of(const struct mr_value *lease)
{
	if (is_released(lease))
		return "released";
	return bool_at(lease, "stale")        ? "stale"
		: bool_at(lease, "exclusive") ? "exclusive"
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

		cells[at++] = id_of(arena, one);
		if (with_agent)
			cells[at++] = line_at(arena, one, "agent");
		cells[at++] = line_at(arena, one, "path_pattern");
		cells[at++] = state_of(one);
		cells[at++] =
			when(arena, one, is_released(one) ? "released_ts" : "expires_ts", how);
		cells[at++] = line_at(arena, one, "reason");
		styles[i] = is_released(one) ? dim : bool_at(one, "stale") ? yellow : NULL;
	}

	struct mr_grid grid = { columns, width, cells, styles, list->list.len };

	if (!mr_grid_put(out, &grid, how, indent))
		mr_render_value(out, list, how);
}

void mr_render_leases(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	const struct mr_value *list = list_at(value, "result");

	if (list)
		put_leases(out, list, how, true, 0);
	else
		mr_buf_puts(out, "No leases.\n");
}

static void put_line(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text)
{
	if (how->colour)
		mr_buf_puts(out, style);
	mr_buf_puts(out, text);
	if (how->colour)
		mr_buf_puts(out, plain);
	mr_buf_putc(out, '\n');
}

static void put_conflicts(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const struct mr_value *holders = list_at(one, "holders");

		put_line(out, how, bold,
			mr_arena_printf(arena,
				"%s is held by others:", line_at(arena, one, "path")));
		if (holders)
			put_leases(out, holders, how, true, 2);
		if (bool_at(one, "has_more"))
			mr_buf_puts(out, "  and more\n");
	}
}

void mr_render_reserved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *granted = list_at(value, "granted");
	const struct mr_value *conflicts = list_at(value, "conflicts");
	const struct mr_value *warnings = list_at(value, "warnings");

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
		put_line(out, how, yellow,
			mr_arena_printf(arena, "warning: %s",
				mr_render_line(arena, warnings->list.items[i].text)));
}

void mr_render_paths_checked(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *conflicts = list_at(value, "conflicts");

	if (conflicts)
		put_conflicts(out, conflicts, how);
	else
		mr_buf_puts(out, "Nobody else holds any of them.\n");
}
