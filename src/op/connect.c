/* op/connect.c - operation: enter Mailroom into a coding agent's program, or take it out again. */
#include "base/fs.h"
#include "op/args.h"
#include "op/call.h"
#include "op/client.h"
#include "op/client_file.h"
#include "op/envelope.h"
#include "op/nouns.h"
#include "op/out.h"
#include "op/place.h"
#include "op/render.h"
#include "op/settings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BACKUP ".mailroom-backup"

static const struct mr_param params[] = {
	{ .name = "client",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the program to enter Mailroom into",
		.choices = mr_client_names },
	{ .name = "project",
		.type = MR_TYPE_TEXT,
		.summary = "the repository",
		.fallback = "the one around the working directory" },
	{ .name = "stdio",
		.type = MR_TYPE_BOOL,
		.summary =
			"the client starts `mailroom mcp` by itself, in place of using the server",
		.fallback = "false" },
	{ .name = "url",
		.type = MR_TYPE_TEXT,
		.summary =
			"the server's MCP address, in place of what http.host and http.port say" },
	{ .name = "with_token",
		.type = MR_TYPE_BOOL,
		.summary = "the client sends the token in MAILROOM_TOKEN",
		.fallback = "whether the server is configured to ask for one" },
	{ .name = "print",
		.type = MR_TYPE_BOOL,
		.summary = "write nothing, show what would be added",
		.fallback = "false" },
	{ .name = "undo",
		.type = MR_TYPE_BOOL,
		.summary = "take out what was entered",
		.fallback = "false" },
	{ 0 },
};

static const struct mr_field file_fields[] = {
	{ .name = "path", .type = MR_TYPE_TEXT },
	{ .name = "what", .type = MR_TYPE_TEXT },
	{ .name = "action",
		.type = MR_TYPE_TEXT,
		.summary = "created, updated, unchanged, restored, removed, or print" },
	{ .name = "backup",
		.type = MR_TYPE_TEXT,
		.flags = MR_NULLABLE,
		.summary = "what the file said before Mailroom was entered" },
	{ .name = "content",
		.type = MR_TYPE_TEXT,
		.flags = MR_OPTIONAL,
		.summary = "with print: what would be added" },
	{ 0 },
};

static const struct mr_field result_fields[] = {
	{ .name = "client", .type = MR_TYPE_TEXT },
	{ .name = "project", .type = MR_TYPE_TEXT },
	{ .name = "transport", .type = MR_TYPE_TEXT, .summary = "http or stdio" },
	{ .name = "url", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "command", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "files", .type = MR_TYPE_LIST, .fields = file_fields },
	{ .name = "notes", .type = MR_TYPE_TEXTS, .summary = "what is left to do" },
	{ 0 },
};

/* A file on its way from what it says to what it will say. */
struct change {
	const struct mr_client_file *file;
	const char *path;   /* of the file itself, where links lead */
	const char *backup; /* its path */
	bool exists, has_backup;
	mode_t mode;
	struct mr_bytes before, after;
	const char *action;
};

struct connecting {
	struct mr_call *call;
	const struct mr_client *client;
	struct mr_client_wish wish;
	const char *project; /* absolute, without links */
	bool undo, print;
	bool is_closed; /* the server would let no TCP client in, so stdio is entered */
	struct change changes[MR_CLIENT_FILES];
	size_t len;
};

static enum mr_code look(struct connecting *c, struct change *change)
{
	struct mr_call *call = c->call;
	struct stat st;
	enum mr_code rc;

	change->before = mr_bytes_text("");
	change->mode = change->file->is_in_home ? 0600 : 0644;
	rc = mr_place_file(call->cx.arena, c->project, change->file, &change->path, &call->cx.err);
	if (rc)
		return rc;
	change->backup = mr_arena_printf(call->cx.arena, "%s" BACKUP, change->path);
	change->has_backup = mr_fs_exists(AT_FDCWD, change->backup);
	if (stat(change->path, &st) != 0)
		return MR_OK;
	change->exists = true;
	change->mode = st.st_mode & 0777;
	return mr_fs_read(call->cx.arena, AT_FDCWD, change->path, MR_CLIENT_FILE_BYTES,
		&change->before, &call->cx.err);
}

