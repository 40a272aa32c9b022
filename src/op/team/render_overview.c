/* op/team/render_overview.c - what goes on in a project, on a terminal. */
#include "op/render_part.h"

static void put_heading(struct mr_buf *out, const struct mr_render *how, const char *text)
{
	mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_bold, text);
	mr_buf_putc(out, '\n');
}

static void put_agents(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "name", .fixed = true },
		{ .title = "program" },
		{ .title = "works on" },
		{ .title = "unread", .right = true, .fixed = true },
		{ .title = "active", .fixed = true },
	};
	const char **cells =
		mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "name");
		row[1] = mr_part_line(arena, one, "program");
		row[2] = mr_part_line(arena, one, "task_description");
		row[3] = mr_part_number(arena, one, "unread");
		row[4] = mr_render_when(arena, one, "last_active_ts", how);
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
}

static void put_waiting(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "waits", .fixed = true },
		{ .title = "for", .fixed = true },
		{ .title = "message", .right = true, .fixed = true },
		{ .title = "about" },
		{ .title = "since", .fixed = true },
	};
	const char **cells =
		mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "from");
		row[1] = mr_part_line(arena, one, "agent");
		row[2] = mr_part_number(arena, one, "id");
		row[3] = mr_part_line(arena, one, "subject");
		row[4] = mr_render_when(arena, one, "created_ts", how);
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
}

/* A list as the command shows it that lists nothing else. */
static void put_as(struct mr_buf *out, const struct mr_value *list, const struct mr_render *how,
	void (*render)(struct mr_buf *, const struct mr_value *, const struct mr_render *))
{
	struct mr_pair pair = { "result", *list };
	const struct mr_value result = { .kind = MR_MAP, .map = { &pair, 1 } };

	render(out, &result, how);
}

void mr_render_overview(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *agents = mr_part_list(value, "agents");
	const struct mr_value *threads = mr_part_list(value, "conversations");
	const struct mr_value *leases = mr_part_list(value, "leases");
	const struct mr_value *waiting = mr_part_list(value, "waiting");
	const struct mr_value *project = mr_value_get(value, "project");

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, project, "human_key"));
	mr_buf_putc(out, '\n');
	put_heading(out, how, "Agents");
	if (agents)
		put_agents(out, arena, agents, how);
	else
		mr_buf_puts(out, "None yet.\n");
	if (mr_part_bool(value, "more_agents"))
		mr_buf_puts(out, "There are more: mailroom team agents\n");
	if (threads) {
		put_heading(out, how, "Newest conversations");
		put_as(out, threads, how, mr_render_threads);
	}
	if (leases) {
		put_heading(out, how, "Leases");
		put_as(out, leases, how, mr_render_leases);
	}
	if (waiting) {
		put_heading(out, how, "Acknowledgements that are waited for");
		put_waiting(out, arena, waiting, how);
	}
	if (mr_part_bool(value, "more_waiting"))
		mr_buf_puts(out, "There are more: mailroom team acks pending\n");
}
