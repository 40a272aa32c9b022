/* op/team/team_macro.c - operations: the usual sequences of calls as one. */
#include "op/bind.h"
#include "op/render.h"
#include "op/team/shape_team_summary.h"
#include "op/team/team_ops.h"
#include "team/limits.h"
#include "team/macro.h"

enum { TTL_DEFAULT_S = 3600, INBOX_DEFAULT = 10 };

static const char *const alias_ttl[] = { "ttl", NULL };
static const char *const alias_paths[] = { "path_pattern", "path", NULL };

#define WHO_PARAMS                                                                                 \
	{ .name = "program",                                                                       \
		.type = MR_TYPE_TEXT,                                                              \
		.flags = MR_REQUIRED,                                                              \
		.summary = "what runs the agent, codex" },                                         \
		{ .name = "model",                                                                 \
			.type = MR_TYPE_TEXT,                                                      \
			.flags = MR_REQUIRED,                                                      \
			.summary = "the model behind it" },                                        \
		{ .name = "agent_name",                                                            \
			.type = MR_TYPE_TEXT,                                                      \
			.flags = MR_ACTOR,                                                         \
			.summary = "its name; one is found when left out",                         \
			.aliases = mr_team_alias_agent },                                          \
	{                                                                                          \
		.name = "task_description", .type = MR_TYPE_TEXT,                                  \
		.summary = "what it is working on, for the others"                                 \
	}
#define TTL_PARAM(n)                                                                               \
	{                                                                                          \
		.name = (n), .type = MR_TYPE_INT, .min = 1, .max = MR_TEAM_TTL_MAX_S,              \
		.summary = "how long the leases hold unless they are renewed", .fallback = "3600", \
		.aliases = alias_ttl                                                               \
	}
#define INBOX_PARAM                                                                                \
	{                                                                                          \
		.name = "inbox_limit", .type = MR_TYPE_INT, .min = 1, .max = MR_TEAM_LIST_MAX,     \
		.summary = "at most so many messages", .fallback = "10"                            \
	}

static const struct mr_field reserved_fields[] = {
	{ .name = "granted", .type = MR_TYPE_LIST, .fields = mr_shape_team_grant_fields },
	{ .name = "conflicts", .type = MR_TYPE_LIST, .fields = mr_shape_team_conflict_fields },
	{ .name = "warnings", .type = MR_TYPE_TEXTS, .flags = MR_OPTIONAL },
	{ 0 },
};

static void put_reserved(struct mr_out *out, const struct mr_team_reserved *reserved)
{
	mr_out_map(out, "file_reservations");
	mr_bind_members(out, mr_shape_team_reserved_fields, reserved);
	mr_out_end(out);
}

static const char *const alias_key[] = { "project_key", "project_slug", "project", NULL };

static const struct mr_param start_params[] = {
	{ .name = "human_key",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the project's path; it is made when it is not there",
		.aliases = alias_key },
	WHO_PARAMS,
	{ .name = "file_reservation_paths",
		.type = MR_TYPE_TEXTS,
		.summary = "files and patterns to reserve, exclusively" },
	{ .name = "file_reservation_reason",
		.type = MR_TYPE_TEXT,
		.summary = "what for",
		.fallback = "macro-session" },
	TTL_PARAM("file_reservation_ttl_seconds"),
	INBOX_PARAM,
	{ 0 },
};

static const struct mr_field start_fields[] = {
	{ .name = "project", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_project_fields },
	{ .name = "agent", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_agent_fields },
	{ .name = "file_reservations", .type = MR_TYPE_OBJECT, .fields = reserved_fields },
	{ .name = "inbox",
		.type = MR_TYPE_LIST,
		.fields = mr_shape_team_message_fields,
		.summary = "newest first, without bodies" },
	{ 0 },
};

static struct mr_team_registration who_of(const struct mr_args *in, const char *project_key)
{
	return (struct mr_team_registration){
		.project_key = project_key,
		.name = mr_args_text(in, "agent_name"),
		.program = mr_args_text(in, "program"),
		.model = mr_args_text(in, "model"),
		.task_description = mr_args_text(in, "task_description"),
	};
}

