/* op/self/doctor.c - operation: checks everything that agents need to exchange messages, and
 * says what to do about problems. */
#include "app/client_file.h"
#include "app/client_trust.h"
#include "app/locations.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/proc.h"
#include "mailbox/notifier.h"
#include "mailbox/registry.h"
#include "mailbox/root.h"
#include "net/http_client.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/mailbox/mail_session.h"
#include "op/nouns.h"
#include "op/render.h"
#include "op/team/team_home.h"
#include "team/archive/archive.h"
#include "team/guard/guard.h"
#include "team/layout.h"
#include "team/probe.h"
#include "text/database_url.h"
#include "text/json.h"
#include "text/out.h"
#include "text/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	CHECKS_MAX = 32,
	ASK_MS = 3000,
	ANSWER_BYTES = 1 << 20,
	GIT_MS = 10000,
	ROOM_MIB = 100, /* free disk space; less is a warning */
	WAITING = 1000, /* changes that are not archived yet; so many are a warning */
};

struct where {
	const char *project;
};

static const struct mr_param params[] = {
	MR_PARAM(struct where, project, "project", .summary = "the repository",
		.fallback = "the one around the working directory"),
	{ 0 },
};

enum state { FINE, WARNING, PROBLEM };

static const char *const state_names[] = { "ok", "warning", "problem" };

struct check {
	const char *name;
	const char *state;
	const char *detail;
	const char *advice; /* or NULL */
};

static const struct mr_field check_fields[] = {
	MR_FIELD(struct check, name, "name"),
	MR_FIELD(struct check, state, "state", .summary = "ok, warning or problem"),
	MR_FIELD(struct check, detail, "detail"),
	MR_FIELD(struct check, advice, "advice", .flags = MR_NULLABLE,
		.summary = "what to do about it"),
	{ 0 },
};

struct examined {
	bool ok;
	struct check *checks;
	size_t len;
};

static const struct mr_field result_fields[] = {
	MR_FIELD(struct examined, ok, "ok", .summary = "no problem was found"),
	MR_FIELD_ROWS(struct examined, checks, len, struct check, check_fields, "checks"),
	{ 0 },
};

struct doctor {
	struct mr_call *call;
	const struct mr_settings *settings;
	const char *project;
	struct examined *out; /* with room for CHECKS_MAX */
	bool needs_server;    /* a client here goes to our address */
	bool starts_own;      /* a client here starts `mailroom mcp` */
	bool goes_far;        /* a client here goes to another address */
	bool over_tcp;        /* the server is asked as its clients do, not through its socket */
	const char *sender;   /* a client that sends MAILROOM_TOKEN to the server, or NULL */
	const char *bare;     /* one that goes there and sends none */
	const char *token;    /* what ask() sends; NULL: nothing */
};

static void say(struct doctor *d, const char *name, enum state state, const char *advice,
	const char *fmt, ...) MR_PRINTF(5, 6);

static void say(struct doctor *d, const char *name, enum state state, const char *advice,
	const char *fmt, ...)
{
	va_list ap;

	if (d->out->len == CHECKS_MAX)
		return;
	va_start(ap, fmt);
	d->out->checks[d->out->len++] = (struct check){ name, state_names[state],
		mr_arena_vprintf(d->call->cx.arena, fmt, ap), advice };
	va_end(ap);
	d->out->ok = d->out->ok && state != PROBLEM;
}

/* The message of the last error, kept. */
static const char *why(struct doctor *d)
{
	return mr_arena_strdup(d->call->cx.arena, d->call->cx.err.msg);
}

/* ---- what is here ---- */

/* A setting that cannot be read stops every command at its start, this one too. */
static void check_settings(struct doctor *d)
{
	size_t count = 0;

	for (const struct mr_setting *s = mr_setting_table; s->key; s++)
		count += !mr_str_eq(mr_settings_source(d->settings, s->key), "default");
	say(d, "settings", FINE, NULL, count ? "%zu set here" : "all as they come", count);
}

static void check_room(struct doctor *d, const char *root)
{
	struct statvfs fs;
	uint64_t mib;

	if (statvfs(root, &fs) != 0)
		return;
	mib = (uint64_t)fs.f_bavail * fs.f_frsize >> 20;
	if (mib < ROOM_MIB)
		say(d, "storage", WARNING, "make room on the disk", "only %llu MiB are free for %s",
			(unsigned long long)mib, root);
}

