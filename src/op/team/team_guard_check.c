/* op/team/team_guard_check.c - operations: may these files be committed, pushed, edited now? */
#include "op/team/team_guard.h"

#include "base/fs.h"
#include "op/bind.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "text/json.h"

#include <string.h>
#include <unistd.h>

enum { STDIN_BYTES = 64 << 20, SECOND_US = 1000000, MINUTE_S = 60 };

/* --- what is said about a conflict --- */

/* For a shell, in single quotes where that is needed. */
static const char *quoted(struct mr_arena *arena, const char *text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "/._-+@:,";
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	if (*text && text[strspn(text, safe)] == '\0' && *text != '-')
		return text;
	mr_buf_init(&out, 1 << 20);
	mr_buf_putc(&out, '\'');
	for (; *text; text++)
		*text == '\'' ? mr_buf_puts(&out, "'\\''") : mr_buf_putc(&out, *text);
	mr_buf_putc(&out, '\'');
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

/* The command that asks the holder. */
static const char *ask_command(struct mr_arena *arena, const char *project, const char *agent,
	const char *path, const struct mr_team_reservation *lease)
{
	const char *body = mr_arena_printf(arena,
		"May I change %s? You hold %s. Please release it, or tell me when you are done.",
		path, mr_render_line(arena, lease->path_pattern));

	return mr_arena_printf(arena,
		"mailroom team send %s %s --to %s --subject %s --body-md %s --ack-required",
		quoted(arena, project), agent ? quoted(arena, agent) : "YOUR_NAME",
		quoted(arena, lease->agent),
		quoted(arena, mr_arena_printf(arena, "May I change %s?", path)),
		quoted(arena, body));
}

struct holder {
	const char *agent, *path_pattern, *reason, *ask;
	int64_t expires_ts, minutes_left;
	bool expires;
};

static const struct mr_field holder_fields[] = {
	MR_FIELD(struct holder, agent, "agent"),
	MR_FIELD(struct holder, path_pattern, "path_pattern"),
	MR_FIELD(struct holder, reason, "reason"),
	MR_FIELD_TIME(struct holder, expires_ts, "expires_ts", .flags = MR_NULLABLE),
	MR_FIELD(struct holder, minutes_left, "minutes_left", .flags = MR_NULLABLE,
		.when = MR_FLAG(struct holder, expires), .summary = "null: until it is released"),
	MR_FIELD(struct holder, ask, "ask", .summary = "a command that asks the holder"),
	{ 0 },
};

struct conflict {
	const char *path;
	struct holder *holders;
	size_t len;
};

static const struct mr_field conflict_fields[] = {
	MR_FIELD(struct conflict, path, "path"),
	MR_FIELD_ROWS(struct conflict, holders, len, struct holder, holder_fields, "holders"),
	{ 0 },
};

static struct holder holder_of(struct mr_ctx *cx, const char *project, const char *agent,
	const char *path, const struct mr_team_reservation *lease)
{
	int64_t left_s =
		(lease->expires_ts - mr_clock_wall_us(cx->clock) + SECOND_US - 1) / SECOND_US;

	return (struct holder){
		.agent = mr_render_line(cx->arena, lease->agent),
		.path_pattern = mr_render_line(cx->arena, lease->path_pattern),
		.reason = mr_render_line(cx->arena, lease->reason),
		.ask = ask_command(cx->arena, project, agent, path, lease),
		.expires_ts = lease->expires_ts,
		.minutes_left = (left_s + MINUTE_S - 1) / MINUTE_S,
		.expires = lease->expires_ts != 0,
	};
}

/* As many as the answer has. */
static struct conflict *conflicts_of(struct mr_ctx *cx, const struct mr_team_guard_answer *answer,
	const char *agent)
{
	const struct mr_team_conflict *found = answer->conflicts.items;
	struct conflict *all = mr_arena_array(cx->arena, answer->conflicts.len, sizeof(*all));
	const char *project =
		answer->project.human_key ? answer->project.human_key : answer->project.slug;

	for (size_t i = 0; i < answer->conflicts.len; i++) {
		/* Not every name is text. */
		all[i].path = mr_render_line(cx->arena, found[i].path);
		all[i].holders =
			mr_arena_array(cx->arena, found[i].holders.len, sizeof(*all[i].holders));
		for (; all[i].len < found[i].holders.len; all[i].len++)
			all[i].holders[all[i].len] = holder_of(cx, project, agent, all[i].path,
				&found[i].holders.items[all[i].len]);
	}
	return all;
}

/* --- the two ways to be refused --- */

/* 1: another agent holds a file, or AGENT_NAME is missing. 2: the check failed. */
static int check_exit_status(const struct mr_err *err)
{
	return err->code == MR_ECONFLICT || err->code == MR_EAUTH ? 1 : 2;
}

/* What coding agents expect: 2 refuses, anything else but 0 is only told to people. */
static int edit_exit_status(const struct mr_err *err)
{
	return err->code == MR_ECONFLICT ? 2 : 1;
}

static bool tell_conflicts(struct mr_buf *out, const struct mr_err *err,
	const struct mr_render *how)
{
	const struct mr_value *data = mr_team_fail_data(err);

	if (!mr_value_get(data, "conflicts"))
		return false;
	mr_render_guard(out, data, how);
	return true;
}

static const struct mr_contract check_contract = {
	.enter = mr_contract_team_enter,
	.error = mr_contract_team_error,
	.exit_status = check_exit_status,
	.tell = tell_conflicts,
};

static const struct mr_contract edit_contract = {
	.enter = mr_contract_team_enter,
	.error = mr_contract_team_error,
	.exit_status = edit_exit_status,
	.tell = tell_conflicts,
};

/* `what` is commit, push, check or edit: mr_render_guard() words it. */
static enum mr_code refuse(struct mr_call *call, const struct mr_team_guard_answer *answer,
	const char *agent, const char *what)
{
	const struct mr_team_conflict *first = &answer->conflicts.items[0];
	struct mr_out conflicts;

	mr_out_init_tree(&conflicts, call->cx.arena);
	mr_bind_list(&conflicts, NULL, conflict_fields, conflicts_of(&call->cx, answer, agent),
		answer->conflicts.len, sizeof(struct conflict));
	mr_team_fail(&call->cx, MR_TEAM_RESERVATION_CONFLICT,
		"%zu of these files are held by others, %s by %s", answer->conflicts.len,
		mr_render_line(call->cx.arena, first->path), first->holders.items[0].agent);
	mr_team_fail_value(&call->cx, "conflicts", mr_out_tree(&conflicts));
	mr_team_fail_text(&call->cx, "agent", agent);
	return mr_team_fail_text(&call->cx, "what", what);
}

/* --- check --- */

static const char *const hooks[] = { "pre-commit", "pre-push", NULL };

struct asked {
	struct mr_texts paths;
	const char *hook; /* or NULL */
	bool stdin_nul, advisory;
	const char *project, *agent; /* or NULL: as the variables say */
};

#define PROJECT_PARAM                                                                              \
	MR_PARAM(struct asked, project, "project", .summary = "in place of AGENT_MAIL_PROJECT",    \
		.fallback = "that of the repository")

static const struct mr_param check_params[] = {
	MR_PARAM(struct asked, paths, "paths", .flags = MR_POSITIONAL,
		.summary = "files, relative to the top of the repository",
		.fallback = "what is staged"),
	MR_PARAM(struct asked, hook, "hook", .choices = hooks,
		.summary = "which hook asks; pre-push reads what git gives it"),
	MR_PARAM(struct asked, stdin_nul, "stdin_nul",
		.summary = "paths come on standard input, each with a NUL behind",
		.fallback = "false"),
	PROJECT_PARAM,
	MR_PARAM(struct asked, agent, "agent", .summary = "who asks, in place of AGENT_NAME"),
	MR_PARAM(struct asked, advisory, "advisory",
		.summary = "only warn, as AGENT_MAIL_GUARD_MODE=warn", .fallback = "false"),
	{ 0 },
};

struct check {
	const char *status;
	const char *what;
	const char *hook; /* or NULL */
	struct mr_guard_setup setup;
	const char *project; /* of the answer */
	struct mr_texts paths;
	struct mr_team_guard_place place;
	struct mr_team_guard_answer answer;
	struct conflict *conflicts; /* of the answer */
	struct mr_texts warnings;
};

static const struct mr_field check_fields[] = {
	MR_FIELD(struct check, status, "status", .summary = "passed, warned or bypassed"),
	MR_FIELD(struct check, what, "what"),
	MR_FIELD(struct check, hook, "hook", .flags = MR_NULLABLE),
	MR_FIELD(struct check, setup.agent, "agent", .flags = MR_NULLABLE),
	MR_FIELD(struct check, project, "project", .flags = MR_NULLABLE),
	MR_FIELD(struct check, answer.source, "source", .flags = MR_NULLABLE),
	MR_FIELD(struct check, paths.len, "checked", .summary = "files looked at"),
	MR_FIELD_ROWS(struct check, conflicts, answer.conflicts.len, struct conflict,
		conflict_fields, "conflicts"),
	MR_FIELD(struct check, warnings, "warnings"),
	{ 0 },
};

static enum mr_code read_stdin(struct mr_call *call, struct mr_bytes *out)
{
	enum mr_code rc =
		mr_fs_read_fd(call->cx.arena, STDIN_FILENO, STDIN_BYTES, out, &call->cx.err);

	return rc ? mr_err_wrap(&call->cx.err, "standard input") : MR_OK;
}

/* Given by name, from a subdirectory or absolute: as git would list them. */
static struct mr_texts inside_top(struct mr_ctx *cx, const char *top, const struct mr_texts *given)
{
	struct mr_buf all MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = strlen(top);

	mr_buf_init(&all, STDIN_BYTES);
	for (size_t i = 0; i < given->len; i++) {
		const char *path = given->items[i];

		if (*path == '/' || mr_str_starts(path, "./") || mr_str_starts(path, "../"))
			path = mr_team_guard_real(cx->arena, path);
		if (strncmp(path, top, len) == 0 && path[len] == '/')
			path += len + 1;
		mr_buf_add(&all, path, strlen(path) + 1);
	}
	return mr_team_guard_split(cx->arena, mr_buf_bytes(&all));
}

static enum mr_code find_paths(struct mr_call *call, const struct asked *asked, struct check *c)
{
	struct mr_texts given = asked->paths;
	struct mr_bytes text;
	enum mr_code rc = MR_OK;

	if (asked->stdin_nul) {
		rc = read_stdin(call, &text);
		if (!rc)
			given = mr_team_guard_split(call->cx.arena, text);
	}
	if (!rc && (given.len || asked->stdin_nul)) {
		c->paths = inside_top(&call->cx, c->place.top, &given);
		c->what = "check";
		return MR_OK;
	}
	c->what = mr_str_eq(c->hook, "pre-push") ? "push" : "commit";
	if (rc || !mr_str_eq(c->hook, "pre-push"))
		return rc ? rc : mr_team_guard_staged(&call->cx, &c->place, &c->paths);
	rc = read_stdin(call, &text);
	if (!rc && strlen((const char *)text.data) != text.len)
		rc = mr_err_set(&call->cx.err, MR_EFORMAT, "standard input holds a NUL");
	return rc ? rc
		  : mr_team_guard_pushed(&call->cx, &c->place, (const char *)text.data, &c->paths);
}

static enum mr_code look(struct mr_call *call, const struct asked *asked, struct check *c)
{
	struct mr_team_guard_question question = mr_guard_question(&c->setup, &c->place);
	enum mr_code rc = mr_team_guard_place(&call->cx, NULL, &c->place);

	if (!rc)
		rc = find_paths(call, asked, c);
	question.paths = c->paths;
	return rc || !c->paths.len ? rc : mr_team_guard_ask(&call->cx, &question, &c->answer);
}

/* What is told of a check that lets the files through. */
static void conclude(struct mr_ctx *cx, struct check *c, const char *status, const char *warning)
{
	const struct mr_texts *more = &c->answer.warnings;

	c->conflicts = conflicts_of(cx, &c->answer, c->setup.agent);
	c->status = status;
	c->project = c->answer.source ? c->answer.project.human_key : NULL;
	c->warnings.items = mr_arena_array(cx->arena, more->len + 1, sizeof(*c->warnings.items));
	if (warning)
		c->warnings.items[c->warnings.len++] = warning;
	for (size_t i = 0; i < more->len; i++)
		c->warnings.items[c->warnings.len++] = mr_render_line(cx->arena, more->items[i]);
}

#define WHO_ASKS                                                                                   \
	"AGENT_NAME is not set: nobody knows whose leases count. Set it to the name you are "      \
	"registered under (AGENT_NAME=GreenCastle git commit ...), or set AGENT_MAIL_BYPASS=1"

/* The reason to refuse, or NULL with the answer in `c`. In mode warn nothing is refused. */
static enum mr_code decide(struct mr_call *call, const struct asked *asked, struct check *c,
	const char **warning)
{
	bool warns = c->setup.mode == MR_GUARD_WARN;
	enum mr_code rc = look(call, asked, c);

	if (rc && warns) {
		*warning = mr_arena_printf(call->cx.arena, "leases could not be checked: %s",
			call->cx.err.msg);
		c->answer = (struct mr_team_guard_answer){ 0 };
		return MR_OK;
	}
	if (rc)
		return mr_err_wrap(&call->cx.err,
			"leases could not be checked (AGENT_MAIL_BYPASS=1 lets it through)");
	if (c->paths.len && !c->answer.source)
		*warning = c->setup.project
			? mr_arena_printf(call->cx.arena,
				  "there is no project \"%s\" here: leases are not checked",
				  c->setup.project)
			: "this repository is no project here: leases are not checked";
	if (c->answer.source && !c->setup.agent && warns)
		*warning = WHO_ASKS;
	else if (c->answer.source && !c->setup.agent)
		return mr_err_set(&call->cx.err, MR_EAUTH, WHO_ASKS);
	if (c->answer.conflicts.len && !warns)
		return refuse(call, &c->answer, c->setup.agent, c->what);
	return MR_OK;
}

/* As the variables say, but for what was asked for. */
static enum mr_code set_up(struct mr_call *call, const struct asked *asked,
	struct mr_guard_setup *out)
{
	enum mr_code rc = mr_guard_setup(call, out);

	if (rc)
		return rc;
	if (asked->project)
		out->project = asked->project;
	if (asked->agent)
		out->agent = asked->agent;
	if (asked->advisory)
		out->mode = MR_GUARD_WARN;
	return MR_OK;
}

static enum mr_code check_files(struct mr_call *call, const struct asked *asked, struct check *c)
{
	const char *warning = NULL;
	enum mr_code rc = set_up(call, asked, &c->setup);

	c->hook = asked->hook;
	c->what = "check";
	if (rc)
		return rc;
	if (c->setup.bypass) {
		conclude(&call->cx, c, "bypassed", NULL);
		return MR_OK;
	}
	rc = decide(call, asked, c, &warning);
	if (!rc)
		conclude(&call->cx, c, c->answer.conflicts.len ? "warned" : "passed", warning);
	return rc;
}
MR_BIND_ALONE(check, check_files, struct asked, struct check);

const struct mr_op mr_op_guard_check = {
	.name = "guard_check",
	.command = "guard check",
	.summary = "Check that nobody else holds the files of a commit or a push",
	.help = "What the hooks run. Exit 0: nobody does, or only a warning was asked for; 1: "
		"somebody\ndoes; 2: it could not be found out. AGENT_NAME says who asks.",
	.params = check_params,
	.result = check_fields,
	.traits = MR_ABROAD,
	.surfaces = MR_ON_CLI,
	.contract = &check_contract,
	.render = mr_render_guard,
	.bind = &check,
};

/* --- before an edit --- */

static const struct mr_param edit_params[] = {
	MR_PARAM(struct asked, agent, "agent", .summary = "who edits, in place of AGENT_NAME"),
	PROJECT_PARAM,
	{ 0 },
};

struct message {
	const char *text;
};

static const struct mr_field edit_fields[] = {
	MR_FIELD(struct message, text, "systemMessage", .flags = MR_OPTIONAL,
		.summary = "what people are told where nothing is refused"),
	{ 0 },
};

/* A file and the work tree it is in. */
struct target {
	struct mr_team_guard_place place;
	const char *inside;
};

/* As it is named, and as it is when that is a link. */
static size_t add_targets(struct mr_ctx *cx, const char *path, const char *cwd, struct target *out)
{
	const char *real = mr_team_guard_real(cx->arena, path);
	const char *slash = strrchr(path, '/');
	const char *named = mr_arena_printf(cx->arena, "%s/%s",
		mr_team_guard_real(cx->arena,
			mr_arena_strndup(cx->arena, path, (size_t)(slash - path) + 1)),
		slash + 1);
	size_t len = 0;

	if (mr_team_guard_locate(cx, real, cwd, &out[len].place, &out[len].inside))
		len++;
	if (!mr_str_eq(real, named) && !strstr(named, "/../") &&
		mr_team_guard_locate(cx, named, cwd, &out[len].place, &out[len].inside))
		len++;
	return len;
}

/* All files of one work tree at once; those of others later. */
static enum mr_code ask_tree(struct mr_call *call, const struct mr_guard_setup *setup,
	struct target *targets, size_t *count, struct mr_team_guard_answer *out)
{
	struct target first = targets[0];
	struct mr_team_guard_question question = mr_guard_question(setup, &first.place);
	size_t kept = 0;

	question.quick = true;
	question.paths.items = mr_arena_array(call->cx.arena, *count + 1, sizeof(const char *));
	for (size_t i = 0; i < *count; i++) {
		if (mr_str_eq(targets[i].place.top, first.place.top))
			question.paths.items[question.paths.len++] = targets[i].inside;
		else
			targets[kept++] = targets[i];
	}
	*count = kept;
	return mr_team_guard_ask(&call->cx, &question, out);
}

/* Failures are ignored: only a lease stops an edit. */
static enum mr_code look_at_edit(struct mr_call *call, const struct mr_guard_setup *setup,
	struct mr_team_guard_answer *answer)
{
	struct mr_arena *arena = call->cx.arena;
	const char *here = mr_team_guard_real(arena, ".");
	struct mr_team_guard_edit edit;
	struct target *targets;
	struct mr_bytes text;
	size_t count = 0;
	enum mr_code rc = read_stdin(call, &text);

	if (!rc)
		rc = mr_team_guard_edit_read(arena, text, here, &edit, &call->cx.err);
	if (rc || !edit.writes)
		return rc;
	here = mr_team_guard_real(arena, edit.cwd);
	targets = mr_arena_array(arena, 2 * edit.paths.len + 1, sizeof(*targets));
	for (size_t i = 0; i < edit.paths.len; i++)
		count += add_targets(&call->cx, edit.paths.items[i], here, targets + count);
	while (count > 0 && !answer->conflicts.len && !rc)
		rc = ask_tree(call, setup, targets, &count, answer);
	return rc;
}

/* For the person at the editor; the edit goes on. */
static const char *message_of(struct mr_arena *arena, const struct mr_team_guard_answer *answer,
	const struct mr_guard_setup *setup)
{
	const struct mr_team_conflict *first = &answer->conflicts.items[0];
	const struct mr_team_reservation *lease = &first->holders.items[0];

	return mr_arena_printf(arena, "mailroom guard: %s holds %s (%s)%s",
		mr_render_line(arena, lease->agent), mr_render_line(arena, first->path),
		mr_render_line(arena, lease->path_pattern),
		setup->agent ? ""
			     : "; AGENT_NAME is not set, so nobody knows whether that is this "
			       "agent");
}

/* An edit that nothing is said about has no result at all, not even an empty one. */
static enum mr_code check_edit(struct mr_call *call, const struct asked *asked, struct message *out)
{
	struct mr_team_guard_answer answer = { 0 };
	struct mr_guard_setup setup;
	enum mr_code rc = set_up(call, asked, &setup);

	call->is_silent = true;
	if (rc || setup.bypass)
		return rc;
	rc = look_at_edit(call, &setup, &answer);
	if (rc || !answer.conflicts.len)
		return rc == MR_EFORMAT ? rc : MR_OK;
	if (setup.agent && setup.mode == MR_GUARD_BLOCK)
		return refuse(call, &answer, setup.agent, "edit");
	call->is_silent = false;
	out->text = message_of(call->cx.arena, &answer, &setup);
	return MR_OK;
}
MR_BIND_ALONE(edit, check_edit, struct asked, struct message);

static void render_edit(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_json_writer json;

	(void)how;
	mr_json_init(&json, out, MR_JSON_COMPACT);
	mr_json_value(&json, value);
	mr_buf_putc(out, '\n');
}

const struct mr_op mr_op_guard_edit = {
	.name = "guard_pre_tool_use",
	.command = "guard hook pre-tool-use",
	.summary = "Refuse an edit of a file that another agent holds",
	.help = "For a coding agent's hook before it uses a tool: reads its JSON on standard "
		"input\n({\"tool_name\": \"Edit\", \"tool_input\": {\"file_path\": ...}, \"cwd\": "
		"...}). Exit 2, with the\nreason on standard error: somebody else holds the file. "
		"Exit 0: go on. It never waits for\na server and never stops an edit for want of "
		"storage.",
	.params = edit_params,
	.result = edit_fields,
	.traits = MR_ABROAD,
	.surfaces = MR_ON_CLI,
	.contract = &edit_contract,
	.render = render_edit,
	.bind = &edit,
};
