/* op/render_team.c - projects and agents as people read them. */
#include "op/grid.h"
#include "op/render.h"

#include <string.h>

static const char bold[] = "\033[1m";
static const char dim[] = "\033[2m";
static const char plain[] = "\033[0m";

static const char *line_at(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? mr_render_line(arena, value->text) : "";
}

static int64_t int_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

static bool is_set(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static void put_styled(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text)
{
	if (how->colour)
		mr_buf_puts(out, style);
	mr_buf_puts(out, text);
	if (how->colour)
		mr_buf_puts(out, plain);
}

/* The list of a result, or NULL when it is empty. */
static const struct mr_value *list_of(const struct mr_value *value, const char *key)
{
	const struct mr_value *list = mr_value_get(value, key);

	return list && list->kind == MR_LIST && list->list.len > 0 ? list : NULL;
}

/* As a table, or on a terminal that is too narrow row by row as any result. */
static void put_grid(struct mr_buf *out, const struct mr_grid *grid, const struct mr_value *list,
	const struct mr_render *how, size_t indent)
{
	if (!mr_grid_put(out, grid, how, indent))
		mr_render_value(out, list, how);
}

void mr_render_projects(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "slug" },
		{ .title = "key" },
		{ .title = "made", .fixed = true },
	};
	const struct mr_value *list = list_of(value, "result");
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "No projects; `mailroom team ensure-project PATH` makes one.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		cells[i * MR_LEN(columns)] = line_at(arena, one, "slug");
		cells[i * MR_LEN(columns) + 1] = line_at(arena, one, "human_key");
		cells[i * MR_LEN(columns) + 2] = mr_render_when(arena, one, "created_at", how);
	}
	put_grid(out, &(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len },
		list, how, 0);
}

static const char *made_of(struct mr_arena *arena, const struct mr_value *agent)
{
	return mr_arena_printf(arena, "%s, %s", line_at(arena, agent, "program"),
		line_at(arena, agent, "model"));
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
	const struct mr_value *list = list_of(value, "result");
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
		bool active = is_set(one, "is_active");

		row[0] = line_at(arena, one, "name");
		row[1] = made_of(arena, one);
		row[2] = line_at(arena, one, "task_description");
		row[3] = active ? mr_render_when(arena, one, "last_active_ts", how) : "retired";
		styles[i] = active ? NULL : dim;
	}
	put_grid(out, &(struct mr_grid){ columns, MR_LEN(columns), cells, styles, list->list.len },
		list, how, 0);
}

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	enum { NAME_WIDTH = 13 };

	if (!*text)
		return;
	put_styled(out, how, dim, name);
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

		cells[i * MR_LEN(columns)] = line_at(arena, one, "hexsha");
		cells[i * MR_LEN(columns) + 1] = line_at(arena, one, "summary");
		cells[i * MR_LEN(columns) + 2] = mr_render_when(arena, one, "authored_ts", how);
	}
	mr_buf_putc(out, '\n');
	put_grid(out, &(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len },
		list, how, 0);
}

void mr_render_agent(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *commits = list_of(value, "recent_commits");

	put_styled(out, how, bold, line_at(arena, value, "name"));
	mr_buf_putc(out, '\n');
	put_head(out, how, "runs on", made_of(arena, value));
	put_head(out, how, "works on", line_at(arena, value, "task_description"));
	put_head(out, how, "contact", line_at(arena, value, "contact_policy"));
	put_head(out, how, "attachments", line_at(arena, value, "attachments_policy"));
	put_head(out, how, "registered", mr_render_when(arena, value, "inception_ts", how));
	put_head(out, how, "last active", mr_render_when(arena, value, "last_active_ts", how));
	if (!is_set(value, "is_active"))
		put_head(out, how, "retired", mr_render_when(arena, value, "deleted_ts", how));
	if (commits)
		put_commits(out, arena, commits, how);
}

void mr_render_retired(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *name = line_at(arena, value, "agent_name");

	(void)how;
	if (!is_set(value, "purged")) {
		mr_buf_printf(out, "%s is retired; %lld of its leases ended.\n", name,
			(long long)int_at(value, "file_reservations_released"));
		return;
	}
	mr_buf_printf(out, "%s is deleted, with %lld messages it sent and %lld leases.\n", name,
		(long long)int_at(value, "messages_deleted"),
		(long long)int_at(value, "file_reservations_deleted"));
}
