/* op/team/team_macro.c - operations: frequent sequences of calls, each as one call. */
#include "op/render.h"
#include "op/team/shape_team_summary.h"
#include "op/team/team_ops.h"
#include "team/limits.h"
#include "team/macro.h"

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

static const char *const alias_ttl[] = { "ttl", NULL };
static const char *const alias_paths[] = { "path_pattern", "path", NULL };

/* `who` is the member of the request that is a struct mr_team_registration. */
#define WHO_PARAMS(request_type, who)                                                              \
	MR_PARAM(request_type, who.program, "program", .flags = MR_REQUIRED,                       \
		.summary = "what runs the agent, codex"),                                          \
		MR_PARAM(request_type, who.model, "model", .flags = MR_REQUIRED,                   \
			.summary = "the model behind it"),                                         \
		MR_PARAM(request_type, who.name, "agent_name", .flags = MR_ACTOR,                  \
			.summary = "its name; one is found when left out",                         \
			.aliases = mr_team_alias_agent),                                           \
		MR_PARAM(request_type, who.task_description, "task_description",                   \
			.summary = "what it is working on, for the others")
#define TTL_PARAM(request_type, member, name)                                                      \
	MR_PARAM(request_type, member, name, .flags = MR_RARE, .min = 1, .max = MR_TEAM_TTL_MAX_S, \
		.summary = "how long the leases hold unless they are renewed", .fallback = "3600", \
		.aliases = alias_ttl)
#define INBOX_PARAM(request_type, member)                                                          \
	MR_PARAM(request_type, member, "inbox_limit", .flags = MR_RARE, .min = 1,                  \
		.max = MR_TEAM_LIST_MAX, .summary = "at most so many messages", .fallback = "10")

static const struct mr_field reserved_fields[] = {
	MR_FIELD_LIST(struct mr_team_reserved, granted, struct mr_team_reservation,
		mr_shape_team_grant_fields, "granted"),
	MR_FIELD_LIST(struct mr_team_reserved, conflicts, struct mr_team_conflict,
		mr_shape_team_conflict_fields, "conflicts"),
	MR_FIELD(struct mr_team_reserved, warnings, "warnings", .flags = MR_OPTIONAL),
	{ 0 },
};

static const char *const alias_key[] = { "project_key", "project_slug", "project", NULL };

static const struct mr_param start_params[] = {
	MR_PARAM(struct mr_team_start, who.project_key, "human_key",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_HERE,
		.summary = "the project's path; it is made when it is not there",
		.aliases = alias_key),
	WHO_PARAMS(struct mr_team_start, who),
	MR_PARAM(struct mr_team_start, paths, "file_reservation_paths",
		.summary = "files and patterns to reserve, exclusively"),
	MR_PARAM(struct mr_team_start, reason, "file_reservation_reason", .flags = MR_RARE,
		.summary = "what for", .fallback = "macro-session"),
	TTL_PARAM(struct mr_team_start, ttl_s, "file_reservation_ttl_seconds"),
	INBOX_PARAM(struct mr_team_start, inbox_limit),
	MR_PARAM(struct mr_team_start, who.session_id, "session_id",
		.summary = "your client's id of this session: without a name you come back as the "
			   "agent that had it",
		.flags = MR_RARE),
	{ 0 },
};

static const struct mr_field start_fields[] = {
	MR_FIELD_STRUCT(struct mr_team_started, project, struct mr_team_project,
		mr_shape_team_project_fields, "project"),
	MR_FIELD_STRUCT(struct mr_team_started, agent, struct mr_team_agent,
		mr_shape_team_agent_fields, "agent"),
	MR_FIELD_STRUCT(struct mr_team_started, reserved, struct mr_team_reserved, reserved_fields,
		"file_reservations"),
	MR_FIELD_LIST(struct mr_team_started, inbox, struct mr_team_item,
		mr_shape_team_listed_fields, "inbox", .summary = "newest first, without bodies"),
	MR_FIELD(struct mr_team_started, agent.resumed, "resumed", .flags = MR_OPTIONAL,
		.summary = "an agent was taken up again: which, and why"),
	MR_FIELD_LIST(struct mr_team_started, offered, struct mr_team_reservation,
		mr_shape_team_holder_fields, "offered", .flags = MR_OPTIONAL,
		.summary = "leases of agents here before you whose sessions have ended: "
			   "force_release_file_reservation takes one"),
	{ 0 },
};

