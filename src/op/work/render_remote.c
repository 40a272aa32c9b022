/* op/work/render_remote.c - mail servers on a terminal: set up, looked at, pulled from. */
#include "op/work/render_page.h"
#include "op/work/render_work.h"
#include "op/work/work_ops.h"

enum { FAILURES_SHOWN = 20 };

/* --- setup, remote test --- */

static const char *server_of(struct mr_arena *arena, const struct mr_value *server)
{
	const char *security = mr_part_line(arena, server, "security");

	return mr_arena_printf(arena, "%s:%lld, %s, as %s", mr_part_line(arena, server, "host"),
		(long long)mr_part_int(server, "port"),
		mr_str_eq(security, "tls")            ? "TLS"
			: mr_str_eq(security, "none") ? "NOT ENCRYPTED"
						      : "STARTTLS",
		mr_part_line(arena, server, "username"));
}

static const char *secret_of(struct mr_arena *arena, const struct mr_value *value)
{
	const char *place = mr_part_line(arena, value, "password_place");
	const char *where = mr_part_line(arena, value, "password_where");

	if (mr_str_eq(place, "environment"))
		return mr_arena_printf(arena, "from the environment variable %s", where);
	if (mr_str_eq(place, "command"))
		return mr_arena_printf(arena, "printed by %s", where);
	if (mr_str_eq(place, "keyring"))
		return mr_arena_printf(arena, "in the keyring, account %s", where);
	if (mr_str_eq(place, "file"))
		return mr_arena_printf(arena, "in %s", where);
	return "in the configuration itself";
}

void mr_render_work_set_up(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *smtp = mr_value_get(value, "smtp");
	const char *provider = mr_part_line(arena, value, "provider");
	const char *address = mr_part_line(arena, value, "address");

	mr_buf_printf(out, "%s%s%s%s is connected: the login works.\n", address,
		*provider ? " (" : "", provider, *provider ? ")" : "");
	mr_page_head(out, how, "IMAP", server_of(arena, mr_value_get(value, "imap")));
	mr_page_head(out, how, "SMTP",
		smtp && smtp->kind == MR_MAP ? server_of(arena, smtp) : "not set up");
	mr_page_head(out, how, "Secret", secret_of(arena, value));
	mr_page_head(out, how, "Sender",
		mr_arena_printf(arena, "%s <%s>", mr_part_line(arena, value, "name"), address));
	if (mr_part_bool(value, "keeps_sent"))
		mr_page_head(out, how, "Sent mail", "is filed by the provider, not by a push");
	mr_buf_printf(out, "%s\n", mr_around_spell(arena, mr_part_line(arena, value, "hint")));
}

static const char *tested(struct mr_arena *arena, const struct mr_value *server, bool has_login)
{
	return mr_arena_printf(arena, "%s:%lld %s%s", mr_part_line(arena, server, "host"),
		(long long)mr_part_int(server, "port"),
		has_login ? "accepts the login" : "answers, without a login",
		mr_part_bool(server, "tls") ? ", encrypted" : ", NOT ENCRYPTED");
}

void mr_render_work_remote_tested(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *smtp = mr_value_get(value, "smtp");

	mr_page_head(out, how, "IMAP", tested(arena, value, true));
	mr_page_head(out, how, "SMTP",
		smtp ? tested(arena, smtp, mr_part_bool(smtp, "login"))
		     : "smtp.host is not set: mail cannot be sent");
	if (!mr_part_bool(mr_value_get(value, "capabilities"), "move"))
		mr_buf_puts(out,
			"The IMAP server cannot move mails (MOVE): a push copies and deletes them.\n");
}

/* --- remote folders --- */

static const char *kinds_of(struct mr_arena *arena, const struct mr_value *mailbox)
{
	const struct mr_value *list = mr_part_list(mailbox, "selected_for");
	struct mr_texts kinds = { NULL, 0 };

	if (!list)
		return "";
	kinds.items = mr_arena_array(arena, list->list.len, sizeof(*kinds.items));
	for (size_t i = 0; i < list->list.len; i++)
		kinds.items[kinds.len++] = mr_part_line(arena, &list->list.items[i], "kind");
	return mr_str_join(arena, &kinds, ", ");
}

/* Uses that no mailbox has, with the name that a push would take. */
static void put_missing(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *targets)
{
	for (size_t i = 0; targets && i < targets->list.len; i++) {
		const struct mr_value *one = &targets->list.items[i];

		if (mr_part_bool(one, "exists") || !mr_part_bool(one, "can_move_to"))
			continue;
		mr_buf_printf(out,
			"There is no mailbox for %s: a push would look for \"%s\". Name another one with "
			"`mailroom work config set mailboxes.%s.mailbox_name NAME`.\n",
			mr_part_line(arena, one, "kind"), mr_part_line(arena, one, "mailbox_name"),
			mr_part_line(arena, one, "kind"));
	}
}

