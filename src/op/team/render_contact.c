/* op/team/render_contact.c - contacts, products, slots and macros as people read them. */
#include "op/render_part.h"

/* The object of a result, or NULL when it is null. */
static const struct mr_value *map_of(const struct mr_value *value, const char *key)
{
	const struct mr_value *map = mr_value_get(value, key);

	return map && map->kind == MR_MAP ? map : NULL;
}

/* "BlueLake@path-to-frontend" */
static const char *party_of(struct mr_arena *arena, const struct mr_value *link, const char *key)
{
	const struct mr_value *party = mr_value_get(link, key);

	return mr_arena_printf(arena, "%s@%s", mr_part_line(arena, party, "agent"),
		mr_part_line(arena, party, "project"));
}

/* Ends lie ahead, and are written out. */
static const char *end_of(struct mr_arena *arena, const struct mr_value *map)
{
	return mr_render_when(arena, map, "expires_ts", &(struct mr_render){ 0 });
}

void mr_render_link(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *status = mr_part_line(arena, value, "status"), *end = end_of(arena, value);

	(void)how;
	mr_buf_printf(out, "Contact %s: %s -> %s, %s", mr_part_number(arena, value, "id"),
		party_of(arena, value, "from"), party_of(arena, value, "to"), status);
	if (!mr_str_eq(status, "blocked"))
		mr_buf_printf(out, " until %s", end);
	mr_buf_putc(out, '\n');
	if (mr_part_bool(value, "notified"))
		mr_buf_puts(out, "The other has been told.\n");
}

void mr_render_contacts(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "id", .right = true, .fixed = true },
		{ .title = "from" },
		{ .title = "to" },
		{ .title = "status", .fixed = true },
		{ .title = "until", .fixed = true },
		{ .title = "reason" },
	};
	const struct mr_value *list = mr_part_list(value, "contacts");
	const char **cells, **styles;

	if (!list) {
		mr_buf_printf(out, "%s has no contacts.\n",
			mr_part_line(arena, value,
				mr_value_get(value, "project") ? "project" : "agent"));
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_number(arena, one, "id");
		row[1] = party_of(arena, one, "from");
		row[2] = party_of(arena, one, "to");
		row[3] = mr_part_line(arena, one, "status");
		row[4] = end_of(arena, one);
		row[5] = mr_part_line(arena, one, "reason");
		styles[i] = mr_str_eq(row[3], "blocked") ? mr_style_dim : NULL;
	}
	if (!mr_grid_put(out,
		    &(struct mr_grid){ columns, MR_LEN(columns), cells, styles, list->list.len },
		    how, 0))
		mr_render_value(out, list, how);
	mr_part_next(out, value, how);
}

static const char *slugs_of(struct mr_arena *arena, const struct mr_value *product)
{
	const struct mr_value *list = mr_part_list(product, "projects");
	struct mr_texts slugs = { NULL, 0 };

	if (!list)
		return "-";
	slugs.items = mr_arena_array(arena, list->list.len + 1, sizeof(*slugs.items));
	for (; slugs.len < list->list.len; slugs.len++)
		slugs.items[slugs.len] = mr_part_line(arena, &list->list.items[slugs.len], "slug");
	return mr_str_join(arena, &slugs, ", ");
}

void mr_render_products(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "uid" },
		{ .title = "name" },
		{ .title = "projects" },
	};
	const struct mr_value *list = mr_part_list(value, "result");
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "No products; `mailroom team product ensure` makes one.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "product_uid");
		row[1] = mr_part_line(arena, one, "name");
		row[2] = slugs_of(arena, one);
	}
	if (!mr_grid_put(out,
		    &(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, how,
		    0))
		mr_render_value(out, list, how);
	mr_part_next(out, value, how);
}

/* The same list as the whole of a result. */
static struct mr_value result_of(struct mr_pair *pair, const struct mr_value *list)
{
	*pair = (struct mr_pair){ "result", *list };
	return (struct mr_value){ .kind = MR_MAP, .map = { pair, 1 } };
}

void mr_render_product(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "projects");
	struct mr_pair pair;
	struct mr_value projects;

	mr_buf_printf(out, "%s (%s)%s\n", mr_part_line(arena, value, "name"),
		mr_part_line(arena, value, "product_uid"), list ? "" : ": no projects yet");
	if (!list)
		return;
	projects = result_of(&pair, list);
	mr_render_projects(out, &projects, how);
}

void mr_render_slot(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	if (*mr_part_line(arena, value, "released_ts"))
		mr_buf_printf(out, "Slot %s (%s) is free again.\n",
			mr_part_number(arena, value, "id"),
			mr_part_line(arena, value, "slot_name"));
	else
		mr_buf_printf(out, "Slot %s (%s) is held by %s until %s.\n",
			mr_part_number(arena, value, "id"), mr_part_line(arena, value, "slot_name"),
			mr_part_line(arena, value, "agent"), end_of(arena, value));
}

void mr_render_session(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *reserved = mr_value_get(value, "file_reservations");
	struct mr_pair pair;
	struct mr_value inbox = result_of(&pair, mr_value_get(value, "inbox"));

	mr_render_agent(out, mr_value_get(value, "agent"), how);
	if (mr_part_list(reserved, "granted")) {
		mr_buf_putc(out, '\n');
		mr_render_reserved(out, reserved, how);
	}
	mr_buf_putc(out, '\n');
	mr_render_inbox(out, &inbox, how);
}

void mr_render_prepared(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_pair pair;
	struct mr_value inbox = result_of(&pair, mr_value_get(value, "inbox"));

	mr_render_agent(out, mr_value_get(value, "agent"), how);
	mr_buf_putc(out, '\n');
	mr_render_value(out, mr_value_get(value, "thread"), how);
	mr_buf_putc(out, '\n');
	mr_render_inbox(out, &inbox, how);
}

void mr_render_cycle(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	mr_render_reserved(out, mr_value_get(value, "file_reservations"), how);
	if (map_of(value, "released"))
		mr_buf_puts(out, "\nGiven back again.\n");
}

void mr_render_handshake(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *response = map_of(value, "response");
	const struct mr_value *welcome = map_of(value, "welcome_message");

	mr_render_link(out, mr_value_get(value, "request"), how);
	if (response) {
		mr_buf_puts(out, "Answered: ");
		mr_render_link(out, response, how);
	}
	if (welcome)
		mr_render_sent(out, welcome, how);
}