/* True when there is storage to examine. */
static bool check_storage(struct doctor *d)
{
	const char *root;

	if (mr_settings_path(d->settings, "storage.root", &root, &d->call->cx.err)) {
		say(d, "storage", PROBLEM, "set HOME, or STORAGE_ROOT", "%s", why(d));
		return false;
	}
	if (faccessat(AT_FDCWD, root, R_OK | W_OK | X_OK, AT_EACCESS) == 0) {
		say(d, "storage", FINE, NULL, "%s", root);
		check_room(d, root);
		return true;
	}
	if (errno == ENOENT) {
		say(d, "storage", FINE, NULL, "%s, made at the first use", root);
		return false;
	}
	say(d, "storage", PROBLEM, "make it a directory you may write to, or set storage.root",
		"%s: %s", root, strerror(errno));
	return false;
}

static void check_archive(struct doctor *d, const struct mr_team_health *health)
{
	bool is_long = health->archive_pending > WAITING;

	for (size_t i = 0; i < health->problems.len; i++)
		say(d, "archive", WARNING, "mailroom team check says more", "%s",
			health->problems.items[i]);
	if (health->problems.len == 0)
		say(d, "archive", is_long ? WARNING : FINE,
			is_long ? "it catches up while a server runs" : NULL,
			health->archive_pending ? "still to be written: %lld" : "shows everything",
			(long long)health->archive_pending);
}

static void check_database(struct doctor *d)
{
	struct mr_team_config config = { 0 };
	struct mr_team_health health;
	const char *file;
	size_t archives;
	enum mr_code rc;

	if (mr_team_home_config(d->call, &config)) {
		say(d, "database", PROBLEM, "correct database.url", "%s", why(d));
		return;
	}
	file = config.database ? config.database
			       : mr_arena_printf(d->call->cx.arena, "%s/" MR_TEAM_DATABASE_FILE,
					 config.storage_root);
	archives = mr_team_archives(&d->call->cx, config.storage_root);
	if (!mr_database_url_is(file) && !mr_fs_exists(AT_FDCWD, file) && archives == 0) {
		say(d, "database", FINE, NULL, "%s, made at the first use", file);
		return;
	}
	rc = mr_team_home_probe(d->call, &health, NULL);
	if (rc) {
		say(d, "database", PROBLEM,
			rc == MR_EFORMAT ? "mailroom team rebuild makes it anew from the archives"
					 : "mailroom team health says more",
			"%s", why(d));
		return;
	}
	if (health.status == MR_TEAM_DOWN) {
		say(d, "database", PROBLEM, "mailroom team health says more", "%s",
			health.problems.len ? health.problems.items[0] : file);
		return;
	}
	if (health.server.version) {
		file = mr_database_url_shown(d->call->cx.arena, file);
		say(d, "database server", FINE, NULL, "%s",
			mr_team_server_words(d->call->cx.arena, &health.server));
	} else if (health.projects == 0 && archives > 0) {
		say(d, "database", PROBLEM, "mailroom team rebuild makes it anew from the archives",
			"%s is empty, while %zu project%s an archive", file, archives,
			archives == 1 ? " has" : "s have");
		return;
	}
	say(d, "database", FINE, NULL, "%s, %lld project%s", file, (long long)health.projects,
		health.projects == 1 ? "" : "s");
	check_archive(d, &health);
}

/* Nothing is said where there is no mailbox root: many use the team's mail only. */
static void check_mailbox(struct doctor *d)
{
	struct mr_mailbox_status status;
	const char *path;

	if (mr_settings_path(d->settings, "mailbox.root", &path, &d->call->cx.err)) {
		say(d, "mailbox", PROBLEM, "set HOME, or HOUMAO_GLOBAL_MAILBOX_DIR", "%s", why(d));
		return;
	}
	if (mr_mailbox_root_status(&d->call->cx, path, &status) || !status.exists ||
		(!status.error && !status.structural_state_readable))
		return;
	if (status.error)
		say(d, "mailbox", PROBLEM,
			"mailroom mailbox check says more, and mailroom mailbox repair rebuilds "
			"the index",
			"%s", status.error);
	else
		say(d, "mailbox", FINE, NULL, "%s, %lld address%s", status.path,
			(long long)status.active, status.active == 1 ? "" : "es");
}

