/* op/mailbox/render_mailbox_mail.c - messages of a mailbox on a terminal, and what a command
 * removed or exported. */
#include "base/utf8.h"
#include "op/mailbox/render_mailbox.h"
#include "op/render_part.h"

#include <string.h>

enum { WIDE = 140 }; /* columns from which on a message's id fits into its row */

static const char *state_of(struct mr_arena *arena, const struct mr_value *row)
{
	const char *words[4];
	struct mr_texts all = { words, 0 };

	if (!mr_part_bool(row, "read"))
		words[all.len++] = "new";
	if (mr_part_bool(row, "starred"))
		words[all.len++] = "starred";
	if (mr_part_bool(row, "answered"))
		words[all.len++] = "answered";
	if (mr_part_bool(row, "deleted"))
		words[all.len++] = "deleted";
	return mr_str_join(arena, &all, " ");
}

/* The parts of the grid that this list needs: a column that would be empty is left out. */
struct chosen {
	const struct mr_grid_column *columns;
	bool box, state, id;
	size_t count;
};

static struct chosen choose(struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how)
{
	static const struct mr_grid_column DATE = { .title = "date", .fixed = true },
					   FROM = { .title = "from" },
					   SUBJECT = { .title = "subject" },
					   STATE = { .title = "state", .fixed = true },
					   BOX = { .title = "box" },
					   ID = { .title = "id", .fixed = true };
	struct mr_grid_column *columns = mr_arena_array(arena, 6, sizeof(*columns));
	struct chosen chosen = { .columns = columns, .id = !how->width || how->width >= WIDE };

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *row = &list->list.items[i];

		chosen.state = chosen.state || *state_of(arena, row);
		chosen.box = chosen.box || !mr_str_eq(mr_part_line(arena, row, "folder"), "inbox");
	}
	columns[chosen.count++] = DATE;
	columns[chosen.count++] = FROM;
	columns[chosen.count++] = SUBJECT;
	if (chosen.state)
		columns[chosen.count++] = STATE;
	if (chosen.box)
		columns[chosen.count++] = BOX;
	if (chosen.id)
		columns[chosen.count++] = ID;
	return chosen;
}

void mr_render_mailbox_messages(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "messages");
	struct chosen chosen;
	const char **cells, **styles;

	if (!list) {
		mr_buf_printf(out, "%s has no messages.\n", mr_part_line(arena, value, "address"));
		return;
	}
	chosen = choose(arena, list, how);
	cells = mr_arena_array(arena, list->list.len * chosen.count, sizeof(*cells));
	styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *row = &list->list.items[i];
		const char **cell = cells + i * chosen.count;

		*cell++ = mr_render_when(arena, row, "created_at_utc", how);
		*cell++ = mr_part_line(arena, row, "sender_address");
		*cell++ = mr_part_line(arena, row, "subject");
		if (chosen.state)
			*cell++ = state_of(arena, row);
		if (chosen.box)
			*cell++ = mr_part_line(arena, row, "folder");
		if (chosen.id)
			*cell++ = mr_part_line(arena, row, "message_id");
		styles[i] = mr_part_bool(row, "read") ? NULL : mr_style_bold;
	}
	mr_part_grid(out,
		&(struct mr_grid){ chosen.columns, chosen.count, cells, styles, list->list.len },
		list, how, 0);
	if (!chosen.id)
		mr_part_styled(out, how, mr_style_dim,
			"--json has the ids, which mailroom mailbox messages get asks for.\n");
}

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	enum { NAME_WIDTH = 8 };

	if (!*text)
		return;
	mr_part_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', NAME_WIDTH - strlen(name));
	mr_buf_printf(out, "%s\n", text);
}

/* "a@b, c@d" of one kind. */
static const char *recipients_of(struct mr_arena *arena, const struct mr_value *message,
	const char *kind)
{
	const struct mr_value *list = mr_part_list(message, "recipients");
	const char *text = "";

	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		if (mr_str_eq(mr_part_line(arena, one, "kind"), kind))
			text = mr_arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
				mr_part_line(arena, one, "address"));
	}
	return text;
}

static const char *files_of(struct mr_arena *arena, const struct mr_value *message)
{
	const struct mr_value *list = mr_part_list(message, "attachments");
	const char *text = "";

	for (size_t i = 0; list && i < list->list.len; i++)
		text = mr_arena_printf(arena, "%s%s%s (%s)", text, *text ? ", " : "",
			mr_part_line(arena, &list->list.items[i], "locator"),
			mr_part_line(arena, &list->list.items[i], "media_type"));
	return text;
}

/* The document without its front matter. */
static const char *body_of(const char *document)
{
	const char *end = mr_str_starts(document, "---\n") ? strstr(document + 3, "\n---\n") : NULL;

	if (!end)
		return document;
	end += strlen("\n---\n");
	return *end == '\n' ? end + 1 : end;
}

