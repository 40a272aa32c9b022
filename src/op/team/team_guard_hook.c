/* op/team/team_guard_hook.c - operations: what coding agents' programs run before an edit, and when
 * a session begins, uses a tool, stops or ends. */
#include "base/fs.h"
#include "op/bind.h"
#include "op/render.h"
#include "op/team/team_guard.h"
#include "op/team/team_ops.h"
#include "text/json.h"

#include <string.h>

/* What coding agents expect: 2 refuses, anything else but 0 is only told to people. */
static int hook_exit_status(const struct mr_err *err)
{
	return err->code == MR_ECONFLICT ? 2 : 1;
}

static const struct mr_contract hook_contract = {
	.enter = mr_contract_team_enter,
	.error = mr_contract_team_error,
	.exit_status = hook_exit_status,
	.tell = mr_guard_tell,
};

/* What goes to the agent, not to the person: the clients want the name of the event with it. */
struct context {
	const char *event, *text;
};

static const struct mr_field context_fields[] = {
	MR_FIELD(struct context, event, "hookEventName"),
	MR_FIELD(struct context, text, "additionalContext"),
	{ 0 },
};

struct message {
	const char *text;              /* for the person */
	const char *decision, *reason; /* "block": go on, and why */
	struct context context;
	bool has_context;
};

static const struct mr_field message_fields[] = {
	MR_FIELD(struct message, text, "systemMessage", .flags = MR_OPTIONAL,
		.summary = "what people are told where nothing is refused"),
	MR_FIELD(struct message, decision, "decision", .flags = MR_OPTIONAL,
		.summary = "block: the agent is not to stop yet"),
	MR_FIELD(struct message, reason, "reason", .flags = MR_OPTIONAL),
	MR_FIELD_STRUCT(struct message, context, struct context, context_fields,
		"hookSpecificOutput", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct message, has_context), .summary = "what the agent is told"),
	{ 0 },
};

static void render_message(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_json_writer json;

	(void)how;
	mr_json_init(&json, out, MR_JSON_COMPACT);
	mr_json_value(&json, value);
	mr_buf_putc(out, '\n');
}

struct asked {
	const char *project, *agent; /* or NULL: as the variables say */
};

static enum mr_code set_up(struct mr_call *call, const struct asked *asked,
	struct mr_guard_setup *out)
{
	enum mr_code rc = mr_guard_setup(call, out);

	if (!rc && asked->project)
		out->project = asked->project;
	if (!rc && asked->agent)
		out->agent = asked->agent;
	return rc;
}

/* --- before an edit --- */