/* Mail that an agent was not told of, because the way to it is cut. */
static void check_wake_up(struct doctor *d, const struct mr_mailbox_record *record)
{
	struct mr_arena *arena = d->call->cx.arena;
	struct mr_mailbox_session session;
	struct mr_ledger_backlog backlog;
	bool found = false;

	if (record->problem || mr_mailbox_registry_manifest(&d->call->cx, record, &session))
		return;
	if (mr_notifier_backlog(&d->call->cx, session.dir, &backlog, &found))
		say(d, "wake-ups", WARNING, "make it readable", "%s", why(d));
	else if (found)
		say(d, "wake-ups", WARNING,
			mr_arena_printf(arena,
				"mailroom mail notices --agent-id %s shows them; it is tried again "
				"by itself",
				record->agent_id),
			"agent %s was not told of %lld message%s since %s, for the channel %s "
			"fails: %s",
			record->agent_name ? record->agent_name : record->agent_id,
			(long long)backlog.messages, backlog.messages == 1 ? "" : "s",
			mr_time_format(arena, backlog.oldest_us, MR_TIME_SECONDS), backlog.channel,
			backlog.detail ? backlog.detail : "it is not known why");
}

static void check_wake_ups(struct doctor *d)
{
	struct mr_mailbox_records records = { NULL, 0 };
	struct mr_mailbox_place place;

	if (mr_mail_session_place(d->call, &place) ||
		mr_mailbox_registry_list(&d->call->cx, place.registry, &records))
		return;
	for (size_t i = 0; i < records.len; i++)
		check_wake_up(d, &records.items[i]);
}

static void check_git(struct doctor *d)
{
	static const char *const argv[] = { "git", "--version", NULL };
	const struct mr_proc proc = { .argv = argv, .timeout_ms = GIT_MS, .max_output = 4096 };
	struct mr_proc_result result;

	if (mr_proc_run(d->call->cx.arena, &proc, &result, &d->call->cx.err))
		say(d, "git", WARNING, "install git: the commit guard and some answers need it",
			"%s", why(d));
	else if (result.exit_status != 0)
		say(d, "git", WARNING, "see what is wrong with it", "git --version failed");
	else
		say(d, "git", FINE, NULL, "%.*s", (int)strcspn((const char *)result.out.data, "\n"),
			(const char *)result.out.data);
}

/* ---- clients ---- */

/* The entry is right. Does the client use it? */
static void check_trust(struct doctor *d, const struct mr_client *client, const char *said)
{
	struct mr_arena *arena = d->call->cx.arena;
	const char *home = getenv("HOME");
	enum mr_client_trust trust = mr_str_is_empty(home)
		? MR_CLIENT_TRUSTED
		: mr_client_trust(arena, client, d->project, home);

	if (trust == MR_CLIENT_UNTRUSTED)
		say(d, client->name, WARNING,
			mr_arena_printf(arena, "start %s in %s, and trust the folder when it asks",
				client->program, d->project),
			"%s, but %s does not trust this folder yet, and uses neither the server nor "
			"the hooks",
			said, client->title);
	else if (trust == MR_CLIENT_UNAPPROVED)
		say(d, client->name, WARNING,
			mr_arena_printf(arena, "start %s in %s, and approve mailroom (/mcp)",
				client->program, d->project),
			"%s, but nobody has approved the server in %s yet", said, client->title);
	else
		say(d, client->name, FINE, NULL, "%s", said);
}

static void check_entry(struct doctor *d, const struct mr_client *client, const char *path,
	const struct mr_client_entry *entry)
{
	struct mr_arena *arena = d->call->cx.arena;
	const char *url = mr_locations_url(arena, d->settings);
	const char *advice = mr_arena_printf(arena, "mailroom connect %s", client->name);

	if (entry->command && strchr(entry->command, '/') && access(entry->command, X_OK) != 0) {
		say(d, client->name, PROBLEM, advice, "%s starts %s, which is not there", path,
			entry->command);
	} else if (entry->command && !strchr(entry->command, '/') &&
		!mr_locations_in_path(arena, entry->command)) {
		say(d, client->name, PROBLEM,
			mr_arena_printf(arena,
				"put the directory of mailroom into PATH, or %s, which then names "
				"its path",
				advice),
			"%s starts %s, which is not in PATH here", path, entry->command);
	} else if (entry->command) {
		check_trust(d, client, mr_arena_printf(arena, "starts %s mcp", entry->command));
		d->starts_own = true;
	} else if (entry->url && !mr_str_eq(entry->url, url)) {
		say(d, client->name, WARNING, advice, "%s goes to %s; the server here is %s", path,
			entry->url, url);
		d->goes_far = true;
	} else if (entry->url) {
		check_trust(d, client, mr_arena_printf(arena, "goes to %s", entry->url));
		d->needs_server = true;
		if (entry->sends_token)
			d->sender = client->name;
		else
			d->bare = client->name;
	} else {
		say(d, client->name, WARNING, advice,
			"%s: its entry was not made by mailroom connect", path);
	}
}

