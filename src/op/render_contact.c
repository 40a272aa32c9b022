/* op/render_contact.c - who may write to whom, as people read it. */
#include "op/render_part.h"

/* "GreenCastle@backend" */
static const char *party(struct mr_arena *arena, const struct mr_value *link, const char *side)
{
	const struct mr_value *who = mr_value_get(link, side);

	return mr_arena_printf(arena, "%s@%s", mr_part_line(arena, who, "agent"),
		mr_part_line(arena, who, "project"));
}

void mr_render_contacts(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "id", .right = true, .fixed = true },
		{ .title = "from" },
		{ .title = "to" },
		{ .title = "state", .fixed = true },
		{ .title = "until", .fixed = true },
		{ .title = "reason" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "contacts");
	size_t rows = list ? list->list.len : 0, at = 0;
	const char **cells = mr_arena_array(arena, rows * MR_LEN(columns), sizeof(*cells));
	struct mr_grid grid = { columns, MR_LEN(columns), cells, NULL, rows };

	if (!list) {
		mr_buf_printf(out, "%s has no contacts.\n", mr_part_line(arena, value, "agent"));
		return;
	}
	for (size_t i = 0; i < rows; i++) {
		const struct mr_value *link = &list->list.items[i];

		cells[at++] = mr_part_number(arena, link, "id");
		cells[at++] = party(arena, link, "from");
		cells[at++] = party(arena, link, "to");
		cells[at++] = mr_part_line(arena, link, "status");
		cells[at++] = mr_render_when(arena, link, "expires_ts", how);
		cells[at++] = mr_part_line(arena, link, "reason");
	}
	mr_part_grid(out, &grid, list, how, 0);
}

void mr_render_contact(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *until = mr_value_get(value, "expires_ts");
	const char *reason = mr_part_line(arena, value, "reason");

	mr_part_styled(out, how, mr_style_bold,
		mr_arena_printf(arena, "%s -> %s: %s", party(arena, value, "from"),
			party(arena, value, "to"), mr_part_line(arena, value, "status")));
	if (until && until->kind == MR_TEXT)
		mr_buf_printf(out, ", until %s", mr_render_when(arena, value, "expires_ts", how));
	mr_buf_putc(out, '\n');
	if (*reason)
		mr_buf_printf(out, "reason  %s\n", reason);
	if (mr_part_bool(value, "notified"))
		mr_buf_puts(out, "They were told.\n");
}