void mr_render_mailbox_message(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *message = mr_value_get(value, "message");
	const struct mr_value *document = mr_value_get(message, "body_markdown");
	const struct mr_render written = { .colour = false };
	const char *body;

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, message, "subject"));
	mr_buf_putc(out, '\n');
	put_head(out, how, "from", mr_part_line(arena, mr_value_get(message, "sender"), "address"));
	put_head(out, how, "to", recipients_of(arena, message, "to"));
	put_head(out, how, "cc", recipients_of(arena, message, "cc"));
	put_head(out, how, "date", mr_render_when(arena, message, "created_at_utc", &written));
	put_head(out, how, "box", mr_part_line(arena, message, "folder"));
	put_head(out, how, "files", files_of(arena, message));
	put_head(out, how, "answers", mr_part_line(arena, message, "in_reply_to"));
	put_head(out, how, "id", mr_part_line(arena, message, "message_id"));
	body = document && document->kind == MR_TEXT ? body_of(document->text) : "";
	if (!*body)
		return;
	mr_buf_putc(out, '\n');
	mr_render_text(out, body);
	if (body[strlen(body) - 1] != '\n')
		mr_buf_putc(out, '\n');
}

/* What the contract calls an artifact, in a word for people. */
static const struct {
	const char *kind, *one, *many;
} nouns[] = {
	{ "mailbox_registration", "registration", "registrations" },
	{ "active_registration", "active registration", "active registrations" },
	{ "canonical_messages", "directory of messages", "directories of messages" },
	{ "canonical_message", "message", "messages" },
	{ "mailbox_projection", "link", "links" },
	{ "mailbox_local_state", "mailbox's state", "mailboxes' state" },
	{ "managed_attachment", "attached file", "attached files" },
	{ "path_ref_attachment", "file elsewhere", "files elsewhere" },
	{ "attachment", "attachment", "attachments" },
};

/* "3 messages, 5 links"; "nothing" when there are none. */
static const char *sum_of(struct mr_arena *arena, const struct mr_value *value, const char *key)
{
	const struct mr_value *list = mr_part_list(value, key);
	const char *text = "";

	for (size_t n = 0; list && n < MR_LEN(nouns); n++) {
		size_t count = 0;

		for (size_t i = 0; i < list->list.len; i++)
			count += mr_str_eq(mr_part_line(arena, &list->list.items[i],
						   "artifact_kind"),
				nouns[n].kind);
		if (count)
			text = mr_arena_printf(arena, "%s%s%zu %s", text, *text ? ", " : "", count,
				count == 1 ? nouns[n].one : nouns[n].many);
	}
	return *text ? text : "nothing";
}

/* The addresses whose registrations go, and what could not be removed, with the reason. */
static void put_details(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	const char *key, const char *kind)
{
	const struct mr_value *list = mr_part_list(value, key);

	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		if (!kind)
			mr_buf_printf(out, "  %s\n      %s\n", mr_part_line(arena, one, "path"),
				mr_part_line(arena, one, "reason"));
		else if (mr_str_eq(mr_part_line(arena, one, "artifact_kind"), kind))
			mr_buf_printf(out, "  %s, %s\n",
				mr_part_line(arena, mr_value_get(one, "details"), "address"),
				mr_part_line(arena, one, "reason"));
	}
}

void mr_render_mailbox_removed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool dry_run = mr_part_bool(value, "dry_run");
	const char *key = dry_run ? "planned_actions" : "applied_actions";

	(void)how;
	mr_buf_printf(out, "%s: %s.\n", dry_run ? "Would be removed" : "Removed",
		sum_of(arena, value, key));
	put_details(out, arena, value, key, "mailbox_registration");
	if (!mr_part_list(value, "blocked_actions"))
		return;
	mr_buf_puts(out, dry_run ? "Would not be removed:\n" : "Not removed:\n");
	put_details(out, arena, value, "blocked_actions", NULL);
}

static void put_carried(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	const char *from_jmap)
{
	const struct mr_value *accounts = mr_value_get(value, "accounts");
	const struct mr_value *left = mr_value_get(value, "left");

	for (size_t i = 0; accounts && i < accounts->list.len; i++) {
		const struct mr_value *one = &accounts->list.items[i];

		mr_buf_printf(out, "%s: %lld carried %s the server, %lld were there already\n",
			mr_part_line(arena, one, "address"),
			(long long)mr_part_int(one, "carried_count"), from_jmap ? "from" : "to",
			(long long)mr_part_int(one, "present_count"));
	}
	for (size_t i = 0; left && i < left->list.len; i++) {
		const struct mr_value *one = &left->list.items[i];

		mr_buf_printf(out, "Left: %s of %s: %s\n", mr_part_line(arena, one, "message_id"),
			mr_part_line(arena, one, "address"), mr_part_line(arena, one, "reason"));
	}
}

void mr_render_mailbox_exported(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *from_jmap = mr_part_line(arena, value, "from_jmap");
	int64_t accounts = mr_part_int(value, "account_count");
	int64_t messages = mr_part_int(value, "message_count");
	int64_t skipped = mr_part_int(value, "skipped_count");
	int64_t blocked = mr_part_int(value, "blocked_count");

	(void)how;
	if (!mr_value_get(value, "output_dir")) {
		put_carried(out, arena, value, mr_value_get(value, "from_jmap") ? from_jmap : NULL);
		return;
	}
	mr_buf_printf(out, "Exported %lld account%s with %lld message%s to %s.\n",
		(long long)accounts, accounts == 1 ? "" : "s", (long long)messages,
		messages == 1 ? "" : "s", mr_part_line(arena, value, "output_dir"));
	if (skipped || blocked)
		mr_buf_printf(out,
			"Left out: %lld file%s that only have a name in the mail, %lld that could "
			"not be copied; manifest.json says which.\n",
			(long long)skipped, skipped == 1 ? "" : "s", (long long)blocked);
}
