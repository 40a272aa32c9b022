/* op/team/render_team.c - projects and agents as people read them. */
#include "op/render_part.h"

#include <string.h>

void mr_render_projects(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "name" },
		{ .title = "key" },
		{ .title = "made", .fixed = true },
	};
	const struct mr_value *list = mr_part_list(value, "result");
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "No projects; `mailroom team ensure-project PATH` makes one.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		cells[i * MR_LEN(columns)] = mr_part_line(arena, one,
			mr_value_get(one, "short_name") ? "short_name" : "slug");
		cells[i * MR_LEN(columns) + 1] = mr_part_line(arena, one, "human_key");
		cells[i * MR_LEN(columns) + 2] = mr_render_when(arena, one, "created_at", how);
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
	mr_part_next(out, value, how);
}

void mr_render_groups(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	const struct mr_value *list = mr_part_list(value, "result");

	if (list)
		mr_render_value(out, list, how);
	else
		mr_buf_puts(out, "No groups; `mailroom team group set` makes one.\n");
	mr_part_next(out, value, how);
}

static const char *made_of(struct mr_arena *arena, const struct mr_value *agent)
{
	return mr_arena_printf(arena, "%s, %s", mr_part_line(arena, agent, "program"),
		mr_part_line(arena, agent, "model"));
}

void mr_render_agents(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "name", .fixed = true },
		{ .title = "runs on" },
		{ .title = "works on" },
		{ .title = "active", .fixed = true },
	};
	const struct mr_value *list = mr_part_list(value, "result");
	const char **cells, **styles;

	if (!list) {
		mr_buf_puts(out, "No agents; `mailroom team register PROJECT` makes one.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];
		bool active = mr_part_bool(one, "is_active");

		row[0] = mr_part_line(arena, one, "name");
		row[1] = made_of(arena, one);
		row[2] = mr_part_line(arena, one, "task_description");
		row[3] = active ? mr_render_when(arena, one, "last_active_ts", how) : "retired";
		styles[i] = active ? NULL : mr_style_dim;
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, styles, list->list.len }, list,
		how, 0);
	mr_part_next(out, value, how);
}

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	enum { NAME_WIDTH = 13 };

	if (!*text)
		return;
	mr_part_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', NAME_WIDTH - strlen(name));
	mr_buf_puts(out, text);
	mr_buf_putc(out, '\n');
}

static void put_commits(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "commit", .fixed = true },
		{ .title = "about" },
		{ .title = "when", .fixed = true },
	};
	const char **cells =
		mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		cells[i * MR_LEN(columns)] = mr_part_line(arena, one, "hexsha");
		cells[i * MR_LEN(columns) + 1] = mr_part_line(arena, one, "summary");
		cells[i * MR_LEN(columns) + 2] = mr_render_when(arena, one, "authored_ts", how);
	}
	mr_buf_putc(out, '\n');
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
}

void mr_render_agent(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *commits = mr_part_list(value, "recent_commits");

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, value, "name"));
	mr_buf_putc(out, '\n');
	put_head(out, how, "note", mr_part_line(arena, value, "name_note"));
	put_head(out, how, "runs on", made_of(arena, value));
	put_head(out, how, "works on", mr_part_line(arena, value, "task_description"));
	put_head(out, how, "contact", mr_part_line(arena, value, "contact_policy"));
	put_head(out, how, "attachments", mr_part_line(arena, value, "attachments_policy"));
	put_head(out, how, "registered", mr_render_when(arena, value, "inception_ts", how));
	put_head(out, how, "last active", mr_render_when(arena, value, "last_active_ts", how));
	if (!mr_part_bool(value, "is_active"))
		put_head(out, how, "retired", mr_render_when(arena, value, "deleted_ts", how));
	if (commits)
		put_commits(out, arena, commits, how);
}

/* "no leases", "1 lease", "3 leases". */
static const char *counted(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const char *noun)
{
	int64_t count = mr_part_int(map, key);

	if (count == 0)
		return mr_arena_printf(arena, "no %ss", noun);
	return mr_arena_printf(arena, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s");
}

void mr_render_retired(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *name = mr_part_line(arena, value, "agent_name");

	(void)how;
	if (!mr_part_bool(value, "purged")) {
		mr_buf_printf(out, "%s is retired, and had %s.\n", name,
			counted(arena, value, "file_reservations_released", "lease"));
		return;
	}
	mr_buf_printf(out, "%s is deleted, with %s it sent and %s.\n", name,
		counted(arena, value, "messages_deleted", "message"),
		counted(arena, value, "file_reservations_deleted", "lease"));
}
