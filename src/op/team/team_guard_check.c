/* op/team/team_guard_check.c - operation: may these files be committed or pushed now? */
#include "op/team/team_guard.h"

#include "app/locations.h"
#include "base/fs.h"
#include "op/bind.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "text/json.h"

#include <string.h>
#include <unistd.h>

enum { STDIN_BYTES = 64 << 20, CALL_BYTES = 64 << 10, SECOND_US = 1000000, MINUTE_S = 60 };

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

struct asking {
	struct mr_arena *arena;
	const struct mr_team_guard_answer *answer;
	const char *project, *path;
	bool is_edit;
};

/* The command that asks the holder; who has no name in the project gets one with it. */
static const char *ask_command(const struct asking *ask, const struct mr_team_reservation *lease)
{
	struct mr_arena *arena = ask->arena;
	const char *program = quoted(arena, mr_locations_program(arena));
	const char *project = quoted(arena, ask->project);
	const char *sender = ask->answer->sender;
	const char *register_first = "";

	if (!sender && ask->answer->free_name) {
		sender = ask->answer->free_name;
		register_first = mr_arena_printf(arena,
			"%s team register %s %s --program shell --model none && ", program, project,
			sender);
	} else if (!sender) {
		sender = ask->answer->agent ? ask->answer->agent : "YOUR_NAME";
	}
	return mr_arena_printf(arena,
		"%s%s team send %s %s --to %s --subject %s --body-md %s --ack-required",
		register_first, program, project, quoted(arena, sender),
		quoted(arena, lease->agent),
		quoted(arena, mr_arena_printf(arena, "May I change %s?", ask->path)),
		quoted(arena,
			mr_arena_printf(arena,
				"May I change %s? You hold %s. Please release it, or tell me when "
				"you are done.",
				ask->path, mr_render_line(arena, lease->path_pattern))));
}

/* The same as a tool call. */
static const char *ask_call(const struct asking *ask, const struct mr_team_reservation *lease)
{
	struct mr_arena *arena = ask->arena;
	const char *sender = ask->answer->sender ? ask->answer->sender : ask->answer->agent;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	struct mr_out out;

	if (!sender || ask->answer->free_name)
		return NULL; /* the command makes the sender first */
	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "project_key", ask->project);
	mr_out_text(&out, "sender_name", sender);
	mr_out_list(&out, "to");
	mr_out_text(&out, NULL, lease->agent);
	mr_out_end(&out);
	mr_out_text(&out, "subject", mr_arena_printf(arena, "May I change %s?", ask->path));
	mr_out_text(&out, "body_md",
		mr_arena_printf(arena,
			"You hold %s. Please release it, or tell me when you are done.",
			mr_render_line(arena, lease->path_pattern)));
	mr_out_bool(&out, "ack_required", true);
	mr_out_end(&out);
	mr_buf_init(&text, CALL_BYTES);
	mr_json_init(&json, &text, MR_JSON_SPACED);
	mr_json_value(&json, mr_out_tree(&out));
	return mr_arena_printf(arena, "send_message %s", mr_buf_text(&text));
}

