/* op/self/connect.c - operation: enter Mailroom into a coding agent's program, or take it out
 * again. */
#include "app/client_change.h"
#include "app/client_file.h"
#include "app/client_trust.h"
#include "app/locations.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/proc.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"
#include "op/render.h"
#include "text/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Notes that a file may cause, and those that are told at the end. */
enum {
	NOTES_MAX = 2 * MR_CLIENT_FILES + 10,
	CLIENTS_MAX = 8,
	LIST_MS = 20000,
	LIST_BYTES = 1 << 16
};

struct asked {
	const char *client, *project, *url;
	bool stdio, print, undo, force, skip_check;
	int with_token; /* -1: as the server is configured */
};

static const struct mr_param params[] = {
	MR_PARAM(struct asked, client, "client", .flags = MR_POSITIONAL,
		.summary = "the program to enter Mailroom into", .choices = mr_client_names,
		.fallback = "those that are installed are offered"),
	MR_PARAM(struct asked, project, "project", .summary = "the repository",
		.fallback = "the one around the working directory"),
	MR_PARAM(struct asked, stdio, "stdio",
		.summary =
			"the client starts `mailroom mcp` by itself, in place of using the server",
		.fallback = "false"),
	MR_PARAM(struct asked, url, "url",
		.summary =
			"the server's MCP address, in place of what http.host and http.port say"),
	MR_PARAM(struct asked, with_token, "with_token",
		.summary = "the client sends the token in MAILROOM_TOKEN",
		.fallback = "whether the server is configured to ask for one"),
	MR_PARAM(struct asked, print, "print", .summary = "write nothing, show what would be added",
		.fallback = "false"),
	MR_PARAM(struct asked, undo, "undo",
		.summary = "take out what was entered, and put back what was there before",
		.fallback = "false"),
	MR_PARAM(struct asked, force, "force",
		.summary = "replace an entry that mailroom connect did not write; with --undo, "
			   "take out one that was changed since",
		.fallback = "false"),
	MR_PARAM(struct asked, skip_check, "skip_check",
		.summary = "do not ask the client whether it reaches Mailroom now",
		.fallback = "false"),
	{ 0 },
};

/* A client that is installed here. */
struct installed {
	const char *client, *title, *program;
	bool is_connected; /* its entry is there */
};

static const struct mr_field installed_fields[] = {
	MR_FIELD(struct installed, client, "client"),
	MR_FIELD(struct installed, title, "title"),
	MR_FIELD(struct installed, program, "program", .summary = "where PATH finds it"),
	MR_FIELD(struct installed, is_connected, "connected",
		.summary = "its configuration has an entry of Mailroom"),
	{ 0 },
};

struct told_file {
	const char *path, *what, *action, *backup, *content;
};

static const struct mr_field file_fields[] = {
	MR_FIELD(struct told_file, path, "path"),
	MR_FIELD(struct told_file, what, "what"),
	MR_FIELD(struct told_file, action, "action",
		.summary = "created, updated, unchanged, restored, removed, or print"),
	MR_FIELD(struct told_file, backup, "backup", .flags = MR_NULLABLE,
		.summary = "where the former content of the file is kept, until --undo"),
	MR_FIELD(struct told_file, content, "content", .flags = MR_OPTIONAL,
		.summary = "with print: what would be added"),
	{ 0 },
};

struct told {
	const char *client, *project, *transport, *url, *command;
	const char *verdict, *says; /* of the client itself; or NULL */
	struct told_file *files;    /* with room for CLIENTS_MAX * MR_CLIENT_FILES */
	size_t len;
	struct installed *found; /* when no client was named */
	size_t found_len;
	struct mr_texts notes; /* with room for NOTES_MAX */
};

static const struct mr_field result_fields[] = {
	MR_FIELD(struct told, client, "client", .flags = MR_NULLABLE,
		.summary = "of several that were chosen the last; null: none was"),
	MR_FIELD(struct told, project, "project"),
	MR_FIELD(struct told, transport, "transport", .flags = MR_NULLABLE,
		.summary = "http or stdio"),
	MR_FIELD(struct told, url, "url", .flags = MR_NULLABLE),
	MR_FIELD(struct told, command, "command", .flags = MR_NULLABLE),
	MR_FIELD_ROWS(struct told, files, len, struct told_file, file_fields, "files"),
	MR_FIELD_ROWS(struct told, found, found_len, struct installed, installed_fields, "found",
		.flags = MR_OPTIONAL, .summary = "without a client: those that are installed here"),
	MR_FIELD(struct told, verdict, "verdict", .flags = MR_NULLABLE,
		.summary =
			"what the client's own list of servers says: connected, listed, pending, "
			"disabled, failed or silent; null: it was not asked"),
	MR_FIELD(struct told, says, "says", .flags = MR_NULLABLE, .summary = "its very words"),
	MR_FIELD(struct told, notes, "notes", .summary = "what is left to do"),
	{ 0 },
};