static enum mr_code start(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_start request = {
		.who = who_of(in, mr_args_text(in, "human_key")),
		.paths = mr_args_texts(call->cx.arena, in, "file_reservation_paths"),
		.reason = mr_args_text(in, "file_reservation_reason"),
		.ttl_s = mr_args_int(in, "file_reservation_ttl_seconds", TTL_DEFAULT_S),
		.inbox_limit = mr_args_int(in, "inbox_limit", INBOX_DEFAULT),
	};
	struct mr_team_started started;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	mr_team_ops_tokens(call, &request.who);
	if (!rc)
		rc = mr_team_macro_start(&call->cx, team, &request, &started);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_project(out, "project", &started.project);
	mr_shape_team_agent(out, "agent", &started.agent);
	put_reserved(out, &started.reserved);
	mr_shape_team_items(out, "inbox", &started.inbox, false);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_macro_start = {
	.name = "macro_start_session",
	.command = "team macro start-session",
	.summary = "Join a project, reserve files, and see what came",
	.help = "The one call to begin with: it ensures the project, registers you, "
		"reserves the files you name, and shows your newest mail.",
	.cluster = "workflow_macros",
	.params = start_params,
	.result = start_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_JOINS | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = start,
	.render = mr_render_session,
};

static const struct mr_param prepare_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "thread_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversation's id, or the number of the message it began with" },
	WHO_PARAMS,
	{ .name = "register_if_missing",
		.type = MR_TYPE_BOOL,
		.summary = "register the agent, or update its profile; without it agent_name must "
			   "be known",
		.fallback = "true" },
	{ .name = "include_examples",
		.type = MR_TYPE_BOOL,
		.summary = "also say which its first three messages are",
		.fallback = "true" },
	INBOX_PARAM,
	{ .name = "include_inbox_bodies",
		.type = MR_TYPE_BOOL,
		.summary = "with the messages' texts",
		.fallback = "false" },
	MR_TEAM_READING_PARAMS,
	{ .name = "llm_mode",
		.type = MR_TYPE_BOOL,
		.summary = "let the model of llm.endpoint word it, when one is configured",
		.fallback = "true" },
	{ .name = "llm_model",
		.type = MR_TYPE_TEXT,
		.summary = "another model than the configured one" },
	{ 0 },
};

static const struct mr_field thread_fields[] = {
	{ .name = "thread_id", .type = MR_TYPE_TEXT },
	{ .name = "summary", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_summary_fields },
	{ .name = "examples", .type = MR_TYPE_LIST, .fields = mr_shape_team_example_fields },
	{ .name = "total_messages", .type = MR_TYPE_INT },
	{ 0 },
};

static const struct mr_field prepare_fields[] = {
	{ .name = "project", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_project_fields },
	{ .name = "agent", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_agent_fields },
	{ .name = "thread", .type = MR_TYPE_OBJECT, .fields = thread_fields },
	{ .name = "inbox", .type = MR_TYPE_LIST, .fields = mr_shape_team_message_fields },
	{ 0 },
};

static void put_prepared(struct mr_out *out, const struct mr_team_prepared *ready, bool examples)
{
	static const struct mr_team_items none;

	mr_out_map(out, NULL);
	mr_shape_team_project(out, "project", &ready->project);
	mr_shape_team_agent(out, "agent", &ready->agent);
	mr_out_map(out, "thread");
	mr_out_text(out, "thread_id", ready->summary.thread_id);
	mr_shape_team_summary(out, "summary", &ready->summary);
	mr_shape_team_examples(out, "examples", examples ? &ready->summary.examples : &none);
	mr_out_int(out, "total_messages", ready->summary.total_messages);
	mr_out_end(out);
	mr_shape_team_items(out, "inbox", &ready->inbox, false);
	mr_out_end(out);
}

static enum mr_code prepare(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	struct mr_team_prepare request = {
		.who = who_of(in, mr_args_text(in, "project_key")),
		.thread_id = mr_args_text(in, "thread_id"),
		.register_if_missing = mr_args_bool(in, "register_if_missing", true),
		.include_inbox_bodies = mr_args_bool(in, "include_inbox_bodies", false),
		.inbox_limit = mr_args_int(in, "inbox_limit", INBOX_DEFAULT),
		.llm_mode = mr_args_bool(in, "llm_mode", true),
		.llm_model = mr_args_text(in, "llm_model"),
		.rights = &call->rights,
	};
	struct mr_team_prepared ready;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	mr_team_ops_tokens(call, &request.who);
	if (!rc)
		rc = mr_team_macro_prepare(&call->cx, team, &request, &ready);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &showing, &ready.inbox);
	put_prepared(out, &ready, mr_args_bool(in, "include_examples", true));
	return MR_OK;
}