void mr_render_work_folders(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "mailbox" },
		{ .title = "used for", .fixed = true },
		{ .title = "attributes" },
	};
	const struct mr_value *list = mr_part_list(value, "mailboxes");
	struct mr_grid grid = { columns, MR_LEN(columns), NULL, NULL, 0 };
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "The account has no mailboxes.\n");
		return;
	}
	grid.rows = list->list.len;
	cells = mr_arena_array(arena, grid.rows * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < grid.rows; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "mailbox_name");
		row[1] = kinds_of(arena, one);
		row[2] = mr_part_names(arena, one, "attributes");
	}
	grid.cells = cells;
	mr_part_grid(out, &grid, list, how, 0);
	put_missing(out, arena, mr_part_list(value, "special_use_targets"));
}

/* --- pull --- */

/* "2 in triage, 1 spam": counts that are not 0. */
struct part {
	const char *key, *words;
};

static const char *parts_of(struct mr_arena *arena, const struct mr_value *value,
	const struct part *parts, size_t len)
{
	const char *text = "";

	for (size_t i = 0; i < len; i++) {
		int64_t count = mr_part_int(value, parts[i].key);

		if (count)
			text = mr_arena_printf(arena, "%s%s%lld %s", text, *text ? ", " : "",
				(long long)count, parts[i].words);
	}
	return text;
}

static void put_new(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value)
{
	static const struct part parts[] = { { "triage_created_count", "in triage" },
		{ "spam_message_count", "spam" }, { "trashed_message_count", "in the trash" } };
	const char *of = parts_of(arena, value, parts, MR_LEN(parts));
	const char *from = mr_page_count(arena, value, "mailbox_count", "mailbox", "mailboxes");

	if (mr_part_bool(value, "dry_run") && mr_part_int(value, "new_message_count"))
		mr_buf_printf(out, "A pull would take in %s from %s. Nothing was taken in.\n",
			mr_page_count(arena, value, "new_message_count", "mail", "mails"), from);
	else if (!mr_part_int(value, "new_message_count"))
		mr_buf_printf(out, "No new mail in %s.\n", from);
	else
		mr_buf_printf(out, "Took in %s from %s%s%s.\n",
			mr_page_count(arena, value, "new_message_count", "mail", "mails"), from,
			*of ? ": " : "", of);
}

static void put_changes(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value)
{
	static const struct part parts[] = { { "flags_updated_count", "with other flags" },
		{ "updated_location_count", "at another place" },
		{ "deleted_remote_message_count", "gone from the server" },
		{ "tombstoned_message_count", "gone from the server, needed here and kept" },
		{ "kept_message_count", "gone from one place, still at another" } };
	const char *text = parts_of(arena, value, parts, MR_LEN(parts));

	if (*text)
		mr_buf_printf(out, "Known mail: %s.\n", text);
}

static void put_failures(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *failures = mr_part_list(value, "failed_messages");

	if (!failures)
		return;
	mr_part_styled(out, how, mr_style_red,
		mr_arena_printf(arena, "%s could not be taken in or brought up to date:",
			mr_page_count(arena, value, "failed_message_count", "mail", "mails")));
	mr_buf_putc(out, '\n');
	for (size_t i = 0; i < failures->list.len && i < FAILURES_SHOWN; i++)
		mr_buf_printf(out, "  %s\n", mr_render_line(arena, failures->list.items[i].text));
	if (failures->list.len > FAILURES_SHOWN)
		mr_buf_printf(out, "  and %zu more\n", failures->list.len - FAILURES_SHOWN);
}

void mr_render_work_pulled(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *unresolved = mr_part_list(value, "unresolved_mailbox_ids");
	int64_t left = mr_part_int(value, "remaining_message_count");

	put_new(out, arena, value);
	put_changes(out, arena, value);
	if (left)
		mr_buf_printf(out, "%lld more %s on the server; the next pull goes on.\n",
			(long long)left, left == 1 ? "is" : "are");
	if (unresolved)
		mr_buf_printf(out,
			"The server has no mailbox for %s: see `mailroom work remote folders`.\n",
			mr_part_names(arena, value, "unresolved_mailbox_ids"));
	put_failures(out, arena, value, how);
	if (mr_part_int(value, "triage_count") && !mr_part_bool(value, "dry_run"))
		mr_buf_printf(out, "%s: `mailroom work triage`.\n",
			mr_page_count(arena, value, "triage_count", "mail waits for a decision",
				"mails wait for a decision"));
}
