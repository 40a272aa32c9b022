/* op/team/team_guard.c - operations: install and remove the git hooks that check leases. */
#include "op/team/team_guard.h"

#include "app/locations.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/reach.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *set_or_null(const struct mr_settings *settings, const char *key)
{
	const char *text = mr_settings_text(settings, key);

	return mr_str_is_empty(text) ? NULL : text;
}

static enum mr_code read_mode(struct mr_call *call, enum mr_guard_mode *out)
{
	static const struct {
		const char *word;
		enum mr_guard_mode mode;
	} words[] = { { "", MR_GUARD_BLOCK }, { "block", MR_GUARD_BLOCK },
		{ "enforce", MR_GUARD_BLOCK }, { "warn", MR_GUARD_WARN },
		{ "advisory", MR_GUARD_WARN }, { "adv", MR_GUARD_WARN } };
	const char *word =
		mr_str_trim(call->cx.arena, mr_settings_text(call->app->settings, "guard.mode"));

	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (mr_str_eq_nocase(words[i].word, word)) {
			*out = words[i].mode;
			return MR_OK;
		}
	}
	return mr_team_refuse(&call->cx, "guard.mode",
		"AGENT_MAIL_GUARD_MODE must be block or warn, not \"%s\"", word);
}

/* AGENT_MAIL_URL is an http URL, or the Unix socket of a server of this user: unix:/path. */
static enum mr_code read_server(struct mr_call *call, struct mr_guard_setup *setup)
{
	static const char scheme[] = "unix:";
	const struct mr_settings *s = call->app->settings;

	setup->url = mr_settings_text(s, "guard.url");
	setup->token = mr_settings_text(s, "guard.token");
	setup->only_socket = mr_str_starts(setup->url, scheme);
	if (!setup->only_socket) {
		setup->socket = mr_locations_socket_of(call->cx.arena, s, setup->url);
		return MR_OK;
	}
	setup->socket = setup->url + strlen(scheme);
	setup->url = "http://localhost/mcp";
	return *setup->socket == '/' ? MR_OK
				     : mr_team_refuse(&call->cx, "guard.url",
					       "AGENT_MAIL_URL: unix: must be followed by the "
					       "absolute path of a socket");
}

enum mr_code mr_guard_setup(struct mr_call *call, struct mr_guard_setup *out)
{
	const struct mr_settings *s = call->app->settings;
	struct mr_guard_setup setup = {
		.agent = set_or_null(s, "guard.agent"),
		.strict = mr_settings_bool(s, "guard.strict"),
		.project = set_or_null(s, "guard.project"),
	};
	const char *root;
	enum mr_code rc = read_mode(call, &setup.mode);

	if (!rc)
		rc = mr_settings_may_send(s, "guard.token", "guard.url", &call->cx.err);
	if (!rc)
		rc = read_server(call, &setup);
	if (!rc)
		rc = mr_settings_path(s, "storage.root", &root, &call->cx.err);
	if (rc)
		return rc;
	if (!mr_str_to_bool(mr_settings_text(s, "guard.bypass"), &setup.bypass))
		setup.bypass = false;
	if (mr_team_home_config(call, &setup.config)) {
		setup.config = mr_team_config_default(root);
		call->cx.err = (struct mr_err){ 0 };
	}
	*out = setup;
	return MR_OK;
}

const char *mr_guard_session(void)
{
	static const char *const names[] = { "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		if (!mr_str_is_empty(getenv(names[i])))
			return getenv(names[i]);
	}
	return NULL;
}

bool mr_guard_is_agent(const struct mr_guard_setup *setup)
{
	static const char *const names[] = { "AI_AGENT", "CLAUDECODE", "CODEX_THREAD_ID",
		"CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		if (!mr_str_is_empty(getenv(names[i])))
			return true;
	}
	return setup->agent || !isatty(STDERR_FILENO);
}

struct mr_team_guard_question mr_guard_question(const struct mr_guard_setup *setup,
	const struct mr_team_guard_place *place)
{
	return (struct mr_team_guard_question){
		.config = &setup->config,
		.place = place,
		.project_key = setup->project,
		.agent = setup->agent,
		.session = mr_guard_session(),
		.url = setup->url,
		.token = setup->token,
		.socket = setup->socket,
		.only_socket = setup->only_socket,
	};
}

static const char *const alias_repo[] = { "target_repo_path", "repo", NULL };

