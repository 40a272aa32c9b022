/* op/mailbox/render_agent_mail.c - agents and their mail on a terminal. */
#include "op/mailbox/render_agent_mail.h"

#include "op/render_part.h"

#include <string.h>

enum { NAME_WIDTH = 9 };

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	if (!*text)
		return;
	mr_part_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', strlen(name) < NAME_WIDTH ? NAME_WIDTH - strlen(name) : 1);
	mr_buf_puts(out, text);
	mr_buf_putc(out, '\n');
}

/* "alice@houmao.localhost", with the name where there is one. */
static const char *person(struct mr_arena *arena, const struct mr_value *who)
{
	const char *name = mr_part_line(arena, who, "display_name");
	const char *address = mr_part_line(arena, who, "address");

	return *name ? mr_arena_printf(arena, "%s <%s>", name, address) : address;
}

static const char *people(struct mr_arena *arena, const struct mr_value *message, const char *key)
{
	const struct mr_value *list = mr_part_list(message, key);
	const char *text = "";

	for (size_t i = 0; list && i < list->list.len; i++)
		text = mr_arena_printf(arena, "%s%s%s", text, i ? ", " : "",
			person(arena, &list->list.items[i]));
	return text;
}

static const char *files(struct mr_arena *arena, const struct mr_value *message)
{
	const struct mr_value *list = mr_part_list(message, "attachments");
	const char *text = "";

	for (size_t i = 0; list && i < list->list.len; i++)
		text = mr_arena_printf(arena, "%s%s%s (%s bytes)", text, i ? ", " : "",
			mr_part_line(arena, &list->list.items[i], "locator"),
			mr_part_number(arena, &list->list.items[i], "size_bytes"));
	return text;
}

/* "new, answered": what there is to know of it. */
static const char *state(struct mr_arena *arena, const struct mr_value *message)
{
	const char *words[4];
	struct mr_texts all = { words, 0 };

	if (mr_part_bool(message, "unread"))
		words[all.len++] = "new";
	if (mr_part_bool(message, "answered"))
		words[all.len++] = "answered";
	if (mr_part_bool(message, "archived"))
		words[all.len++] = "archived";
	if (*mr_part_line(arena, message, "problem"))
		words[all.len++] = "damaged";
	return mr_str_join(arena, &all, ", ");
}

static const char *style(const struct mr_value *message)
{
	return mr_part_bool(message, "unread") ? mr_style_bold : NULL;
}

/* --- one message --- */

static void put_message(struct mr_buf *out, const struct mr_value *message,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *body = mr_value_get(message, "body_text");

	mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, message, "subject"));
	mr_buf_putc(out, '\n');
	put_head(out, how, "from", person(arena, mr_value_get(message, "sender")));
	put_head(out, how, "to", people(arena, message, "to"));
	put_head(out, how, "cc", people(arena, message, "cc"));
	put_head(out, how, "date", mr_render_when(arena, message, "created_at_utc", how));
	put_head(out, how, "ref", mr_part_line(arena, message, "message_ref"));
	put_head(out, how, "box", mr_part_line(arena, message, "box"));
	put_head(out, how, "state", state(arena, message));
	put_head(out, how, "files", files(arena, message));
	put_head(out, how, "problem", mr_part_line(arena, message, "problem"));
	if (!body || body->kind != MR_TEXT)
		return;
	mr_buf_putc(out, '\n');
	mr_render_text(out, body->text);
	if (!*body->text || body->text[strlen(body->text) - 1] != '\n')
		mr_buf_putc(out, '\n');
}

void mr_render_mail_one(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	put_message(out, mr_value_get(value, "message"), how);
}

/* --- lists --- */

static void put_table(struct mr_buf *out, const struct mr_value *list, const struct mr_render *how,
	bool is_sent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_grid_column columns[] = {
		{ .title = "no", .right = true, .fixed = true },
		{ .title = "when", .fixed = true },
		{ .title = is_sent ? "to" : "from" },
		{ .title = "subject" },
		{ .title = "state", .fixed = true },
	};
	size_t width = MR_LEN(columns), rows = list->list.len;
	const char **cells = mr_arena_array(arena, rows * width, sizeof(*cells));
	const char **styles = mr_arena_array(arena, rows, sizeof(*styles));
	struct mr_grid grid = { columns, width, cells, styles, rows };

	for (size_t i = 0; i < rows; i++) {
		const struct mr_value *one = &list->list.items[i];

		cells[i * width] = mr_arena_printf(arena, "%zu", i + 1);
		cells[i * width + 1] = mr_render_when(arena, one, "created_at_utc", how);
		cells[i * width + 2] = is_sent ? people(arena, one, "to")
					       : person(arena, mr_value_get(one, "sender"));
		cells[i * width + 3] = mr_part_line(arena, one, "subject");
		cells[i * width + 4] = state(arena, one);
		styles[i] = style(one);
	}
	mr_part_grid(out, &grid, list, how, 0);
	mr_buf_putc(out, '\n');
	for (size_t i = 0; i < rows; i++)
		mr_buf_printf(out, "%2zu  %s\n", i + 1,
			mr_part_line(arena, &list->list.items[i], "message_ref"));
}