/* True when the client knows us. */
static bool check_client(struct doctor *d, const struct mr_client *client)
{
	struct mr_call *call = d->call;
	struct mr_client_entry entry = { 0 };
	struct mr_bytes text;
	const char *path;
	enum mr_code rc = mr_locations_file(call->cx.arena, d->project, &client->files[0], &path,
		&call->cx.err);

	if (rc == MR_ENOTFOUND || (!rc && !mr_fs_exists(AT_FDCWD, path)))
		return false;
	if (!rc)
		rc = mr_fs_read(call->cx.arena, AT_FDCWD, path, MR_CLIENT_FILE_BYTES, &text,
			&call->cx.err);
	if (!rc)
		rc = mr_client_look(call->cx.arena, client, text, &entry, &call->cx.err);
	/* A file with comments is left to the client while we need not change it. */
	if (rc == MR_EFORMAT)
		say(d, client->name, WARNING, "look into it by hand", "%s: %s", path, why(d));
	else if (rc)
		say(d, client->name, PROBLEM, "make it readable", "%s: %s", path, why(d));
	if (entry.is_there)
		check_entry(d, client, path, &entry);
	return entry.is_there;
}

static void check_clients(struct doctor *d)
{
	bool any = false;

	for (const struct mr_client *client = mr_clients; client->name; client++)
		any = check_client(d, client) || any;
	if (!any)
		say(d, "clients", WARNING, "mailroom connect claude-code, or another client",
			"no coding agent knows Mailroom in %s", d->project);
}

static void check_guard(struct doctor *d)
{
	struct mr_team_guard_place place;
	struct mr_team_guard_hooks hooks;
	bool is_whole = true;

	if (!mr_fs_exists(AT_FDCWD, mr_arena_printf(d->call->cx.arena, "%s/.git", d->project))) {
		say(d, "guard", FINE, NULL, "%s is no repository", d->project);
		return;
	}
	if (mr_team_guard_place(&d->call->cx, d->project, &place) ||
		mr_team_guard_hooks_look(&d->call->cx, &place, &hooks)) {
		say(d, "guard", WARNING, "mailroom guard status says more", "%s", why(d));
		return;
	}
	for (size_t i = 0; i < MR_TEAM_GUARD_HOOKS; i++)
		is_whole = is_whole && hooks.items[i].state == MR_TEAM_GUARD_INSTALLED;
	say(d, "guard", is_whole ? FINE : WARNING,
		is_whole ? NULL
			 : mr_arena_printf(d->call->cx.arena, "mailroom guard install %s",
				   d->project),
		is_whole ? "installed in %s" : "commits in %s are not held up by others' leases",
		is_whole ? hooks.directory : d->project);
}

/* ---- the server ---- */

static enum mr_code ask(struct doctor *d, const char *path, const char *body,
	struct mr_http_client_response *out)
{
	struct mr_arena *arena = d->call->cx.arena;
	const char *headers[] = { "Accept: application/json, text/event-stream",
		"Content-Type: application/json", NULL, NULL };
	const struct mr_http_client_request request = {
		.url = mr_arena_printf(arena, "%s%s", mr_locations_server(arena, d->settings),
			path),
		.headers = headers,
		.body = body ? mr_bytes_text(body) : mr_bytes_of(NULL, 0),
		.timeout_ms = ASK_MS,
		.max_bytes = ANSWER_BYTES,
		.is_direct = true,
		.socket = d->over_tcp ? NULL
				      : mr_locations_socket(arena, d->settings,
						(int)mr_settings_int(d->settings, "http.port")),
	};

	if (mr_settings_may_send(d->settings, "http.bearer_token", "http.host", &d->call->cx.err) ||
		mr_settings_may_send(d->settings, "http.bearer_token", "http.port",
			&d->call->cx.err))
		return d->call->cx.err.code;
	if (!mr_str_is_empty(d->token))
		headers[2] = mr_arena_printf(arena, "Authorization: Bearer %s", d->token);
	return mr_http_client_send(arena, &request, out, &d->call->cx.err);
}