static const char *const states[] = {
	[MR_TEAM_GUARD_ABSENT] = "absent",
	[MR_TEAM_GUARD_FOREIGN] = "foreign",
	[MR_TEAM_GUARD_INSTALLED] = "installed",
};

static void put_state(struct mr_out *out, const char *key, const void *from)
{
	const enum mr_team_guard_state *state = from;

	mr_out_text(out, key, states[*state]);
}

static const struct mr_field hook_fields[] = {
	MR_FIELD(struct mr_team_guard_hook, name, "name"),
	MR_FIELD(struct mr_team_guard_hook, path, "path"),
	MR_FIELD(struct mr_team_guard_hook, state, "state", .emit = put_state,
		.summary = "installed, foreign or absent"),
	MR_FIELD(struct mr_team_guard_hook, chained, "chained",
		.summary = "another hook is run first"),
	{ 0 },
};

/* What all three operations tell of a repository's hooks. */
struct shown {
	struct mr_team_guard_hooks found;
	const struct mr_team_guard_hook *hooks; /* found.items */
	size_t hook_count;
	struct mr_texts warnings;
};

#define HOOKS_FIELD(result_type)                                                                   \
	MR_FIELD_ROWS(result_type, shown.hooks, shown.hook_count, struct mr_team_guard_hook,       \
		hook_fields, "hooks")

/* What is out of the ordinary about the place where hooks are, and `more`. */
static void show(struct mr_arena *arena, struct shown *shown, const struct mr_texts *more)
{
	const struct mr_team_guard_hooks *found = &shown->found;
	size_t room = 2 + (more ? more->len : 0);
	struct mr_texts *warnings = &shown->warnings;

	shown->hooks = found->items;
	shown->hook_count = MR_TEAM_GUARD_HOOKS;
	warnings->items = mr_arena_array(arena, room, sizeof(*warnings->items));
	if (found->shared)
		warnings->items[warnings->len++] = mr_arena_printf(arena,
			"%s (core.hooksPath) is outside the repository: its hooks are for "
			"every repository that looks there",
			found->directory);
	if (mr_str_ends(found->directory, "/.husky/_"))
		warnings->items[warnings->len++] =
			"husky writes this directory anew when it is installed: better put "
			"`mailroom guard check --hook pre-commit` into .husky/pre-commit";
	for (size_t i = 0; more && i < more->len; i++)
		warnings->items[warnings->len++] = more->items[i];
}

static enum mr_code program_path(struct mr_call *call, const char **out)
{
	static const char gone[] = " (deleted)";
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		return mr_err_os(&call->cx.err, errno, "cannot find the path of this program");
	path[len] = '\0';
	/* The program file was replaced by a newer one while it ran. */
	if (mr_str_ends(path, gone))
		len -= (ssize_t)strlen(gone);
	*out = mr_arena_strndup(call->cx.arena, path, (size_t)len);
	return MR_OK;
}

/* The same error whether or not the directory exists: the caller must not learn that. */
static enum mr_code out_of_reach(struct mr_call *call, const char *path)
{
	mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED,
		"%s is no directory that you may name here: the owner of the server "
		"(PROJECT_ROOTS), or the client that started it, says which you may; on its "
		"machine: mailroom guard",
		path);
	return mr_team_fail_text(&call->cx, "argument", "code_repo_path");
}

static enum mr_code check_reach(struct mr_call *call, const char *path, const char *named)
{
	const char *real = NULL;
	enum mr_code rc = mr_reach_dir(&call->cx, path, &real);

	return rc || real ? rc : out_of_reach(call, named);
}

/* core.hooksPath may place the hooks far from the directory that the caller named. */
static enum mr_code check_hooks(struct mr_call *call, const struct mr_team_guard_place *place,
	const char *named)
{
	const char *directory;
	bool shared;
	enum mr_code rc = mr_team_guard_hooks_dir(&call->cx, place, &directory, &shared);

	if (rc)
		return rc;
	if (!mr_fs_exists(AT_FDCWD, directory)) /* it will be made */
		directory = mr_arena_strndup(call->cx.arena, directory,
			(size_t)(strrchr(directory, '/') - directory));
	rc = check_reach(call, place->top, named);
	return rc ? rc : check_reach(call, directory, named);
}

/* The repository around a directory that the caller may name; git is run nowhere else. */
static enum mr_code find_place(struct mr_call *call, const char *path,
	struct mr_team_guard_place *out)
{
	enum mr_code rc = MR_OK;