static void put_letters(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how)
{
	for (size_t i = 0; i < list->list.len; i++) {
		if (i) {
			mr_buf_putc(out, '\n');
			mr_part_styled(out, how, mr_style_dim,
				"----------------------------------------");
			mr_buf_puts(out, "\n\n");
		}
		put_message(out, &list->list.items[i], how);
	}
}

void mr_render_mail_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "messages"), *body;
	const char *box = mr_part_line(arena, value, "box");
	int64_t unread = mr_part_int(value, "unread_count");

	if (!list) {
		mr_buf_printf(out, "No messages for %s%s%s.\n",
			mr_part_line(arena, value, "address"), *box ? " in " : "", box);
		return;
	}
	body = mr_value_get(&list->list.items[0], "body_text");
	if (body && body->kind == MR_TEXT)
		put_letters(out, list, how);
	else
		put_table(out, list, how, mr_str_eq(box, "sent"));
	mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_dim,
		mr_arena_printf(arena, "%zu message%s, %lld new", list->list.len,
			list->list.len == 1 ? "" : "s", (long long)unread));
	mr_buf_putc(out, '\n');
}

/* --- what was done --- */

/* What was submitted to the agent's terminal, with what else there is to say. */
static void put_submission(struct mr_buf *out, const struct mr_value *value)
{
	static const struct {
		const char *status, *sentence;
	} sentences[] = {
		{ "submitted", "Typed into the agent's terminal; what comes of it is not known" },
		{ "rejected", "Not typed into the agent's terminal" },
		{ "busy", "Not typed into the agent's terminal: try again later" },
		{ "interrupted", "Typed into the agent's terminal, and then it was interrupted" },
		{ "tui_error", "The agent's terminal failed" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *more = mr_value_get(value, "tui_diagnostics");
	const struct mr_value *paths = mr_part_list(value, "verification_paths");
	const char *status = mr_part_line(arena, value, "status");
	const char *detail = mr_part_line(arena, value, "detail");

	for (size_t i = 0; i < MR_LEN(sentences); i++) {
		if (mr_str_eq(status, sentences[i].status))
			mr_buf_puts(out, sentences[i].sentence);
	}
	mr_buf_printf(out, "%s%s.\n", *detail ? ": " : "", detail);
	mr_buf_printf(out, "The mailbox cannot be used: %s\n",
		mr_part_line(arena, more, "mailbox_problem"));
	if (mr_value_get(value, "preview_result"))
		mr_buf_puts(out, "The agent printed an answer, which --json shows.\n");
	if (paths)
		mr_buf_printf(out, "To verify: %s\n", paths->list.items[paths->list.len > 1].text);
}

static bool is_submission(const struct mr_value *value)
{
	return mr_value_get(value, "verification_required") != NULL;
}

void mr_render_mail_sent(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *message = mr_value_get(value, "message");
	const char *problem = mr_part_line(arena, message, "problem");

	(void)how;
	if (is_submission(value)) {
		put_submission(out, value);
		return;
	}
	mr_buf_printf(out, "Sent to %s: %s\n%s\n", people(arena, message, "to"),
		mr_part_line(arena, message, "subject"),
		mr_part_line(arena, message, "message_ref"));
	if (*problem)
		mr_buf_printf(out, "But: %s\n", problem);
}

void mr_render_mail_marked(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "messages");

	(void)how;
	if (is_submission(value)) {
		put_submission(out, value);
		return;
	}
	if (!list)
		mr_buf_printf(out, "%s is read.\n", mr_part_line(arena, value, "message_ref"));
	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *more = state(arena, one);

		mr_buf_printf(out, "%s is in %s: %s%s%s.\n",
			mr_part_line(arena, one, "message_ref"), mr_part_line(arena, one, "box"),
			mr_part_bool(one, "unread") ? "" : "read",
			*more && !mr_part_bool(one, "unread") ? ", " : "", more);
	}
}

void mr_render_mail_status(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "The mailbox %s of %s can be used (%s).\n",
		mr_part_line(arena, value, "address"), mr_part_line(arena, value, "principal_id"),
		mr_part_line(arena, value, "execution_path"));
}

