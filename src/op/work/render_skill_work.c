/* op/work/render_skill_work.c - which agents have the skill, on a terminal. */
#include "op/render_part.h"
#include "op/work/render_work.h"

/* What there is to know about a target, and to do about it. */
static const char *state_of(const struct mr_value *target)
{
	if (!mr_part_bool(target, "installed"))
		return "not installed";
	if (!mr_part_bool(target, "valid"))
		return "damaged";
	if (!mr_part_bool(target, "managed"))
		return "not ours";
	return mr_part_bool(target, "current") ? "installed" : "outdated";
}

static void put_targets(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how, const char *(*state)(const struct mr_value *target))
{
	static const struct mr_grid_column columns[] = {
		{ .title = "agent", .fixed = true },
		{ .title = "skill", .fixed = true },
		{ .title = "file" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "targets");
	const char **cells;

	if (!list)
		return;
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "agent");
		row[1] = state(one);
		row[2] = mr_part_line(arena, one, "skill_path");
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *why = mr_part_line(arena, one, "validation_error");

		if (*why)
			mr_buf_printf(out, "%s: %s\n", mr_part_line(arena, one, "skill_path"), why);
	}
}

void mr_render_work_skill(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *hint = mr_part_line(arena, value, "hint");

	put_targets(out, value, how, state_of);
	if (*hint)
		mr_buf_printf(out, "%s\n", hint);
}

static const char *removal_of(const struct mr_value *target)
{
	return mr_part_bool(target, "removed") ? "removed" : "was not there";
}

void mr_render_work_skill_removed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	put_targets(out, value, how, removal_of);
}