const struct mr_op mr_op_team_macro_prepare = {
	.name = "macro_prepare_thread",
	.command = "team macro prepare-thread",
	.summary = "Join a project, and see what a conversation came to and what else came",
	.help = "The one call to join a conversation: it registers you, sums the thread "
		"up, and shows your newest mail.",
	.cluster = "workflow_macros",
	.params = prepare_params,
	.result = prepare_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_JOINS | MR_QUOTES | MR_SHARED_MAIL | MR_OPEN_WORLD | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = prepare,
	.render = mr_render_prepared,
};

static const struct mr_param cycle_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "paths",
		.type = MR_TYPE_TEXTS,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "files, directories or patterns (src/**), relative to the project",
		.aliases = alias_paths },
	TTL_PARAM("ttl_seconds"),
	{ .name = "exclusive",
		.type = MR_TYPE_BOOL,
		.summary = "nobody else should touch them; otherwise they are shared",
		.fallback = "true" },
	{ .name = "reason",
		.type = MR_TYPE_TEXT,
		.summary = "what for, for the others",
		.fallback = "macro-file_reservation" },
	{ .name = "auto_release",
		.type = MR_TYPE_BOOL,
		.summary = "give what was granted back at once",
		.fallback = "false" },
	{ 0 },
};

static const struct mr_field released_fields[] = {
	{ .name = "released", .type = MR_TYPE_INT },
	{ .name = "released_at", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field cycle_fields[] = {
	{ .name = "file_reservations", .type = MR_TYPE_OBJECT, .fields = reserved_fields },
	{ .name = "released",
		.type = MR_TYPE_OBJECT,
		.flags = MR_NULLABLE,
		.fields = released_fields },
	{ 0 },
};

static void put_cycle(struct mr_out *out, const struct mr_team_cycle *cycle)
{
	mr_out_map(out, NULL);
	put_reserved(out, &cycle->reserved);
	if (cycle->was_released) {
		mr_out_map(out, "released");
		mr_out_int(out, "released", cycle->released);
		mr_shape_team_time(out, "released_at", cycle->released_ts);
		mr_out_end(out);
	} else {
		mr_out_null(out, "released");
	}
	mr_out_end(out);
}

static enum mr_code cycle(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const char *reason = mr_args_text(in, "reason");
	struct mr_team_reserve request = {
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.paths = mr_args_texts(call->cx.arena, in, "paths"),
		.ttl_s = mr_args_int(in, "ttl_seconds", TTL_DEFAULT_S),
		.exclusive = mr_args_bool(in, "exclusive", true),
		.reason = reason ? reason : "macro-file_reservation",
	};
	struct mr_team_cycle done;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_macro_cycle(&call->cx, team, &request,
			mr_args_bool(in, "auto_release", false), &done);
	if (!rc)
		put_cycle(out, &done);
	return rc;
}

const struct mr_op mr_op_team_macro_cycle = {
	.name = "macro_file_reservation_cycle",
	.command = "team macro reservation-cycle",
	.summary = "Reserve files, and perhaps give them back at once",
	.help = "Use it for a short edit: it reserves, and with auto_release gives back "
		"at once what it was granted.",
	.cluster = "workflow_macros",
	.params = cycle_params,
	.result = cycle_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = cycle,
	.render = mr_render_cycle,
};

static const char *const alias_requester[] = { "agent_name", "agent", "from_agent", NULL };
static const char *const alias_target[] = { "to_agent", "to_agent_name", NULL };
static const char *const alias_to_project[] = { "to_project_slug", NULL };

static const struct mr_param handshake_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "requester",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR,
		.summary = "who asks",
		.aliases = alias_requester },
	{ .name = "target",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "who is asked: Name, or Name@project",
		.aliases = alias_target },
	{ .name = "to_project",
		.type = MR_TYPE_TEXT,
		.summary = "its project; left out, the name is looked for as in a message",
		.aliases = alias_to_project },
	{ .name = "reason", .type = MR_TYPE_TEXT, .summary = "what it is about, for the other" },
	{ .name = "ttl_seconds",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = MR_TEAM_CONTACT_TTL_MAX_S,
		.summary = "how long the request stands",
		.fallback = "604800, a week",
		.aliases = alias_ttl },
	{ .name = "auto_accept",
		.type = MR_TYPE_BOOL,
		.summary = "answer in the target's place, where its policy says the same",
		.fallback = "false" },
	{ .name = "welcome_subject",
		.type = MR_TYPE_TEXT,
		.summary = "with welcome_body: a first message, sent if it would be delivered" },
	{ .name = "welcome_body", .type = MR_TYPE_TEXT, .flags = MR_BODY, .summary = "its text" },
	{ .name = "thread_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.summary = "its conversation" },
	{ .name = "register_if_missing",
		.type = MR_TYPE_BOOL,
		.summary = "register who asks, given program and model",
		.fallback = "true" },
	{ .name = "program", .type = MR_TYPE_TEXT, .summary = "what runs who asks" },
	{ .name = "model", .type = MR_TYPE_TEXT, .summary = "the model behind it" },
	{ 0 },
};

static const struct mr_field asked_fields[] = {
	{ .name = "*", .flags = MR_INCLUDED, .fields = mr_shape_team_link_fields },
	{ .name = "notified", .type = MR_TYPE_BOOL, .summary = "whether the other got a message" },
	{ 0 },
};

static const struct mr_field handshake_fields[] = {
	{ .name = "request", .type = MR_TYPE_OBJECT, .fields = asked_fields },
	{ .name = "response",
		.type = MR_TYPE_OBJECT,
		.flags = MR_NULLABLE,
		.fields = mr_shape_team_link_fields,
		.summary = "null: nobody has answered" },
	{ .name = "welcome_message",
		.type = MR_TYPE_OBJECT,
		.flags = MR_NULLABLE,
		.fields = mr_shape_team_sent_fields,
		.summary = "null: none was sent" },
	{ 0 },
};

static void put_shaken(struct mr_out *out, const struct mr_team_shaken *shaken)
{
	mr_out_map(out, NULL);
	mr_out_map(out, "request");
	mr_shape_team_link_members(out, &shaken->request);
	mr_out_bool(out, "notified", shaken->notified);
	mr_out_end(out);
	if (shaken->answered)
		mr_shape_team_link(out, "response", &shaken->response);
	else
		mr_out_null(out, "response");
	if (shaken->welcomed) {
		mr_out_map(out, "welcome_message");
		mr_bind_members(out, mr_shape_team_sent_fields, &shaken->welcome);
		mr_out_end(out);
	} else {
		mr_out_null(out, "welcome_message");
	}
	mr_out_end(out);
}

static enum mr_code handshake(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_handshake request = {
		.request = { .project_key = mr_args_text(in, "project_key"),
			.from_agent = mr_args_text(in, "requester"),
			.to_project = mr_args_text(in, "to_project"),
			.to_agent = mr_args_text(in, "target"),
			.reason = mr_args_text(in, "reason"),
			.ttl_s = mr_args_int(in, "ttl_seconds", 0) },
		.auto_accept = mr_args_bool(in, "auto_accept", false),
		.welcome_subject = mr_args_text(in, "welcome_subject"),
		.welcome_body = mr_args_text(in, "welcome_body"),
		.thread_id = mr_args_text(in, "thread_id"),
		.register_if_missing = mr_args_bool(in, "register_if_missing", true),
		.program = mr_args_text(in, "program"),
		.model = mr_args_text(in, "model"),
	};
	struct mr_team_shaken shaken;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_macro_handshake(&call->cx, team, &request, &shaken);
	if (!rc)
		put_shaken(out, &shaken);
	return rc;
}

const struct mr_op mr_op_team_macro_handshake = {
	.name = "macro_contact_handshake",
	.command = "team macro contact-handshake",
	.summary = "Ask for contact, perhaps answer, perhaps say hello",
	.help = "Use it to get to know an agent of another project in one call; with "
		"welcome_subject and welcome_body it also sends a first message.",
	.cluster = "workflow_macros",
	.params = handshake_params,
	.result = handshake_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = handshake,
	.render = mr_render_handshake,
};
