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

void mr_render_notices(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "notice", .fixed = true },
		{ .title = "queued", .fixed = true },
		{ .title = "state", .fixed = true },
		{ .title = "channel", .fixed = true },
		{ .title = "mails", .fixed = true },
		{ .title = "about" },
	};
	const struct mr_value *list = mr_part_list(value, "notices");
	size_t width = MR_LEN(columns), rows = list ? list->list.len : 0;
	const char **cells = mr_arena_array(arena, rows * width + 1, sizeof(*cells));
	struct mr_grid grid = { columns, width, cells, NULL, rows };

	if (!rows) {
		mr_buf_printf(out, "%s was not told of any mail yet.\n",
			mr_part_line(arena, value, "address"));
		return;
	}
	for (size_t i = 0; i < rows; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *detail = mr_part_line(arena, one, "detail");

		cells[i * width] = mr_part_number(arena, one, "notice_id");
		cells[i * width + 1] = mr_render_when(arena, one, "queued_at_utc", how);
		cells[i * width + 2] = mr_part_line(arena, one, "state");
		cells[i * width + 3] = mr_part_line(arena, one, "channel");
		cells[i * width + 4] = mr_part_number(arena, one, "message_count");
		cells[i * width + 5] = *detail ? detail : mr_part_line(arena, one, "subject");
	}
	mr_part_grid(out, &grid, list, how, 0);
}

void mr_render_hook(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_json_writer json;

	(void)how;
	mr_json_init(&json, out, MR_JSON_COMPACT);
	mr_json_value(&json, value);
	mr_buf_putc(out, '\n');
}