struct holder {
	const char *agent, *path_pattern, *reason, *ask, *call;
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
	MR_FIELD(struct holder, ask, "ask", .flags = MR_OPTIONAL,
		.summary = "a command that asks the holder, unless a server knows it"),
	MR_FIELD(struct holder, call, "call", .flags = MR_OPTIONAL,
		.summary = "of an edit, and for a server: a tool call that does the same"),
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

/* A command line would write to the storage here: what a server holds is asked by a tool call. */
static struct holder holder_of(struct mr_ctx *cx, const struct asking *ask,
	const struct mr_team_reservation *lease)
{
	int64_t left_s =
		(lease->expires_ts - mr_clock_wall_us(cx->clock) + SECOND_US - 1) / SECOND_US;
	bool is_far = mr_str_eq(ask->answer->source, "server");

	return (struct holder){
		.agent = mr_render_line(cx->arena, lease->agent),
		.path_pattern = mr_render_line(cx->arena, lease->path_pattern),
		.reason = mr_render_line(cx->arena, lease->reason),
		.ask = is_far ? NULL : ask_command(ask, lease),
		.call = is_far || ask->is_edit ? ask_call(ask, lease) : NULL,
		.expires_ts = lease->expires_ts,
		.minutes_left = (left_s + MINUTE_S - 1) / MINUTE_S,
		.expires = lease->expires_ts != 0,
	};
}

/* As many as the answer has. */
static struct conflict *conflicts_of(struct mr_ctx *cx, const struct mr_team_guard_answer *answer,
	bool is_edit)
{
	const struct mr_team_conflict *found = answer->conflicts.items;
	struct conflict *all = mr_arena_array(cx->arena, answer->conflicts.len, sizeof(*all));
	const struct mr_team_project *project = &answer->project;
	struct asking ask = { .arena = cx->arena,
		.answer = answer,
		.project = project->human_key ? project->human_key : project->slug,
		.is_edit = is_edit };

	for (size_t i = 0; i < answer->conflicts.len; i++) {
		/* Not every name is text. */
		all[i].path = mr_render_line(cx->arena, found[i].path);
		ask.path = all[i].path;
		all[i].holders =
			mr_arena_array(cx->arena, found[i].holders.len, sizeof(*all[i].holders));
		for (; all[i].len < found[i].holders.len; all[i].len++)
			all[i].holders[all[i].len] =
				holder_of(cx, &ask, &found[i].holders.items[all[i].len]);
	}
	return all;
}

/* --- the two ways to be refused --- */

/* 1: another agent holds a file, or AGENT_NAME is missing. 2: the check failed. */
static int check_exit_status(const struct mr_err *err)
{
	return err->code == MR_ECONFLICT || err->code == MR_EAUTH ? 1 : 2;
}

bool mr_guard_tell(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how)
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
	.tell = mr_guard_tell,
};

enum mr_code mr_guard_refuse(struct mr_call *call, const struct mr_team_guard_answer *answer,
	const char *what)
{
	const struct mr_team_conflict *first = &answer->conflicts.items[0];
	struct mr_out conflicts;

	mr_out_init_tree(&conflicts, call->cx.arena);
	mr_bind_list(&conflicts, NULL, conflict_fields,
		conflicts_of(&call->cx, answer, mr_str_eq(what, "edit")), answer->conflicts.len,
		sizeof(struct conflict));
	mr_team_fail(&call->cx, MR_TEAM_RESERVATION_CONFLICT,
		"%zu of these files are held by others, %s by %s", answer->conflicts.len,
		mr_render_line(call->cx.arena, first->path), first->holders.items[0].agent);
	mr_team_fail_value(&call->cx, "conflicts", mr_out_tree(&conflicts));
	if (answer->agent)
		mr_team_fail_text(&call->cx, "agent", answer->agent);
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
	MR_FIELD(struct check, answer.agent, "agent", .flags = MR_NULLABLE),
	MR_FIELD(struct check, project, "project", .flags = MR_NULLABLE),
	MR_FIELD(struct check, answer.source, "source", .flags = MR_NULLABLE),
	MR_FIELD(struct check, paths.len, "checked", .summary = "files looked at"),
	MR_FIELD_ROWS(struct check, conflicts, answer.conflicts.len, struct conflict,
		conflict_fields, "conflicts"),
	MR_FIELD(struct check, warnings, "warnings"),
	{ 0 },
};

enum mr_code mr_guard_read_stdin(struct mr_call *call, struct mr_bytes *out)
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
		rc = mr_guard_read_stdin(call, &text);
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
	rc = mr_guard_read_stdin(call, &text);
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

	c->conflicts = conflicts_of(cx, &c->answer, false);
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

#define A_PERSON                                                                                    \
	"you are taken for a person, because this is a terminal and AGENT_NAME is not set: people " \
	"are only warned. AGENT_MAIL_GUARD_STRICT=true holds them up, too"

/* Nobody knows which agent asks. A person need not be one, and is told. */
static enum mr_code decide_unknown(struct mr_call *call, struct check *c, bool warns,
	const char **warning)
{
	bool is_person = !c->setup.strict && !mr_guard_is_agent(&c->setup);

	if (is_person && c->answer.conflicts.len)
		*warning = A_PERSON;
	else if (!is_person && !warns)
		return mr_err_set(&call->cx.err, MR_EAUTH, WHO_ASKS);
	else if (!is_person)
		*warning = WHO_ASKS;
	return MR_OK;
}

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
	if (c->answer.source && !c->answer.agent)
		return decide_unknown(call, c, warns, warning);
	if (c->answer.conflicts.len && !warns)
		return mr_guard_refuse(call, &c->answer, c->what);
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
