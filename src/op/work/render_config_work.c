/* op/work/render_config_work.c - the configuration of a workspace on a terminal. */
#include "op/render_part.h"
#include "op/work/render_work.h"
#include "text/json.h"

#include <string.h>

/* --- values in one line --- */

/* "add \Seen, move to junk": a list of steps. */
static const char *steps_words(struct mr_arena *arena, const struct mr_value *steps)
{
	struct mr_texts words = { NULL, 0 };

	if (!steps || steps->kind != MR_LIST || !steps->list.len)
		return "nothing";
	words.items = mr_arena_array(arena, steps->list.len + 1, sizeof(*words.items));
	for (size_t i = 0; i < steps->list.len; i++) {
		const struct mr_value *step = &steps->list.items[i];
		const char *text = "send by SMTP";

		if (mr_value_get(step, "add_flags"))
			text = mr_arena_printf(arena, "flag%s %s",
				mr_value_get(step, "on") ? " what it replies to" : "",
				mr_part_names(arena, step, "add_flags"));
		else if (mr_value_get(step, "move_to_mailbox_id"))
			text = mr_arena_printf(arena, "move to %s",
				mr_part_line(arena, step, "move_to_mailbox_id"));
		else if (mr_value_get(step, "append_to_mailbox_id"))
			text = mr_arena_printf(arena, "copy to %s",
				mr_part_line(arena, step, "append_to_mailbox_id"));
		words.items[words.len++] = text;
	}
	return mr_str_join(arena, &words, "; ");
}

static bool is_texts(const struct mr_value *value)
{
	if (value->kind != MR_LIST)
		return false;
	for (size_t i = 0; i < value->list.len; i++)
		if (value->list.items[i].kind != MR_TEXT)
			return false;
	return true;
}

static const char *value_line(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_pair pair = { "value", value ? *value : (struct mr_value){ .kind = MR_NULL } };
	const struct mr_value map = { .kind = MR_MAP, .map = { &pair, 1 } };
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;

	if (pair.value.kind == MR_NULL)
		return "(not set)";
	if (pair.value.kind == MR_TEXT)
		return mr_part_line(arena, &map, "value");
	if (is_texts(&pair.value))
		return pair.value.list.len ? mr_part_names(arena, &map, "value") : "(none)";
	mr_buf_init(&buf, 1 << 20);
	mr_json_init(&json, &buf, 0);
	mr_json_value(&json, &pair.value);
	return mr_render_line(arena, mr_buf_text(&buf));
}

/* --- show --- */

static void put_heading(struct mr_buf *out, const struct mr_render *how, const char *text)
{
	if (out->len)
		mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_bold, text);
	mr_buf_putc(out, '\n');
}

static void put_line(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	mr_buf_puts(out, "  ");
	mr_part_styled(out, how, mr_style_dim, name);
	for (size_t i = strlen(name); i < sizeof("password_secret_env ") - 1; i++)
		mr_buf_putc(out, ' ');
	mr_buf_printf(out, "%s\n", text);
}

/* A section whose members are single values. */
static void put_section(struct mr_buf *out, const struct mr_value *config, const char *key,
	const char *title, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *section = mr_value_get(config, key);

	if (!section || section->kind != MR_MAP)
		return;
	put_heading(out, how, title);
	for (size_t i = 0; i < section->map.len; i++)
		put_line(out, how, section->map.pairs[i].key,
			value_line(arena, &section->map.pairs[i].value));
}

static void put_identities(struct mr_buf *out, const struct mr_value *config,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "identity", .fixed = true },
		{ .title = "name" },
		{ .title = "address" },
		{ .title = "default", .fixed = true },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(config, "identities");
	const char **cells;

	if (!list)
		return;
	put_heading(out, how, "Identities");
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "identity");
		row[1] = mr_part_line(arena, one, "name");
		row[2] = mr_part_line(arena, one, "email");
		row[3] = mr_part_bool(one, "default") ? "yes" : "";
	}
	mr_part_grid(out,
		&(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, list->list.len }, list,
		how, 2);
}

static bool is_default_mailbox(const struct mr_value *pull, const char *id)
{
	const struct mr_value *list = mr_part_list(pull, "default_mailbox_ids");

	for (size_t i = 0; list && i < list->list.len; i++)
		if (list->list.items[i].kind == MR_TEXT && mr_str_eq(list->list.items[i].text, id))
			return true;
	return false;
}