/* What the file will say. Nothing is written before all files are known to be in order. */
static enum mr_code plan(struct connecting *c, struct change *change)
{
	struct mr_call *call = c->call;
	enum mr_code rc = change->file->edit(call->cx.arena, c->client, c->undo ? NULL : &c->wish,
		c->print ? mr_bytes_text("") : change->before, &change->after, &call->cx.err);

	if (rc == MR_EFORMAT)
		mr_err_set(&call->cx.err, MR_EFORMAT,
			"%s: %s; nothing was written. Mend it, or enter by hand what mailroom "
			"connect "
			"%s --print shows",
			change->path, mr_arena_strdup(call->cx.arena, call->cx.err.msg),
			c->client->name);
	else if (rc)
		mr_err_wrap(&call->cx.err, "%s", change->path);
	return rc;
}

static bool is_same(struct mr_bytes a, struct mr_bytes b)
{
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static enum mr_code make_parent(struct connecting *c, const struct change *change)
{
	const char *slash = strrchr(change->path, '/');

	return mr_fs_make_dirs(AT_FDCWD,
		mr_arena_strndup(c->call->cx.arena, change->path, (size_t)(slash - change->path)),
		change->file->is_in_home ? 0700 : 0755, &c->call->cx.err);
}

/* Are we in it already? Then what it says is not what it said before us. */
static bool is_entered(struct connecting *c, const struct change *change)
{
	struct mr_bytes without;
	struct mr_err ignored;

	if (change->file->mark)
		return memmem(change->before.data, change->before.len, change->file->mark,
			strlen(change->file->mark));
	return !change->file->edit(c->call->cx.arena, c->client, NULL, change->before, &without,
		       &ignored) &&
		!is_same(without, change->before);
}

static enum mr_code enter(struct connecting *c, struct change *change)
{
	struct mr_err *err = &c->call->cx.err;
	enum mr_code rc = MR_OK;

	change->action = "unchanged";
	if (change->exists && is_same(change->before, change->after))
		return MR_OK;
	change->action = change->exists ? "updated" : "created";
	if (!change->exists)
		rc = make_parent(c, change);
	if (!rc && change->exists && !change->has_backup && !is_entered(c, change)) {
		rc = mr_fs_write(AT_FDCWD, change->backup, change->before, MR_FS_NEW, change->mode,
			err);
		change->has_backup = !rc;
	}
	if (!rc)
		rc = mr_fs_write(AT_FDCWD, change->path, change->after, MR_FS_REPLACE, change->mode,
			err);
	return rc;
}

static enum mr_code remove_file(const char *path, struct mr_err *err)
{
	return unlink(path) == 0 || errno == ENOENT ? MR_OK : mr_err_os(err, errno, "%s", path);
}

/* Does it say nothing any more? */
static bool is_empty(struct mr_bytes text)
{
	return text.len == 0 || is_same(text, mr_bytes_text("{}\n"));
}

/* Do the two say the same, however they are written? */
static bool says_the_same(struct mr_arena *arena, const struct change *change, struct mr_bytes old)
{
	const struct mr_value *a, *b;
	struct mr_err ignored;
	size_t shorter = change->after.len < old.len ? change->after.len : old.len;

	if (mr_str_ends(change->path, ".json"))
		return !mr_client_json_read(arena, change->after, &a, &ignored) &&
			!mr_client_json_read(arena, old, &b, &ignored) && mr_value_equal(a, b);
	/* A newline at the end may be the one that was put before the block. */
	return shorter + 1 >= change->after.len && shorter + 1 >= old.len &&
		memcmp(change->after.data, old.data, shorter) == 0;
}

static enum mr_code remove_created(struct connecting *c, const struct change *change)
{
	const char *slash = strrchr(change->path, '/');
	enum mr_code rc = remove_file(change->path, &c->call->cx.err);

	/* Its directory too, when nothing else is in it and it is not the project itself. */
	if (!rc && strchr(change->file->path, '/'))
		rmdir(mr_arena_strndup(c->call->cx.arena, change->path,
			(size_t)(slash - change->path)));
	return rc;
}

static enum mr_code leave(struct connecting *c, struct change *change)
{
	struct mr_err *err = &c->call->cx.err;
	struct mr_bytes old = { NULL, 0 };
	enum mr_code rc = MR_OK;

	change->action = "unchanged";
	if (!change->exists || is_same(change->before, change->after))
		return MR_OK;
	if (change->has_backup)
		rc = mr_fs_read(c->call->cx.arena, AT_FDCWD, change->backup, MR_CLIENT_FILE_BYTES,
			&old, err);
	if (rc)
		return rc;
	if (!old.data && is_empty(change->after)) {
		change->action = "removed";
		return remove_created(c, change);
	}
	change->action = "updated";
	if (!old.data || !says_the_same(c->call->cx.arena, change, old))
		return mr_fs_write(AT_FDCWD, change->path, change->after, MR_FS_REPLACE,
			change->mode, err);
	/* Nobody else has changed it: byte for byte as it was. */
	change->action = "restored";
	rc = mr_fs_write(AT_FDCWD, change->path, old, MR_FS_REPLACE, change->mode, err);
	if (!rc)
		rc = remove_file(change->backup, err);
	change->has_backup = false;
	return rc;
}

/* One file may have two names, CLAUDE.md being a link to AGENTS.md: it is changed once. */
static bool is_known(const struct connecting *c, const char *path)
{
	for (size_t i = 0; i < c->len; i++) {
		if (mr_str_eq(c->changes[i].path, path))
			return true;
	}
	return false;
}

static enum mr_code carry_out(struct connecting *c)
{
	const struct mr_client_file *files = c->client->files;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < MR_CLIENT_FILES && files[i].path && !rc; i++) {
		struct change *change = &c->changes[c->len];

		*change = (struct change){ .file = &files[i] };
		rc = look(c, change);
		if (!rc && is_known(c, change->path))
			continue;
		if (!rc)
			rc = plan(c, change);
		c->len += !rc;
	}
	for (size_t i = 0; i < c->len && !rc; i++) {
		c->changes[i].action = "print";
		if (!c->print)
			rc = c->undo ? leave(c, &c->changes[i]) : enter(c, &c->changes[i]);
	}
	return rc;
}

