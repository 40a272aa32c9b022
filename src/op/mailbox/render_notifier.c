/* op/mailbox/render_notifier.c - wake-ups on a terminal, and a hook's answer. */
#include "op/mailbox/render_notifier.h"

#include "op/render_part.h"
#include "text/json.h"

void mr_render_notifier(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *channel = mr_part_line(arena, value, "channel");
	const char *error = mr_part_line(arena, value, "last_error");
	const char *unsupported = mr_part_line(arena, value, "support_error");

	if (!mr_part_bool(value, "enabled"))
		mr_buf_puts(out, "The agent is told of its mail only when it asks.\n");
	else
		mr_buf_printf(out,
			"The agent is told of its mail by the channel %s, in the mode %s; it is "
			"looked for every %s seconds at least.\n",
			channel, mr_part_line(arena, value, "mode"),
			mr_part_number(arena, value, "interval_seconds"));
	if (mr_str_eq(channel, "command"))
		mr_buf_printf(out, "The program: %s\n", mr_part_names(arena, value, "command"));
	if (*mr_part_line(arena, value, "last_notification_at_utc"))
		mr_buf_printf(out, "Told last: %s\n",
			mr_render_when(arena, value, "last_notification_at_utc", how));
	if (*unsupported)
		mr_buf_printf(out, "It cannot be told: %s\n", unsupported);
	if (*error)
		mr_buf_printf(out, "What went wrong last: %s\n", error);
}

/* A row for each notice; with the agent where they are of several. */
static void put_notices(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	bool with_agent, const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "agent", .fixed = true },
		{ .title = "notice", .fixed = true },
		{ .title = "queued", .fixed = true },
		{ .title = "state", .fixed = true },
		{ .title = "channel", .fixed = true },
		{ .title = "mails", .fixed = true },
		{ .title = "about" },
	};
	size_t skip = with_agent ? 0 : 1, width = MR_LEN(columns) - skip;
	const char **cells = mr_arena_array(arena, list->list.len * width, sizeof(*cells));
	struct mr_grid grid = { columns + skip, width, cells, NULL, list->list.len };

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *detail = mr_part_line(arena, one, "detail");
		const char *agent = mr_part_line(arena, one, "agent_name");
		const char **row = &cells[i * width];

		if (with_agent)
			*row++ = *agent ? agent : mr_part_line(arena, one, "agent_id");
		row[0] = mr_part_number(arena, one, "notice_id");
		row[1] = mr_render_when(arena, one, "queued_at_utc", how);
		row[2] = mr_part_line(arena, one, "state");
		row[3] = mr_part_line(arena, one, "channel");
		row[4] = mr_part_number(arena, one, "message_count");
		row[5] = *detail ? detail : mr_part_line(arena, one, "subject");
	}
	mr_part_grid(out, &grid, list, how, 0);
}

void mr_render_notices(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "notices");

	if (list)
		put_notices(out, arena, list, false, how);
	else
		mr_buf_printf(out, "%s was not told of any mail yet.\n",
			mr_part_line(arena, value, "address"));
}

void mr_render_agents_notices(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "notices");
	const struct mr_value *problems = mr_part_list(value, "problems");

	if (list)
		put_notices(out, arena, list, true, how);
	else
		mr_buf_puts(out, "No agent was told of any mail yet.\n");
	for (size_t i = 0; problems && i < problems->list.len; i++)
		mr_buf_printf(out, "Not read: %s\n",
			mr_render_line(arena, problems->list.items[i].text));
}

void mr_render_hook(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_json_writer json;

	(void)how;
	mr_json_init(&json, out, MR_JSON_COMPACT);
	mr_json_value(&json, value);
	mr_buf_putc(out, '\n');
}