static const struct mr_param edit_params[] = {
	MR_PARAM(struct asked, agent, "agent", .summary = "who edits, in place of AGENT_NAME",
		.fallback = "the agent of the session"),
	MR_PARAM(struct asked, project, "project", .summary = "in place of AGENT_MAIL_PROJECT",
		.fallback = "that of the repository"),
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

struct editing {
	struct mr_guard_setup setup;
	struct mr_team_guard_edit edit;
	struct mr_team_guard_answer answer;
};

/* All files of one work tree at once; those of others later. */
static enum mr_code ask_tree(struct mr_call *call, struct editing *e, struct target *targets,
	size_t *count)
{
	struct target first = targets[0];
	struct mr_team_guard_question question = mr_guard_question(&e->setup, &first.place);
	size_t kept = 0;

	question.quick = true;
	question.last_is_ours = true;
	if (e->edit.session)
		question.session = e->edit.session;
	question.paths.items = mr_arena_array(call->cx.arena, *count + 1, sizeof(const char *));
	for (size_t i = 0; i < *count; i++) {
		if (mr_str_eq(targets[i].place.top, first.place.top))
			question.paths.items[question.paths.len++] = targets[i].inside;
		else
			targets[kept++] = targets[i];
	}
	*count = kept;
	return mr_team_guard_ask(&call->cx, &question, &e->answer);
}

static enum mr_code look_at_edit(struct mr_call *call, struct editing *e)
{
	struct mr_arena *arena = call->cx.arena;
	const char *here = mr_team_guard_real(arena, ".");
	struct target *targets;
	struct mr_bytes text;
	size_t count = 0;
	enum mr_code rc = mr_guard_read_stdin(call, &text);

	if (!rc)
		rc = mr_team_guard_edit_read(arena, text, here, &e->edit, &call->cx.err);
	if (rc || !e->edit.writes)
		return rc;
	here = mr_team_guard_real(arena, e->edit.cwd);
	targets = mr_arena_array(arena, 2 * e->edit.paths.len + 1, sizeof(*targets));
	for (size_t i = 0; i < e->edit.paths.len; i++)
		count += add_targets(&call->cx, e->edit.paths.items[i], here, targets + count);
	while (count > 0 && !e->answer.conflicts.len && !rc)
		rc = ask_tree(call, e, targets, &count);
	return rc;
}

/* For the person at the editor; the edit goes on. */
static const char *held_message(struct mr_arena *arena, const struct mr_team_guard_answer *answer)
{
	const struct mr_team_conflict *first = &answer->conflicts.items[0];
	const struct mr_team_reservation *lease = &first->holders.items[0];

	return mr_arena_printf(arena, "mailroom guard: %s holds %s (%s)%s",
		mr_render_line(arena, lease->agent), mr_render_line(arena, first->path),
		mr_render_line(arena, lease->path_pattern),
		answer->agent ? ""
			      : "; AGENT_NAME is not set, so nobody knows whether that is this "
				"agent");
}

/* The session is told once that its agent is unknown. */
static enum mr_code tell_unknown(struct mr_call *call, const struct editing *e, struct message *out)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_team *team;
	bool first = false;
	enum mr_code rc = mr_contract_team_open(call, &team);

	if (!rc)
		rc = mr_team_guard_session_warn(&call->cx, team, e->edit.session, &first);
	if (rc || !first)
		return rc;
	out->text = mr_arena_printf(arena,
		"Mailroom does not know which agent this session is: the agent should begin with "
		"macro_start_session. Until then its edits are checked against every lease%s%s%s",
		e->answer.last ? " but those of " : "", e->answer.last ? e->answer.last : "",
		e->answer.last ? ", the last agent here" : "");
	out->context = (struct context){ "PreToolUse", out->text };
	out->has_context = true;
	call->is_silent = false;
	return MR_OK;
}

/*
 * An edit that nothing is said about has no result at all, not even an empty one. Only a lease
 * stops an edit: failures are ignored. Archives and servers do not know sessions, so that there an
 * agent that has not said its name might be stopped at its own files: it is not.
 */
static enum mr_code check_edit(struct mr_call *call, const struct asked *asked, struct message *out)
{
	struct editing e = { 0 };
	const struct mr_team_guard_answer *answer = &e.answer;
	enum mr_code rc = set_up(call, asked, &e.setup);
	bool knows_sessions;

	call->is_silent = true;
	if (rc || e.setup.bypass)
		return rc;
	rc = look_at_edit(call, &e);
	knows_sessions = mr_str_eq(answer->source, "database");
	if (!rc && !answer->conflicts.len && !answer->agent && knows_sessions && e.edit.session &&
		!answer->was_warned)
		rc = tell_unknown(call, &e, out);
	if (rc || !answer->conflicts.len)
		return rc == MR_EFORMAT ? rc : MR_OK;
	if ((answer->agent || knows_sessions) && e.setup.mode == MR_GUARD_BLOCK)
		return mr_guard_refuse(call, answer, "edit");
	call->is_silent = false;
	out->text = held_message(call->cx.arena, answer);
	return MR_OK;
}
MR_BIND_ALONE(edit, check_edit, struct asked, struct message);