static enum mr_code start_session(struct mr_call *call, struct mr_team *team,
	struct mr_team_start *request, struct mr_team_started *out)
{
	mr_team_ops_tokens(call, &request->who);
	if (!request->who.session_id)
		request->who.session_id = call->session;
	if (!request->who.name && !mr_str_is_empty(call->agent_name))
		request->who.name = call->agent_name;
	return mr_team_macro_start(&call->cx, team, request, out);
}
MR_TEAM_BIND_CALL(start, start_session, struct mr_team_start, struct mr_team_started);

const struct mr_op mr_op_team_macro_start = {
	.name = "macro_start_session",
	.command = "team macro start-session",
	.summary = "Join a project, reserve files, and see what came",
	.help = "The call to begin with. Without a name you come back as the agent of your "
		"session, or of the one that ended here last.",
	.cluster = "workflow_macros",
	.params = start_params,
	.result = start_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD | MR_JOINS | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &start,
	.render = mr_render_session,
};

struct preparing {
	struct mr_team_prepare thread;
	struct mr_team_showing showing;
};

static const struct mr_param prepare_params[] = {
	MR_TEAM_PROJECT_IN(struct preparing, thread.who),
	MR_PARAM(struct preparing, thread.thread_id, "thread_id",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversation's id, or the number of the message it began with"),
	WHO_PARAMS(struct preparing, thread.who),
	MR_PARAM(struct preparing, thread.register_if_missing, "register_if_missing",
		.summary = "register the agent, or update its profile; without it agent_name must "
			   "be known",
		.fallback = "true"),
	MR_PARAM(struct preparing, thread.include_examples, "include_examples",
		.summary = "also say which its first three messages are", .fallback = "true"),
	INBOX_PARAM(struct preparing, thread.inbox_limit),
	MR_PARAM(struct preparing, thread.include_inbox_bodies, "include_inbox_bodies",
		.summary = "with the messages' texts", .fallback = "false"),
	MR_TEAM_SHOWING(struct preparing, showing),
	MR_PARAM(struct preparing, thread.llm_mode, "llm_mode",
		.summary = "let the model of llm.endpoint word it, when one is configured",
		.fallback = "true"),
	MR_PARAM(struct preparing, thread.llm_model, "llm_model",
		.summary = "another model than the configured one"),
	{ 0 },
};

static const struct mr_field thread_fields[] = {
	MR_FIELD(struct mr_team_summary, thread_id, "thread_id"),
	MR_FIELD_SAME(struct mr_team_summary, mr_shape_team_summary_fields, "summary"),
	MR_FIELD_LIST(struct mr_team_summary, examples, struct mr_team_item,
		mr_shape_team_example_fields, "examples"),
	MR_FIELD(struct mr_team_summary, total_messages, "total_messages"),
	{ 0 },
};

static const struct mr_field prepare_fields[] = {
	MR_FIELD_STRUCT(struct mr_team_prepared, project, struct mr_team_project,
		mr_shape_team_project_fields, "project"),
	MR_FIELD_STRUCT(struct mr_team_prepared, agent, struct mr_team_agent,
		mr_shape_team_agent_fields, "agent"),
	MR_FIELD_STRUCT(struct mr_team_prepared, summary, struct mr_team_summary, thread_fields,
		"thread"),
	MR_FIELD_LIST(struct mr_team_prepared, inbox, struct mr_team_item,
		mr_shape_team_listed_fields, "inbox"),
	{ 0 },
};

static enum mr_code prepare_thread(struct mr_call *call, struct mr_team *team,
	struct preparing *request, struct mr_team_prepared *out)
{
	enum mr_code rc;

	request->thread.rights = &call->rights;
	mr_team_ops_tokens(call, &request->thread.who);
	rc = mr_team_macro_prepare(&call->cx, team, &request->thread, out);
	if (!rc)
		mr_team_show_bodies(call, &request->showing, &out->inbox);
	return rc;
}
MR_TEAM_BIND_CALL(prepare, prepare_thread, struct preparing, struct mr_team_prepared);

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
	.bind = &prepare,
	.render = mr_render_prepared,
};

static const struct mr_param cycle_params[] = {
	MR_TEAM_PROJECT_IN(struct mr_team_cycle, reserve),
	MR_TEAM_AGENT_IN(struct mr_team_cycle, reserve),
	MR_PARAM(struct mr_team_cycle, reserve.paths, "paths", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "files, directories or patterns (src/**), relative to the project",
		.aliases = alias_paths),
	TTL_PARAM(struct mr_team_cycle, reserve.ttl_s, "ttl_seconds"),
	MR_PARAM(struct mr_team_cycle, reserve.exclusive, "exclusive",
		.summary = "nobody else should touch them; otherwise they are shared",
		.fallback = "true"),
	MR_PARAM(struct mr_team_cycle, reserve.reason, "reason",
		.summary = "what for, for the others", .fallback = "macro-file_reservation"),
	MR_PARAM(struct mr_team_cycle, auto_release, "auto_release",
		.summary = "give what was granted back at once", .fallback = "false"),
	{ 0 },
};