	if (call->cx.reach)
		rc = check_reach(call, mr_locations_absolute(call->cx.arena, path), path);
	if (!rc)
		rc = mr_team_guard_place(&call->cx, path, out);
	if (!rc && call->cx.reach)
		rc = check_hooks(call, out, path);
	return rc;
}

struct install {
	const char *project_key, *code_repo_path;
};

static const struct mr_param install_params[] = {
	MR_TEAM_PROJECT(struct install),
	MR_PARAM(struct install, code_repo_path, "code_repo_path", .flags = MR_POSITIONAL,
		.summary = "the repository, or a directory in it",
		.fallback = "the path of the project", .aliases = alias_repo),
	{ 0 },
};

struct installed {
	const char *hook, *project;
	struct shown shown;
};

static const struct mr_field install_fields[] = {
	MR_FIELD(struct installed, hook, "hook", .summary = "the pre-commit hook"),
	HOOKS_FIELD(struct installed),
	MR_FIELD(struct installed, project, "project"),
	MR_FIELD(struct installed, shown.warnings, "warnings"),
	{ 0 },
};

static bool is_path(const char *key)
{
	return *key == '/' || mr_str_eq(key, ".") || mr_str_starts(key, "./") ||
		mr_str_starts(key, "../");
}

/* A key; or the path of a repository, which becomes a project unless it is one. */
static enum mr_code find_project(struct mr_call *call, struct mr_team *team, const char *key,
	struct mr_team_project *out)
{
	struct mr_team_guard_place place;
	enum mr_code rc = MR_OK;

	if (is_path(key) && *key != '/') {
		rc = find_place(call, key, &place);
		key = rc ? key : place.top;
	}
	if (!rc)
		rc = mr_team_ask_project(&call->cx, team, key, out);
	if (rc == MR_ENOTFOUND && is_path(key) &&
		!*mr_settings_text(call->app->settings, "guard.url")) {
		struct mr_err unknown = call->cx.err;

		if (!find_place(call, key, &place))
			return mr_team_project_ensure(&call->cx, team, key, NULL, out);
		call->cx.err = unknown;
	}
	/* The project is kept by another server, which the hooks will ask. */
	if (rc == MR_ENOTFOUND && *mr_settings_text(call->app->settings, "guard.url")) {
		call->cx.err = (struct mr_err){ 0 };
		*out = (struct mr_team_project){ .human_key = key };
		rc = MR_OK;
	}
	return rc;
}

static enum mr_code install_hooks(struct mr_call *call, struct mr_team *team,
	const struct install *request, struct installed *out)
{
	const char *repo = request->code_repo_path;
	struct mr_team_guard_install how = { 0 };
	struct mr_team_guard_place place;
	struct mr_team_project project;
	enum mr_code rc = find_project(call, team, request->project_key, &project);

	if (!rc)
		rc = find_place(call, repo ? repo : project.human_key, &place);
	if (!rc)
		rc = program_path(call, &how.program);
	if (rc)
		return rc;
	how.project_key = project.human_key;
	how.storage_root = mr_team_guard_real(call->cx.arena, mr_team_config(team)->storage_root);
	/* A server's address may have a password, which does not belong into a hook. */
	if (*mr_settings_shown(call->cx.arena, call->app->settings, "database.url") &&
		mr_team_database_is_file(team))
		how.database = mr_team_guard_real(call->cx.arena, mr_team_config(team)->database);
	rc = mr_team_guard_hooks_install(&call->cx, &place, &how, &out->shown.found);
	if (rc)
		return rc;
	show(call->cx.arena, &out->shown, NULL);
	out->hook = out->shown.hooks[0].path;
	out->project = project.human_key;
	return MR_OK;
}
MR_TEAM_BIND_CALL(install, install_hooks, struct install, struct installed);

const struct mr_op mr_op_guard_install = {
	.name = "install_precommit_guard",
	.command = "guard install",
	.summary = "Install git hooks that refuse commits and pushes of files others hold",
	.help = "Use it once in a repository that several agents share. Hooks pre-commit and "
		"pre-push of the repository. A hook that is there is kept "
		"and "
		"run first. Commits then need AGENT_NAME; AGENT_MAIL_GUARD_MODE=warn only warns, "
		"AGENT_MAIL_BYPASS=1 lets one through.",
	.cluster = "infrastructure",
	.params = install_params,
	.result = install_fields,
	.needs = MR_NEED_WRITE | MR_NEED_ADMIN,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &install,
};