/* A text in the answer, by a path of keys; NULL when it is not there. */
static const char *told(struct doctor *d, const struct mr_http_client_response *answer,
	const char *const *path)
{
	const struct mr_value *value;
	struct mr_err ignored;

	if (mr_json_parse(d->call->cx.arena, answer->body, NULL, &value, &ignored))
		return NULL;
	value = mr_client_json_at(value, path);
	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* True when it is ours, and answers. */
static bool check_server(struct doctor *d)
{
	static const char *const status[] = { "status", NULL };
	const char *server = mr_locations_server(d->call->cx.arena, d->settings);
	struct mr_http_client_response answer;
	const char *said;

	if (mr_settings_int(d->settings, "http.port") == 0) {
		say(d, "server", WARNING, "set http.port", "http.port is 0, so it cannot be found");
		return false;
	}
	if (ask(d, "/health", NULL, &answer)) {
		if (d->starts_own && !d->needs_server && !d->goes_far)
			say(d, "server", FINE, NULL,
				"none at %s, and none is needed: the clients here start their own",
				server);
		else
			say(d, "server", d->needs_server ? PROBLEM : WARNING, "mailroom serve",
				"nothing answers at %s", server);
		return false;
	}
	said = told(d, &answer, status);
	if (answer.status == 200 && mr_str_eq(said, "ok")) {
		say(d, "server", FINE, NULL, "answers at %s", server);
		return true;
	}
	if (answer.status == 503)
		say(d, "server", PROBLEM, "see its log", "the server at %s is in trouble", server);
	else
		say(d, "server", PROBLEM, "stop it, or set another http.port",
			"what answers at %s is not Mailroom", server);
	return false;
}

static void check_same_storage(struct doctor *d)
{
	static const char *const path[] = { "result", "structuredContent", "storage_root", NULL };
	struct mr_http_client_response answer;
	const char *root, *theirs;

	if (mr_settings_path(d->settings, "storage.root", &root, &d->call->cx.err))
		return;
	root = mr_locations_absolute(d->call->cx.arena, root);
	if (ask(d, "/mcp",
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		    "{\"name\":\"health_check\",\"arguments\":{}}}",
		    &answer))
		return;
	theirs = told(d, &answer, path);
	if (theirs && *theirs == '/' && !mr_str_eq(theirs, root))
		say(d, "server", PROBLEM,
			"give both the same STORAGE_ROOT: what one stores the other does not see",
			"it keeps data in %s, and here %s is set", theirs, root);
}

static enum mr_code initialize(struct doctor *d, struct mr_http_client_response *out)
{
	static const char message[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
		"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":"
		"{\"name\":\"mailroom-doctor\",\"version\":\"" MR_VERSION "\"}}}";

	return ask(d, "/mcp", message, out);
}

static bool is_refused(const struct mr_http_client_response *answer)
{
	return answer->status == 401 || answer->status == 403;
}

/* Is a client that sends this token (or none) let in over TCP? */
static bool is_let_in(struct doctor *d, const char *token)
{
	struct mr_http_client_response answer;

	d->over_tcp = true;
	d->token = token;
	return !initialize(d, &answer) && !is_refused(&answer);
}

/* Do the clients here send what the server asks for? It is asked as they ask it. */
static void check_token(struct doctor *d)
{
	struct mr_arena *arena = d->call->cx.arena;
	const char *token = getenv(MR_CLIENT_TOKEN_ENV), *asked = d->token;
	bool is_set = !mr_str_is_empty(token), was_over_tcp = d->over_tcp;

	if (d->bare && !is_let_in(d, NULL))
		say(d, "token", PROBLEM,
			mr_arena_printf(arena,
				"mailroom connect %s --with-token, and export " MR_CLIENT_TOKEN_ENV
				" with the server's token where you start it",
				d->bare),
			"the server asks for a token, and %s sends none", d->bare);
	if (d->sender && !is_let_in(d, is_set ? token : NULL))
		say(d, "token", PROBLEM,
			is_set ? "set it to the server's token (HTTP_BEARER_TOKEN where it runs)"
			       : "export " MR_CLIENT_TOKEN_ENV
				 " with the server's token where you start your coding agent",
			is_set ? "the server does not accept the token in " MR_CLIENT_TOKEN_ENV
			       : "the server asks for a token, and " MR_CLIENT_TOKEN_ENV
				 " is not set here");
	d->over_tcp = was_over_tcp;
	d->token = asked;
}

static void check_mcp(struct doctor *d)
{
	static const char *const name[] = { "result", "serverInfo", "name", NULL };
	static const char *const version[] = { "result", "serverInfo", "version", NULL };
	static const char *const protocol[] = { "result", "protocolVersion", NULL };
	const char *url = mr_locations_url(d->call->cx.arena, d->settings);
	struct mr_http_client_response answer;

	if (initialize(d, &answer)) {
		say(d, "mcp", PROBLEM, "see the server's log", "%s: %s", url, why(d));
	} else if (is_refused(&answer) && (d->bare || d->sender)) {
		/* The clients' own tokens say it. */
		say(d, "mcp", FINE, NULL, "%s asks for a token", url);
	} else if (is_refused(&answer)) {
		say(d, "mcp", WARNING,
			"export " MR_CLIENT_TOKEN_ENV " with the server's token, so that more can "
			"be looked at",
			"%s asks for a token, and the one here, if any, is not right", url);
	} else if (answer.status != 200 || !mr_str_eq(told(d, &answer, name), "mailroom")) {
		say(d, "mcp", PROBLEM, "see the server's log", "%s answered with status %d", url,
			answer.status);
	} else if (!mr_str_eq(told(d, &answer, version), MR_VERSION)) {
		say(d, "mcp", WARNING, "start the server again",
			"%s is version %s, and this is " MR_VERSION, url,
			told(d, &answer, version));
	} else {
		say(d, "mcp", FINE, NULL, "%s speaks %s", url, told(d, &answer, protocol));
		check_same_storage(d);
	}
	check_token(d);
}

/* ---- the whole ---- */

static enum mr_code examine_all(struct mr_call *call, const struct where *request,
	struct examined *out)
{
	struct doctor d = { .call = call, .settings = call->app->settings, .out = out };
	enum mr_code rc =
		mr_locations_project(call->cx.arena, request->project, &d.project, &call->cx.err);

	if (rc)
		return rc;
	d.token = mr_settings_text(d.settings, "http.bearer_token");
	if (mr_str_is_empty(d.token))
		d.token = getenv(MR_CLIENT_TOKEN_ENV);
	out->ok = true;
	out->checks = mr_arena_array(call->cx.arena, CHECKS_MAX, sizeof(*out->checks));
	check_settings(&d);
	if (check_storage(&d))
		check_database(&d);
	check_mailbox(&d);
	check_wake_ups(&d);
	check_git(&d);
	check_clients(&d);
	check_guard(&d);
	if (check_server(&d))
		check_mcp(&d);
	call->exit_status = !out->ok;
	return MR_OK;
}
MR_BIND_ALONE(examine, examine_all, struct where, struct examined);

static const char *text_in(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static void render(struct mr_buf *out, const struct mr_value *result, const struct mr_render *how)
{
	const struct mr_value *checks = mr_value_get(result, "checks");

	for (size_t i = 0; i < checks->list.len; i++) {
		const struct mr_value *check = &checks->list.items[i];
		const char *state = text_in(check, "state"), *advice = text_in(check, "advice");
		const char *colour = mr_str_eq(state, "ok") ? "\033[32m"
			: mr_str_eq(state, "warning")       ? "\033[33m"
							    : "\033[31m";

		mr_buf_printf(out, "%s%-7s%s  %-11s  ", how->colour ? colour : "", state,
			how->colour ? "\033[0m" : "", text_in(check, "name"));
		mr_render_text(out, text_in(check, "detail"));
		mr_buf_putc(out, '\n');
		if (!advice)
			continue;
		mr_buf_printf(out, "%*s-> ", 22, "");
		mr_render_text(out, advice);
		mr_buf_putc(out, '\n');
	}
}

const struct mr_op mr_op_doctor = {
	.name = "doctor",
	.command = "doctor",
	.summary = "Check everything that agents need here to talk to each other",
	.help = "Settings, storage, database, archive, the mailbox root, git, the coding agents' "
		"programs, the commit "
		"guard, the server and its MCP: a line each, and what to do. Ends with 1 when "
		"something must be mended.",
	.params = params,
	.result = result_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &examine,
	.render = render,
};