static void put_mailboxes(struct mr_buf *out, const struct mr_value *config,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "id", .fixed = true },
		{ .title = "mailbox" },
		{ .title = "taken in as", .fixed = true },
		{ .title = "direction", .fixed = true },
		{ .title = "by default", .fixed = true },
		{ .title = "archiving does" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *map = mr_value_get(config, "mailboxes");
	const struct mr_value *actions = mr_value_get(config, "actions");
	const struct mr_value *pull = mr_value_get(actions, "pull");
	const struct mr_value *archive =
		mr_value_get(mr_value_get(actions, "message.archive"), "by_source_mailbox_id");
	const char **cells;

	if (!map || map->kind != MR_MAP || !map->map.len)
		return;
	put_heading(out, how, "Mailboxes");
	cells = mr_arena_array(arena, map->map.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < map->map.len; i++) {
		const char *id = map->map.pairs[i].key;
		const struct mr_value *one = &map->map.pairs[i].value;
		const struct mr_value *rule = mr_value_get(mr_value_get(pull, "by_mailbox_id"), id);
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_render_line(arena, id);
		row[1] = mr_part_line(arena, one, "mailbox_name");
		if (!*row[1])
			row[1] = mr_part_line(arena, one, "special_use");
		row[2] = mr_part_line(arena, rule, "import_as");
		row[3] = mr_part_line(arena, rule, "direction");
		row[4] = is_default_mailbox(pull, id) ? "yes" : "";
		row[5] = steps_words(arena, mr_value_get(mr_value_get(archive, id), "steps"));
	}
	mr_part_grid(out, &(struct mr_grid){ columns, MR_LEN(columns), cells, NULL, map->map.len },
		map, how, 2);
}

static void put_actions(struct mr_buf *out, const struct mr_value *config,
	const struct mr_render *how)
{
	static const char *const names[] = { "case.add", "draft.save", "draft.send", "message.spam",
		"message.trash" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *actions = mr_value_get(config, "actions");

	put_heading(out, how, "What commands do on the server");
	for (size_t i = 0; i < MR_LEN(names); i++)
		put_line(out, how, names[i],
			steps_words(arena, mr_value_get(mr_value_get(actions, names[i]), "steps")));
}

void mr_render_work_config(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *config = mr_value_get(value, "config");

	put_section(out, config, "workspace", "Workspace", how);
	put_identities(out, config, how);
	put_section(out, config, "imap", "IMAP, to take mail in", how);
	put_section(out, config, "smtp", "SMTP, to send mail", how);
	put_mailboxes(out, config, how);
	put_actions(out, config, how);
	put_section(out, config, "case", "Cases", how);
	put_section(out, config, "contact", "Contacts", how);
	put_section(out, mr_value_get(config, "archive"), "message_index", "Archived messages",
		how);
	put_section(out, config, "audit", "Audit log", how);
}

/* --- keys --- */

/* Keys are long: a line each, and no table. */
void mr_render_work_config_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");

	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const struct mr_value *is = mr_value_get(one, "value");
		const char *key = mr_part_line(arena, one, "key");
		bool is_default = mr_part_bool(one, "default");
		const char *line = mr_arena_printf(arena, "%s %s = %s", is_default ? " " : "*", key,
			mr_str_ends(key, ".steps") ? steps_words(arena, is)
						   : value_line(arena, is));

		mr_part_styled(out, how, is_default ? mr_style_dim : mr_style_bold, line);
		mr_buf_putc(out, '\n');
	}
	mr_buf_puts(out, "Those with a * differ from their defaults.\n");
}

/* A list one by line, what has members as any result. */
void mr_render_work_config_value(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *is = mr_value_get(value, "value");

	if (is && (is->kind == MR_MAP || (is->kind == MR_LIST && !is_texts(is)))) {
		mr_render_value(out, is, how);
		return;
	}
	if (is && is->kind == MR_LIST && is->list.len) {
		for (size_t i = 0; i < is->list.len; i++)
			mr_buf_printf(out, "%s\n", mr_render_line(arena, is->list.items[i].text));
		return;
	}
	mr_buf_printf(out, "%s\n", value_line(arena, is));
}

void mr_render_work_config_updated(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *key = mr_part_line(arena, value, "key");
	const struct mr_value *is = mr_value_get(value, "value");

	(void)how;
	if (!is || is->kind == MR_NULL)
		mr_buf_printf(out, "%s is not set any more.\n", key);
	else
		mr_buf_printf(out, "%s is now: %s\n", key,
			mr_str_ends(key, ".steps") ? steps_words(arena, is)
						   : value_line(arena, is));
}