/* ---- what is to be entered ---- */

/* Where data is kept, when the client would not find out: what is configured only here and now
 * does not hold where the client starts its program. */
static enum mr_code wish_storage(struct connecting *c)
{
	const struct mr_settings *s = c->call->app->settings;
	const char *root;

	if (mr_settings_is_lasting(s, "storage.root"))
		return MR_OK;
	if (mr_settings_path(s, "storage.root", &root, &c->call->cx.err))
		return c->call->cx.err.code;
	c->wish.storage_root = mr_place_absolute(c->call->cx.arena, root);
	return MR_OK;
}

static enum mr_code decide(struct connecting *c, const struct mr_args *in)
{
	const struct mr_settings *s = c->call->app->settings;
	bool asks = mr_place_needs_token(s, !mr_args_text(in, "url"));
	struct mr_arena *arena = c->call->cx.arena;

	c->wish.command = mr_place_program(arena);
	c->wish.with_token = mr_args_bool(in, "with_token", asks);
	c->is_closed = !c->undo && !mr_args_text(in, "url") &&
		!mr_args_bool(in, "stdio", false) && mr_place_is_closed(s);
	if (c->is_closed || mr_args_bool(in, "stdio", false)) {
		if (mr_args_text(in, "url"))
			return mr_err_set(&c->call->cx.err, MR_EINVAL,
				"--stdio and --url exclude each other");
		return wish_storage(c);
	}
	c->wish.url = mr_args_text(in, "url");
	if (c->wish.url && !mr_str_starts(c->wish.url, "http://") &&
		!mr_str_starts(c->wish.url, "https://"))
		return mr_err_set(&c->call->cx.err, MR_EINVAL,
			"--url must begin with http:// or https://");
	if (!c->wish.url && mr_settings_int(s, "http.port") == 0 && !c->undo)
		return mr_err_set(&c->call->cx.err, MR_EINVAL,
			"http.port is 0, any free one: a client needs to know which");
	if (!c->wish.url)
		c->wish.url = mr_place_url(arena, s);
	return MR_OK;
}