struct connecting {
	struct mr_call *call;
	struct mr_client_wish wish;
	struct mr_client_set set;
	bool skip_check;
	bool is_closed; /* the server accepts no TCP client, so an entry for stdio is written */
	struct told *out;
};

static void note(struct connecting *c, const char *text)
{
	if (c->out->notes.len < NOTES_MAX * CLIENTS_MAX)
		c->out->notes.items[c->out->notes.len++] = text;
}

/* ---- what is to be entered ---- */

/* Write storage.root into the entry when the client would not find it by itself: a value from
 * this command line or environment does not apply where the client starts its program. */
static enum mr_code wish_storage(struct connecting *c)
{
	const struct mr_settings *s = c->call->app->settings;
	const char *root;

	if (mr_settings_is_lasting(s, "storage.root"))
		return MR_OK;
	if (mr_settings_path(s, "storage.root", &root, &c->call->cx.err))
		return c->call->cx.err.code;
	c->wish.storage_root = mr_locations_absolute(c->call->cx.arena, root);
	return MR_OK;
}

static enum mr_code decide(struct connecting *c, const struct asked *asked)
{
	const struct mr_settings *s = c->call->app->settings;
	struct mr_arena *arena = c->call->cx.arena;

	c->wish.command = mr_locations_program(arena);
	c->wish.with_token = asked->with_token < 0 ? mr_locations_needs_token(s, !asked->url)
						   : asked->with_token;
	c->is_closed = !c->set.undo && !asked->url && !asked->stdio && mr_locations_is_closed(s);
	if (c->is_closed || asked->stdio) {
		if (asked->url)
			return mr_err_set(&c->call->cx.err, MR_EINVAL,
				"--stdio and --url exclude each other");
		return wish_storage(c);
	}
	c->wish.url = asked->url;
	if (c->wish.url && !mr_str_starts(c->wish.url, "http://") &&
		!mr_str_starts(c->wish.url, "https://"))
		return mr_err_set(&c->call->cx.err, MR_EINVAL,
			"--url must begin with http:// or https://");
	if (!c->wish.url && mr_settings_int(s, "http.port") == 0 && !c->set.undo)
		return mr_err_set(&c->call->cx.err, MR_EINVAL,
			"http.port is 0, any free one: a client needs to know which");
	if (!c->wish.url)
		c->wish.url = mr_locations_url(arena, s);
	return MR_OK;
}

/* ---- what is told ---- */

static struct told_file tell_file(struct connecting *c, const struct mr_client_change *change)
{
	struct mr_arena *arena = c->call->cx.arena;

	return (struct told_file){
		.path = change->path,
		.what = change->file->what,
		.action = change->action,
		.backup = change->record.is_there ? mr_client_record_backup(arena, &change->record)
						  : NULL,
		.content = c->set.print ? mr_arena_strndup(arena, (const char *)change->after.data,
						  change->after.len)
					: NULL,
	};
}

/* What is left to do after Mailroom was entered. */
static void note_next(struct connecting *c)
{
	struct mr_arena *arena = c->call->cx.arena;

	if (c->wish.url)
		note(c,
			"The server must run: mailroom serve (or connect with --stdio, which needs "
			"none)");
	if (c->wish.url && c->wish.with_token)
		note(c,
			mr_str_eq(c->set.client->name, "vscode")
				? "VS Code asks for the server's token when it first connects."
				: mr_arena_printf(arena,
					  "Put the server's token into the "
					  "variable " MR_CLIENT_TOKEN_ENV
					  " where %s is started: it is in no file.",
					  c->set.client->title));
	if (*c->wish.command == '/')
		note(c,
			mr_arena_printf(arena,
				"mailroom is not in your PATH, so files name %s: others who use "
				"this repository have it elsewhere.",
				c->wish.command));
	if (c->set.client->hint &&
		!mr_str_eq(c->out->verdict, mr_client_verdicts[MR_CLIENT_CONNECTED]))
		note(c, c->set.client->hint);
	if (!c->set.print)
		note(c,
			mr_arena_printf(arena,
				"Next: start %s in %s. mailroom doctor says whether all is in "
				"order.",
				c->set.client->title, c->set.project));
}

/*
 * Ask the client, where it can be asked, whether it reaches Mailroom now. Whatever it answers,
 * what was written stays.
 */