static const struct mr_field released_fields[] = {
	MR_FIELD(struct mr_team_cycled, released, "released"),
	MR_FIELD_TIME(struct mr_team_cycled, released_ts, "released_at"),
	{ 0 },
};

static const struct mr_field cycle_fields[] = {
	MR_FIELD_STRUCT(struct mr_team_cycled, reserved, struct mr_team_reserved, reserved_fields,
		"file_reservations"),
	MR_FIELD_SAME(struct mr_team_cycled, released_fields, "released", .flags = MR_NULLABLE,
		.when = MR_FLAG(struct mr_team_cycled, was_released)),
	{ 0 },
};

MR_TEAM_BIND(cycle, mr_team_macro_cycle, struct mr_team_cycle, struct mr_team_cycled);

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
	.bind = &cycle,
	.render = mr_render_cycle,
};

static const char *const alias_requester[] = { "agent_name", "agent", "from_agent", NULL };
static const char *const alias_target[] = { "to_agent", "to_agent_name", NULL };
static const char *const alias_to_project[] = { "to_project_slug", NULL };

static const struct mr_param handshake_params[] = {
	MR_TEAM_PROJECT_IN(struct mr_team_handshake, request),
	MR_PARAM(struct mr_team_handshake, request.from_agent, "requester",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR, .summary = "who asks",
		.aliases = alias_requester),
	MR_PARAM(struct mr_team_handshake, request.to_agent, "target",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the agent to ask: Name, or Name@project", .aliases = alias_target),
	MR_PARAM(struct mr_team_handshake, request.to_project, "to_project",
		.summary = "its project; left out, the name is looked for as in a message",
		.aliases = alias_to_project),
	MR_PARAM(struct mr_team_handshake, request.reason, "reason",
		.summary = "what it is about, for the other"),
	MR_PARAM(struct mr_team_handshake, request.ttl_s, "ttl_seconds", .min = 1,
		.max = MR_TEAM_CONTACT_TTL_MAX_S, .summary = "how long the request stands",
		.fallback = "604800, a week", .aliases = alias_ttl),
	MR_PARAM(struct mr_team_handshake, auto_accept, "auto_accept",
		.summary = "answer in the target's place, where its policy says the same",
		.fallback = "false"),
	MR_PARAM(struct mr_team_handshake, welcome_subject, "welcome_subject",
		.summary = "with welcome_body: a first message, sent if it would be delivered"),
	MR_PARAM(struct mr_team_handshake, welcome_body, "welcome_body", .flags = MR_BODY,
		.summary = "its text"),
	MR_PARAM(struct mr_team_handshake, thread_id, "thread_id", .flags = MR_LENIENT,
		.summary = "its conversation"),
	MR_PARAM(struct mr_team_handshake, register_if_missing, "register_if_missing",
		.summary = "register the asking agent, given program and model",
		.fallback = "true"),
	MR_PARAM(struct mr_team_handshake, program, "program", .summary = "what runs who asks"),
	MR_PARAM(struct mr_team_handshake, model, "model", .summary = "the model behind it"),
	{ 0 },
};

static const struct mr_field asked_fields[] = {
	MR_MEMBERS(struct mr_team_shaken, request, struct mr_team_link, mr_shape_team_link_fields),
	MR_FIELD(struct mr_team_shaken, notified, "notified",
		.summary = "whether the other got a message"),
	{ 0 },
};

static const struct mr_field handshake_fields[] = {
	MR_FIELD_SAME(struct mr_team_shaken, asked_fields, "request"),
	MR_FIELD_STRUCT(struct mr_team_shaken, response, struct mr_team_link,
		mr_shape_team_link_fields, "response", .flags = MR_NULLABLE,
		.summary = "null: nobody has answered",
		.when = MR_FLAG(struct mr_team_shaken, answered)),
	MR_FIELD_STRUCT(struct mr_team_shaken, welcome, struct mr_team_sent,
		mr_shape_team_sent_fields, "welcome_message", .flags = MR_NULLABLE,
		.summary = "null: none was sent", .when = MR_FLAG(struct mr_team_shaken, welcomed)),
	{ 0 },
};

MR_TEAM_BIND(handshake, mr_team_macro_handshake, struct mr_team_handshake, struct mr_team_shaken);

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
	.bind = &handshake,
	.render = mr_render_handshake,
};
/* NOLINTEND(bugprone-macro-parentheses) */