const struct mr_op mr_op_guard_edit = {
	.name = "guard_pre_tool_use",
	.command = "guard hook pre-tool-use",
	.summary = "Refuse an edit of a file that another agent holds",
	.help = "For a coding agent's hook before it uses a tool: reads its JSON on standard "
		"input\n({\"session_id\": ..., \"tool_name\": \"Edit\", \"tool_input\": "
		"{\"file_path\": ...}, \"cwd\": ...}).\nThe agent is that of AGENT_NAME, or the one "
		"that `mailroom guard hook session` has noted for the\nsession. Without either every "
		"lease counts but those of the last agent that began a session in\nthis work tree. "
		"Exit 2, with the reason on standard error: somebody else holds the file. Exit 0: go "
		"on.\nIt never waits for a server and never stops an edit for want of storage.",
	.params = edit_params,
	.result = message_fields,
	.traits = MR_ABROAD,
	.surfaces = MR_ON_CLI,
	.contract = &hook_contract,
	.render = render_message,
	.bind = &edit,
};

/* --- at other moments --- */

static const char *const events[] = { "SessionStart", "PostToolUse", "AfterTool", "Stop",
	"AfterAgent", "SessionEnd", NULL };
/* Operations whose results show what is new. */
static const char *const showing[] = { "macro_start_session", "macro_prepare_thread", "fetch_inbox",
	"wait_for_mail", NULL };

static bool is_one_of(const char *word, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (mr_str_eq(words[i], word))
			return true;
	}
	return false;
}

/* Of "mcp__mailroom__send_message" and "mcp_mailroom_send_message" the operation, or NULL. */
static const struct mr_op *our_tool(struct mr_call *call, const char *tool)
{
	static const char server[] = "mailroom";
	const char *name = strstr(tool, server);

	if (!name)
		return NULL;
	name += strlen(server);
	return mr_op_find(call->app->table, name + strspn(name, "_"));
}

/* The argument of this parameter, by its name or an alias; NULL when it is no text. */
static const char *argument(const struct mr_value *input, const struct mr_param *param)
{
	const struct mr_value *value = mr_value_get(input, param->name);

	for (size_t i = 0; !value && param->aliases && param->aliases[i]; i++)
		value = mr_value_get(input, param->aliases[i]);
	return value && value->kind == MR_TEXT && *value->text ? value->text : NULL;
}

/* As which agent, in which project, did this tool call act? */
static struct mr_team_guard_actor actor_of(struct mr_call *call,
	const struct mr_team_guard_event *event)
{
	struct mr_team_guard_actor actor = { 0 };
	const struct mr_op *op = event->input ? our_tool(call, event->tool) : NULL;
	const struct mr_param *project;
	const char *name = NULL;

	if (!op)
		return actor;
	for (size_t i = 0; i < mr_param_count(op->params) && !name; i++) {
		if (op->params[i].flags & MR_ACTOR)
			name = argument(event->input, &op->params[i]);
	}
	if (op->traits & MR_JOINS)
		name = event->given ? event->given : name;
	else if (!name)
		return actor;
	project = mr_param_find(op->params, "project_key");
	actor.project_key = project ? argument(event->input, project) : NULL;
	actor.agent = name;
	actor.saw_mail = is_one_of(op->name, showing);
	return actor;
}

/* "2 new messages (1 urgent) from GreenCastle and RedCat" */
static const char *mail_words(struct mr_arena *arena, const struct mr_team_hook_news *mail)
{
	struct mr_texts from = mail->from;
	const char *urgent = mail->urgent
		? mr_arena_printf(arena, " (%lld urgent)", (long long)mail->urgent)
		: "";

	return mr_arena_printf(arena, "%lld%s new message%s%s from %s%s", (long long)mail->count,
		mail->count == MR_TEAM_HOOK_NEWS ? " or more" : "", mail->count == 1 ? "" : "s",
		urgent, mr_str_join(arena, &from, ", "),
		from.len == MR_TEAM_HOOK_SENDERS ? " and others" : "");
}