static void ask_client(struct connecting *c)
{
	struct mr_arena *arena = c->call->cx.arena;
	const struct mr_client *client = c->set.client;
	const char *argv[4] = { client->program };
	const struct mr_proc proc = { .argv = argv,
		.cwd = c->set.project,
		.timeout_ms = LIST_MS,
		.max_output = LIST_BYTES };
	struct mr_proc_result result;
	enum mr_client_verdict verdict;
	struct mr_err ignored = { 0 };

	if (!client->list || !mr_locations_in_path(arena, client->program))
		return;
	for (size_t i = 0; client->list[i]; i++)
		argv[i + 1] = client->list[i];
	if (mr_proc_run(arena, &proc, &result, &ignored))
		return;
	verdict = mr_client_verdict(arena,
		mr_arena_printf(arena, "%s\n%s", (const char *)result.out.data,
			(const char *)result.err.data),
		&c->out->says);
	c->out->verdict = mr_client_verdicts[verdict];
	note(c,
		verdict == MR_CLIENT_CONNECTED
			? mr_arena_printf(arena, "%s reaches Mailroom.", client->title)
			: verdict == MR_CLIENT_LISTED
			? mr_arena_printf(arena,
				  "%s knows Mailroom; it tries its servers when it starts.",
				  client->title)
			: verdict == MR_CLIENT_SILENT
			? mr_arena_printf(arena,
				  "%s was asked whether it reaches Mailroom (%s mcp list), and did "
				  "not say.",
				  client->title, client->program)
			: mr_arena_printf(arena, "%s does not use Mailroom yet. It says: %s",
				  client->title, c->out->says));
}

static void tell(struct connecting *c)
{
	struct told *out = c->out;

	out->client = c->set.client->name;
	out->project = c->set.project;
	out->transport = c->wish.url ? "http" : "stdio";
	out->url = c->wish.url;
	out->command = c->wish.url ? NULL : c->wish.command;
	for (size_t i = 0; i < c->set.len; i++)
		out->files[out->len++] = tell_file(c, &c->set.changes[i]);
	if (!c->set.undo && !c->set.print && !c->skip_check)
		ask_client(c);
	if (!c->set.undo)
		note_next(c);
}

static enum mr_code connect_client(struct mr_call *call, const struct asked *asked,
	const struct mr_client *client, struct told *out)
{
	struct connecting c = {
		.call = call,
		.set = { .cx = &call->cx,
			.client = client,
			.wish = &c.wish,
			.undo = asked->undo,
			.print = asked->print,
			.force = asked->force },
		.skip_check = asked->skip_check,
		.out = out,
	};
	enum mr_code rc = decide(&c, asked);

	out->verdict = out->says = NULL;
	if (c.is_closed)
		note(&c,
			"The server lets in over TCP only who has a token, and none is set: this "
			"entry starts mailroom itself, which needs no server. For the "
			"server, set HTTP_BEARER_TOKEN and connect again.");
	if (!rc && c.set.undo && c.set.print)
		rc = mr_err_set(&call->cx.err, MR_EINVAL, "--undo and --print exclude each other");
	if (!rc && !c.set.print)
		rc = mr_locations_state(call->cx.arena, &c.set.state, &call->cx.err);
	if (!rc)
		rc = mr_locations_project(call->cx.arena, asked->project, &c.set.project,
			&call->cx.err);
	if (!rc)
		rc = mr_client_change(&c.set);
	for (size_t i = 0; i < c.set.notes.len; i++)
		note(&c, c.set.notes.items[i]);
	if (!rc)
		tell(&c);
	return rc;
}
/* ---- without a client's name ---- */

static bool is_connected(struct mr_call *call, const struct mr_client *client, const char *project)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_client_entry entry = { 0 };
	struct mr_bytes text;
	struct mr_err ignored = { 0 };
	const char *path;

	if (mr_locations_file(arena, project, &client->files[0], &path, &ignored) ||
		mr_fs_read(arena, AT_FDCWD, path, MR_CLIENT_FILE_BYTES, &text, &ignored) ||
		mr_client_look(arena, client, text, &entry, &ignored))
		return false;
	return entry.is_there;
}

static void find_installed(struct mr_call *call, struct told *out)
{
	struct mr_arena *arena = call->cx.arena;

	out->found = mr_arena_array(arena, CLIENTS_MAX, sizeof(*out->found));
	for (const struct mr_client *c = mr_clients; c->name; c++) {
		const char *program = mr_locations_in_path(arena, c->program);

		if (program && out->found_len < CLIENTS_MAX)
			out->found[out->found_len++] = (struct installed){ c->name, c->title,
				program, is_connected(call, c, out->project) };
	}
}