struct where {
	const char *code_repo_path;
};

static const struct mr_param uninstall_params[] = {
	MR_PARAM(struct where, code_repo_path, "code_repo_path",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the repository, or a directory in it", .aliases = alias_repo),
	{ 0 },
};

struct uninstalled {
	bool removed;
	struct shown shown;
};

static const struct mr_field uninstall_fields[] = {
	MR_FIELD(struct uninstalled, removed, "removed", .summary = "there was one of ours"),
	HOOKS_FIELD(struct uninstalled),
	{ 0 },
};

static enum mr_code remove_hooks(struct mr_call *call, const struct where *request,
	struct uninstalled *out)
{
	struct mr_team_guard_place place;
	enum mr_code rc = find_place(call, request->code_repo_path, &place);

	if (!rc)
		rc = mr_team_guard_hooks_remove(&call->cx, &place, &out->removed,
			&out->shown.found);
	if (!rc)
		show(call->cx.arena, &out->shown, NULL);
	return rc;
}
MR_BIND_ALONE(uninstall, remove_hooks, struct where, struct uninstalled);

const struct mr_op mr_op_guard_uninstall = {
	.name = "uninstall_precommit_guard",
	.command = "guard uninstall",
	.summary = "Take the guard's hooks away, and put back what was there",
	.help = "Use it when a repository is no longer shared. Nothing else of the project "
		"changes.",
	.cluster = "infrastructure",
	.params = uninstall_params,
	.result = uninstall_fields,
	.needs = MR_NEED_WRITE | MR_NEED_ADMIN,
	.traits = MR_IDEMPOTENT | MR_DESTRUCTIVE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &uninstall,
};

static const struct mr_param status_params[] = {
	MR_PARAM(struct where, code_repo_path, "code_repo_path", .flags = MR_POSITIONAL,
		.summary = "the repository, or a directory in it", .fallback = ".",
		.aliases = alias_repo),
	{ 0 },
};

struct status {
	const char *repository;
	struct shown shown;
	struct mr_guard_setup setup;
	const char *mode, *project;
	struct mr_team_guard_answer answer;
};

static const struct mr_field status_fields[] = {
	MR_FIELD(struct status, repository, "repository"),
	MR_FIELD(struct status, shown.found.directory, "hooks_directory"),
	HOOKS_FIELD(struct status),
	MR_FIELD(struct status, setup.agent, "agent", .flags = MR_NULLABLE,
		.summary = "AGENT_NAME"),
	MR_FIELD(struct status, mode, "mode", .summary = "block or warn"),
	MR_FIELD(struct status, setup.bypass, "bypass"),
	MR_FIELD(struct status, project, "project", .flags = MR_NULLABLE),
	MR_FIELD(struct status, answer.source, "source", .flags = MR_NULLABLE,
		.summary = "where leases are read: database, archive or server"),
	MR_FIELD(struct status, answer.leases, "leases",
		.summary = "exclusive ones that others hold"),
	MR_FIELD(struct status, shown.warnings, "warnings"),
	{ 0 },
};

static enum mr_code look_at_hooks(struct mr_call *call, const struct where *request,
	struct status *out)
{
	const char *repo = request->code_repo_path;
	struct mr_team_guard_question question;
	struct mr_team_guard_place place;
	enum mr_code rc = mr_guard_setup(call, &out->setup);

	if (!rc)
		rc = mr_team_guard_place(&call->cx, repo ? repo : ".", &place);
	if (!rc)
		rc = mr_team_guard_hooks_look(&call->cx, &place, &out->shown.found);
	question = mr_guard_question(&out->setup, &place);
	if (!rc)
		rc = mr_team_guard_ask(&call->cx, &question, &out->answer);
	if (rc)
		return rc;
	show(call->cx.arena, &out->shown, &out->answer.warnings);
	out->repository = place.top;
	out->mode = out->setup.mode == MR_GUARD_WARN ? "warn" : "block";
	out->project = out->answer.source ? out->answer.project.human_key : NULL;
	return MR_OK;
}
MR_BIND_ALONE(status, look_at_hooks, struct where, struct status);

const struct mr_op mr_op_guard_status = {
	.name = "guard_status",
	.command = "guard status",
	.summary = "Show which hooks are installed, and what they would ask",
	.params = status_params,
	.result = status_fields,
	.traits = MR_ABROAD,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &status,
};