/* ---- what is told ---- */

static void emit_file(struct connecting *c, struct mr_out *out, const struct change *change)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "path", change->path);
	mr_out_text(out, "what", change->file->what);
	mr_out_text(out, "action", change->action);
	mr_out_text(out, "backup", change->has_backup ? change->backup : NULL);
	if (c->print)
		mr_out_text(out, "content",
			mr_arena_strndup(c->call->cx.arena, (const char *)change->after.data,
				change->after.len));
	mr_out_end(out);
}

static void emit_notes(struct connecting *c, struct mr_out *out)
{
	struct mr_arena *arena = c->call->cx.arena;

	mr_out_list(out, "notes");
	if (c->is_closed)
		mr_out_text(out, NULL,
			"A server that root runs lets in over TCP only who has a token, and none is "
			"set: this entry starts mailroom itself, which needs no server. For the "
			"server, set HTTP_BEARER_TOKEN and connect again.");
	if (!c->undo && c->wish.url)
		mr_out_text(out, NULL,
			"The server must run: mailroom serve (or connect with --stdio, which needs "
			"none)");
	if (!c->undo && c->wish.url && c->wish.with_token)
		mr_out_text(out, NULL,
			mr_str_eq(c->client->name, "vscode")
				? "VS Code asks for the server's token when it first connects."
				: mr_arena_printf(arena,
					  "Put the server's token into the "
					  "variable " MR_CLIENT_TOKEN_ENV
					  " where %s is started: it is in no file.",
					  c->client->title));
	if (!c->undo && *c->wish.command == '/')
		mr_out_text(out, NULL,
			mr_arena_printf(arena,
				"mailroom is not in your PATH, so files name %s: others who use "
				"this "
				"repository have it elsewhere.",
				c->wish.command));
	if (!c->undo && c->client->hint)
		mr_out_text(out, NULL, c->client->hint);
	if (!c->undo && !c->print)
		mr_out_text(out, NULL,
			mr_arena_printf(arena,
				"Next: start %s in %s. mailroom doctor says whether all is in "
				"order.",
				c->client->title, c->project));
	mr_out_end(out);
}

static enum mr_code connect_client(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	struct connecting c = {
		.call = call,
		.client = mr_client_find(mr_args_text(in, "client")),
		.undo = mr_args_bool(in, "undo", false),
		.print = mr_args_bool(in, "print", false),
	};
	enum mr_code rc = decide(&c, in);

	if (!rc && c.undo && c.print)
		rc = mr_err_set(&call->cx.err, MR_EINVAL, "--undo and --print exclude each other");
	if (!rc)
		rc = mr_place_project(call->cx.arena, mr_args_text(in, "project"), &c.project,
			&call->cx.err);
	if (!rc)
		rc = carry_out(&c);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_text(out, "client", c.client->name);
	mr_out_text(out, "project", c.project);
	mr_out_text(out, "transport", c.wish.url ? "http" : "stdio");
	mr_out_text(out, "url", c.wish.url);
	mr_out_text(out, "command", c.wish.url ? NULL : c.wish.command);
	mr_out_list(out, "files");
	for (size_t i = 0; i < c.len; i++)
		emit_file(&c, out, &c.changes[i]);
	mr_out_end(out);
	emit_notes(&c, out);
	mr_out_end(out);
	return MR_OK;
}

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
	.help = "Writes the client's MCP entry, a hook where it has hooks, and a block in "
		"AGENTS.md "
		"that tells agents how to use it. All else in these files stays; what they said "
		"before stands beside them (" BACKUP "). Tokens are never written: files name the "
		"variable MAILROOM_TOKEN.",
	.params = params,
	.result = result_fields,
	.surfaces = MR_ON_CLI,
	.envelope = &mr_envelope_plain,
	.run = connect_client,
	.render = render,
};