static bool is_wanted(struct mr_call *call, const struct installed *client)
{
	const char *line;

	if (call->confirmed)
		return true;
	line = call->ask(call->cx.arena,
		mr_arena_printf(call->cx.arena, "Connect %s (%s)%s? [Y/n] ", client->title,
			client->program, client->is_connected ? " again" : ""),
		false);
	return line && (!*line || *line == 'y' || *line == 'Y');
}

static void tell_found(struct mr_call *call, struct told *out)
{
	struct mr_texts *notes = &out->notes;

	for (size_t i = 0; i < out->found_len; i++)
		notes->items[notes->len++] = mr_arena_printf(call->cx.arena,
			out->found[i].is_connected ? "%s is connected; again: mailroom connect %s"
						   : "%s is installed: mailroom connect %s",
			out->found[i].title, out->found[i].client);
	if (out->found_len == 0)
		notes->items[notes->len++] =
			"No coding agent's program was found in PATH. mailroom connect --help lists "
			"those that can be named.";
}

/* At a terminal the clients that are installed are offered one by one; else they are listed. */
static enum mr_code offer(struct mr_call *call, const struct asked *asked, struct told *out)
{
	enum mr_code rc =
		mr_locations_project(call->cx.arena, asked->project, &out->project, &call->cx.err);
	bool can_ask = call->confirmed || call->ask;

	if (!rc && (asked->undo || asked->print))
		rc = mr_err_set(&call->cx.err, MR_EINVAL,
			"--undo and --print need a client: mailroom connect CLIENT %s",
			asked->undo ? "--undo" : "--print");
	if (rc)
		return rc;
	find_installed(call, out);
	for (size_t i = 0; i < out->found_len && can_ask && !rc; i++) {
		if (is_wanted(call, &out->found[i]))
			rc = connect_client(call, asked, mr_client_find(out->found[i].client), out);
	}
	if (!rc && !out->client)
		tell_found(call, out);
	return rc;
}

static enum mr_code connect_or_offer(struct mr_call *call, const struct asked *asked,
	struct told *out)
{
	struct mr_arena *arena = call->cx.arena;

	out->notes.items =
		mr_arena_array(arena, NOTES_MAX * CLIENTS_MAX, sizeof(*out->notes.items));
	out->files = mr_arena_array(arena, MR_CLIENT_FILES * CLIENTS_MAX, sizeof(*out->files));
	return asked->client ? connect_client(call, asked, mr_client_find(asked->client), out)
			     : offer(call, asked, out);
}
MR_BIND_ALONE(connecting, connect_or_offer, struct asked, struct told);

/* ---- as people read it ---- */

static const char *text_in(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static void render_file(struct mr_buf *out, const struct mr_value *file)
{
	if (!mr_value_get(file, "content")) {
		mr_buf_printf(out, "  %-9s  ", text_in(file, "action"));
		mr_render_text(out, text_in(file, "path"));
		mr_buf_printf(out, "  (%s)\n", text_in(file, "what"));
		return;
	}
	mr_buf_puts(out, "# ");
	mr_render_text(out, text_in(file, "path"));
	mr_buf_printf(out, " (%s)\n%s\n", text_in(file, "what"), text_in(file, "content"));
}

static void render(struct mr_buf *out, const struct mr_value *result, const struct mr_render *how)
{
	const struct mr_value *files = mr_value_get(result, "files");
	const struct mr_value *notes = mr_value_get(result, "notes");

	(void)how;
	for (size_t i = 0; i < files->list.len; i++)
		render_file(out, &files->list.items[i]);
	for (size_t i = 0; i < notes->list.len; i++) {
		mr_render_text(out, notes->list.items[i].text);
		mr_buf_putc(out, '\n');
	}
}

const struct mr_op mr_op_connect = {
	.name = "connect",
	.command = "connect",
	.summary = "Enter Mailroom into a coding agent's program, or take it out again",
	.help = "Without CLIENT it offers those that are installed. It writes the client's MCP "
		"entry, hooks where it has them, and a block in AGENTS.md "
		"that tells agents how to use it. All else in these files stays; what they said "
		"before is kept in $XDG_STATE_HOME/mailroom (~/.local/state/mailroom), and --undo "
		"brings it back. At its end it asks the client whether it reaches Mailroom. "
		"Tokens are never written: files name the variable "
		"MAILROOM_TOKEN.",
	.params = params,
	.result = result_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &connecting,
	.render = render,
};
