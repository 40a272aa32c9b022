/* op/team/render_attention.c - what needs a person, and which agents work now, on a terminal. */
#include "op/render_part.h"

/* A list of the result as a table, below its heading. */
struct section {
	const char *heading, *list;
	struct {
		struct mr_grid_column column;
		const char *member;
		const char *inner; /* of an object: its member; or NULL */
		bool is_time;
	} columns[5];
};

static const struct section sections[] = {
	{ "Messages to you", "letters",
		{ { { .title = "id", .right = true, .fixed = true }, "id", NULL, false },
			{ { .title = "project" }, "project", NULL, false },
			{ { .title = "from", .fixed = true }, "from", NULL, false },
			{ { .title = "subject" }, "subject", NULL, false },
			{ { .title = "when", .fixed = true }, "created_ts", NULL, true } } },
	{ "Contact requests", "requests",
		{ { { .title = "id", .right = true, .fixed = true }, "id", NULL, false },
			{ { .title = "who asks", .fixed = true }, "from", "agent", false },
			{ { .title = "whom", .fixed = true }, "to", "agent", false },
			{ { .title = "why" }, "reason", NULL, false },
			{ { .title = "when", .fixed = true }, "updated_ts", NULL, true } } },
	{ "Acknowledgements that are overdue", "owed",
		{ { { .title = "id", .right = true, .fixed = true }, "message_id", NULL, false },
			{ { .title = "who owes it", .fixed = true }, "agent", NULL, false },
			{ { .title = "to", .fixed = true }, "from", NULL, false },
			{ { .title = "about" }, "subject", NULL, false },
			{ { .title = "since", .fixed = true }, "created_ts", NULL, true } } },
	{ "Leases whose holders have gone quiet", "left",
		{ { { .title = "id", .right = true, .fixed = true }, "id", NULL, false },
			{ { .title = "holder", .fixed = true }, "agent", NULL, false },
			{ { .title = "project" }, "project", NULL, false },
			{ { .title = "path" }, "path_pattern", NULL, false },
			{ { .title = "active", .fixed = true }, "last_active_ts", NULL, true } } },
	{ "Agents", "working",
		{ { { .title = "name", .fixed = true }, "name", NULL, false },
			{ { .title = "project" }, "project", NULL, false },
			{ { .title = "works on" }, "task_description", NULL, false },
			{ { .title = "leases", .right = true, .fixed = true }, "leases", NULL,
				false },
			{ { .title = "active", .fixed = true }, "last_active_ts", NULL, true } } },
};

static const char *cell(struct mr_arena *arena, const struct section *section, size_t column,
	const struct mr_value *one, const struct mr_render *how)
{
	const char *member = section->columns[column].member;

	if (section->columns[column].is_time)
		return mr_render_when(arena, one, member, how);
	if (section->columns[column].inner)
		return mr_part_line(arena, mr_value_get(one, member),
			section->columns[column].inner);
	return section->columns[column].column.right ? mr_part_number(arena, one, member)
						     : mr_part_line(arena, one, member);
}

static void put_section(struct mr_buf *out, struct mr_arena *arena, const struct section *section,
	const struct mr_value *list, const struct mr_render *how)
{
	struct mr_grid_column columns[MR_LEN(section->columns)];
	const char **cells =
		mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));

	for (size_t c = 0; c < MR_LEN(columns); c++) {
		columns[c] = section->columns[c].column;
		for (size_t i = 0; i < list->list.len; i++)
			cells[i * MR_LEN(columns) + c] =
				cell(arena, section, c, &list->list.items[i], how);
	}
	mr_part_styled(out, how, mr_style_bold, section->heading);
	mr_buf_putc(out, '\n');
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 0);
}

void mr_render_attention(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool is_first = true;

	for (size_t i = 0; i < MR_LEN(sections); i++) {
		const struct mr_value *list = mr_part_list(value, sections[i].list);

		if (!list)
			continue;
		if (!is_first)
			mr_buf_putc(out, '\n');
		is_first = false;
		put_section(out, arena, &sections[i], list, how);
	}
	if (is_first)
		mr_buf_puts(out, "Nothing needs you, and nobody works here yet.\n");
}