/* One line, or NULL: there is nothing to tell. What messages say stays in the inbox. */
static const char *line_of(struct mr_arena *arena, const struct mr_team_guard_news *news,
	bool is_begin)
{
	const char *mail = news->mail.count ? mail_words(arena, &news->mail) : NULL;

	if (mail && !news->agent)
		return mr_arena_printf(arena,
			"Mailroom: %s for %s, the last agent here: macro_start_session without a "
			"name takes it up again.",
			mail, news->last);
	if (news->agent && is_begin)
		return mr_arena_printf(arena, "Mailroom: you are %s in %s.%s%s%s", news->agent,
			news->project, mail ? " You have " : "", mail ? mail : "",
			mail ? ": see fetch_inbox." : "");
	return mail
		? mr_arena_printf(arena, "Mailroom: %s for %s: see fetch_inbox.", mail, news->agent)
		: NULL;
}

static void tell(struct mr_call *call, const struct mr_team_guard_event *event,
	const struct mr_team_guard_news *news, struct message *out)
{
	const char *line = line_of(call->cx.arena, news, mr_str_eq(event->name, "SessionStart"));

	if (!line)
		return;
	call->is_silent = false;
	if (mr_str_eq(event->name, "Stop") || mr_str_eq(event->name, "AfterAgent")) {
		out->decision = "block";
		out->reason = line;
		return;
	}
	out->context = (struct context){ event->name, line };
	out->has_context = true;
}

static enum mr_code hear(struct mr_call *call, const struct mr_guard_setup *setup,
	const struct mr_team_guard_event *event, struct message *out)
{
	struct mr_team_guard_actor actor = { 0 };
	struct mr_team_guard_news news;
	struct mr_team *team;
	bool is_new = true;
	enum mr_code rc;

	if (mr_str_eq(event->name, "PostToolUse") || mr_str_eq(event->name, "AfterTool"))
		actor = actor_of(call, event);
	rc = mr_team_guard_session_look(&call->cx, &setup->config, event, &actor, &is_new);
	if (rc || !is_new)
		return rc;
	rc = mr_contract_team_open(call, &team);
	if (!rc && mr_str_eq(event->name, "SessionEnd"))
		return mr_team_guard_session_end(&call->cx, team, event->session);
	if (!rc)
		rc = mr_team_guard_session_take(&call->cx, team, event, &actor, &news);
	if (!rc)
		tell(call, event, &news, out);
	return rc;
}

/* A hook must not be in the way of the agent's work: only input that is none is an error. */
static enum mr_code attend(struct mr_call *call, const struct mr_nothing *nothing,
	struct message *out)
{
	struct mr_guard_setup setup;
	struct mr_team_guard_event event;
	struct mr_bytes text;
	enum mr_code rc = mr_guard_setup(call, &setup);

	(void)nothing;
	call->is_silent = true;
	if (!rc)
		rc = mr_guard_read_stdin(call, &text);
	if (!rc)
		rc = mr_team_guard_event_read(call->cx.arena, text,
			mr_team_guard_real(call->cx.arena, "."), &event, &call->cx.err);
	if (rc || setup.bypass || !event.session || !is_one_of(event.name, events) ||
		event.is_repeated)
		return rc;
	if (hear(call, &setup, &event, out))
		call->cx.err = (struct mr_err){ 0 };
	return MR_OK;
}
MR_BIND_ALONE(attending, attend, struct mr_nothing, struct message);

const struct mr_op mr_op_guard_session = {
	.name = "guard_session",
	.command = "guard hook session",
	.summary = "Note for which agent a session acts, and tell it of new mail",
	.help = "For a coding agent's hooks when a session begins, after a tool, before the agent "
		"stops, and when the\nsession ends: reads its JSON on standard input. From calls of "
		"Mailroom's own tools it learns for which\nagent the session acts, so that `mailroom "
		"guard hook pre-tool-use` and the git hooks need no\nAGENT_NAME. New mail is told in "
		"one line, each message once: before the agent stops it is asked to\ngo on, else the "
		"line is added to what it reads. When there is nothing to say nothing is written.",
	.result = message_fields,
	.traits = MR_ABROAD,
	.surfaces = MR_ON_CLI,
	.contract = &hook_contract,
	.render = render_message,
	.bind = &attending,
};