void mr_render_mail_resolved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *agent = mr_value_get(value, "managed_agent");
	const struct mr_value *place = mr_value_get(mr_value_get(value, "mailbox"), "filesystem");
	const char *url = mr_part_line(arena, mr_value_get(value, "gateway"), "base_url");

	put_head(out, how, "agent", mr_part_line(arena, agent, "agent_name"));
	put_head(out, how, "address", mr_part_line(arena, value, "address"));
	put_head(out, how, "owner", mr_part_line(arena, value, "principal_id"));
	put_head(out, how, "root", mr_part_line(arena, place, "root"));
	put_head(out, how, "mailbox", mr_part_line(arena, place, "mailbox_path"));
	put_head(out, how, "gateway", *url ? url : "none is running");
	put_head(out, how, "version", mr_part_line(arena, value, "bindings_version"));
}

/* --- agents --- */

void mr_render_mail_agents(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "agent" },
		{ .title = "id", .fixed = true },
		{ .title = "address" },
		{ .title = "state" },
	};
	const struct mr_value *list = mr_part_list(value, "agents");
	size_t width = MR_LEN(columns), rows = list ? list->list.len : 0;
	const char **cells = mr_arena_array(arena, rows * width + 1, sizeof(*cells));
	struct mr_grid grid = { columns, width, cells, NULL, rows };

	if (!rows) {
		mr_buf_puts(out, "No agents; make one with mailroom agents create NAME.\n");
		return;
	}
	for (size_t i = 0; i < rows; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *problem = mr_part_line(arena, one, "problem");
		const char *address = mr_part_line(arena, one, "address");

		cells[i * width] = mr_part_line(arena, one, "agent_name");
		cells[i * width + 1] = mr_part_line(arena, one, "agent_id");
		cells[i * width + 2] = *address ? address : "(no mailbox)";
		cells[i * width + 3] = *problem ? problem : mr_part_line(arena, one, "state");
	}
	mr_part_grid(out, &grid, list, how, 0);
}

void mr_render_mail_agent(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *address = mr_part_line(arena, value, "address");

	put_head(out, how, "agent", mr_part_line(arena, value, "agent_name"));
	put_head(out, how, "id", mr_part_line(arena, value, "agent_id"));
	put_head(out, how, "address", *address ? address : "(no mailbox)");
	put_head(out, how, "owner", mr_part_line(arena, value, "principal_id"));
	if (mr_value_get(value, "jmap_url"))
		put_head(out, how, "server", mr_part_line(arena, value, "jmap_url"));
	else
		put_head(out, how, "root", mr_part_line(arena, value, "mailbox_root"));
	put_head(out, how, "session", mr_part_line(arena, value, "tmux_session_name"));
	put_head(out, how, "manifest", mr_part_line(arena, value, "manifest_path"));
}

void mr_render_mail_bound(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Agent %s has the mailbox %s %s %s.\n",
		mr_part_line(arena, value, "agent_name"), mr_part_line(arena, value, "address"),
		mr_value_get(value, "jmap_url") ? "at" : "in",
		mr_part_line(arena, value,
			mr_value_get(value, "jmap_url") ? "jmap_url" : "mailbox_root"));
}

void mr_render_mail_unbound(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *address = mr_part_line(arena, value, "address");

	(void)how;
	mr_buf_printf(out, "Agent %s %s.\n", mr_part_line(arena, value, "agent_name"),
		mr_part_bool(value, "removed") ? "is removed" : "has no mailbox any more");
	if (*address)
		mr_buf_printf(out, "The mail of %s stays %s %s.\n", address,
			mr_value_get(value, "jmap_url") ? "at" : "in",
			mr_part_line(arena, value,
				mr_value_get(value, "jmap_url") ? "jmap_url" : "mailbox_root"));
}

/* --- skills --- */

/* The directory that has a tool's skills: two levels above the file. */
static const char *skills_directory(struct mr_arena *arena, const struct mr_value *one)
{
	char *path = mr_arena_strdup(arena, mr_part_line(arena, one, "path"));

	for (int level = 0; level < 2; level++) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = '\0';
	}
	return path;
}

void mr_render_mail_skills(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "skills");
	const char *tool = "", *hint = mr_part_line(arena, value, "hint");

	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *name = mr_part_line(arena, one, "tool");
		const char *state = mr_part_line(arena, one, "state");
		const char *action = mr_part_line(arena, one, "action");
		const char *problem = mr_part_line(arena, one, "problem");

		if (!mr_str_eq(name, tool))
			put_head(out, how, name, skills_directory(arena, one));
		tool = name;
		mr_buf_printf(out, "  %-34s %s%s", mr_part_line(arena, one, "skill"),
			*action ? action : state,
			mr_str_eq(action, "kept") ? mr_arena_printf(arena, " (%s)", state) : "");
		mr_buf_printf(out, "%s%s\n", *problem ? ": " : "", problem);
	}
	if (*hint)
		mr_buf_printf(out, "%s\n", hint);
}
