/* op/team/team_agent.c - operations: the agents of a project. */
#include "op/agent_auth.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/archive/archive.h"
#include "team/ask.h"

static const char *const alias_hint[] = { "hint", "name", NULL };
static const char *const alias_name[] = { "agent_name", "agent", NULL };

#define PROGRAM_PARAMS                                                                             \
	{ .name = "program",                                                                       \
		.type = MR_TYPE_TEXT,                                                              \
		.flags = MR_REQUIRED,                                                              \
		.summary = "what runs the agent, codex" },                                         \
	{                                                                                          \
		.name = "model", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED,                       \
		.summary = "the model behind it"                                                   \
	}
#define PROFILE_PARAMS                                                                             \
	{ .name = "task_description",                                                              \
		.type = MR_TYPE_TEXT,                                                              \
		.summary = "what it is working on, for the others" },                              \
		{ .name = "attachments_policy",                                                    \
			.type = MR_TYPE_TEXT,                                                      \
			.flags = MR_LENIENT,                                                       \
			.summary = "how files come with its mail",                                 \
			.choices = mr_shape_team_attachments_policies,                             \
			.fallback = "auto" },                                                      \
	{                                                                                          \
		.name = "contact_policy", .type = MR_TYPE_TEXT, .summary = "who may write to it",  \
		.choices = mr_shape_team_contact_policies, .fallback = "open"                      \
	}

static const struct mr_param register_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "name",
		.type = MR_TYPE_TEXT,
		.flags = MR_POSITIONAL | MR_ACTOR,
		.summary = "an adjective and a noun, GreenCastle; one is found when left out",
		.aliases = alias_name },
	PROGRAM_PARAMS,
	PROFILE_PARAMS,
	{ 0 },
};

static enum mr_code do_register(struct mr_call *call, struct mr_team_registration *request,
	struct mr_out *out)
{
	struct mr_team *team;
	struct mr_team_project project;
	struct mr_team_agent agent;
	enum mr_code rc = mr_team_home_open(call, &team);

	mr_team_ops_tokens(call, request);
	if (!rc)
		rc = mr_team_agent_register(&call->cx, team, request, &project, &agent);
	if (!rc)
		mr_shape_team_agent(out, NULL, &agent);
	return rc;
}

static enum mr_code register_agent(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	return do_register(call,
		&(struct mr_team_registration){
			.project_key = mr_args_text(in, "project_key"),
			.name = mr_args_text(in, "name"),
			.program = mr_args_text(in, "program"),
			.model = mr_args_text(in, "model"),
			.task_description = mr_args_text(in, "task_description"),
			.attachments_policy = mr_args_text(in, "attachments_policy"),
			.contact_policy = mr_args_text(in, "contact_policy"),
		},
		out);
}

const struct mr_op mr_op_team_register_agent = {
	.name = "register_agent",
	.command = "team register",
	.summary = "Join a project, or update one's profile in it",
	.help = "Call it at the start of a session. The project is made when it is not "
		"there. A known name, in any case, is updated and keeps its id; without "
		"a name a free one is found.",
	.cluster = "identity",
	.params = register_params,
	.result = mr_shape_team_agent_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_IDEMPOTENT | MR_JOINS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = register_agent,
	.render = mr_render_agent,
};

static const struct mr_param create_params[] = {
	MR_TEAM_PROJECT_PARAM,
	PROGRAM_PARAMS,
	{ .name = "name_hint",
		.type = MR_TYPE_TEXT,
		.summary = "the name it would like; used when it is valid and free",
		.aliases = alias_hint },
	PROFILE_PARAMS,
	{ 0 },
};

static enum mr_code create(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	return do_register(call,
		&(struct mr_team_registration){
			.project_key = mr_args_text(in, "project_key"),
			.name = mr_args_text(in, "name_hint"),
			.program = mr_args_text(in, "program"),
			.model = mr_args_text(in, "model"),
			.task_description = mr_args_text(in, "task_description"),
			.attachments_policy = mr_args_text(in, "attachments_policy"),
			.contact_policy = mr_args_text(in, "contact_policy"),
			.create = true,
		},
		out);
}

const struct mr_op mr_op_team_create_identity = {
	.name = "create_agent_identity",
	.command = "team create-identity",
	.summary = "Join a project as somebody new",
	.help = "Use it for the second of two agents that run the same program: it never "
		"updates one that is there.",
	.cluster = "identity",
	.params = create_params,
	.result = mr_shape_team_agent_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = create,
	.render = mr_render_agent,
};

static const struct mr_param update_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "program", .type = MR_TYPE_TEXT, .summary = "what runs the agent now" },
	{ .name = "model", .type = MR_TYPE_TEXT, .summary = "the model behind it now" },
	{ .name = "task_description",
		.type = MR_TYPE_TEXT,
		.summary = "what it is working on now" },
	{ .name = "attachments_policy",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.summary = "how files come with its mail",
		.choices = mr_shape_team_attachments_policies },
	{ .name = "contact_policy",
		.type = MR_TYPE_TEXT,
		.summary = "who may write to it",
		.choices = mr_shape_team_contact_policies },
	{ 0 },
};

static enum mr_code update(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_agent_edit edit = {
		.program = mr_args_text(in, "program"),
		.model = mr_args_text(in, "model"),
		.task_description = mr_args_text(in, "task_description"),
		.attachments_policy = mr_args_text(in, "attachments_policy"),
		.contact_policy = mr_args_text(in, "contact_policy"),
	};
	struct mr_team *team;
	struct mr_team_agent agent;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_agent_update(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), &edit, "update_agent_profile", &agent);
	if (!rc)
		mr_shape_team_agent(out, NULL, &agent);
	return rc;
}

const struct mr_op mr_op_team_update_profile = {
	.name = "update_agent_profile",
	.command = "team profile",
	.summary = "Change what is said about an agent",
	.help = "Use it when your task changes, so that the others know. What is left out "
		"stays as it is.",
	.cluster = "identity",
	.params = update_params,
	.result = mr_shape_team_agent_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = update,
	.render = mr_render_agent,
};

enum { COMMITS_DEFAULT = 5, COMMITS_MAX = 50 };

static const struct mr_param whois_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "agent_name",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the agent's name, in any case",
		.aliases = mr_team_alias_agent },
	{ .name = "include_recent_commits",
		.type = MR_TYPE_BOOL,
		.summary = "and what it did, from the project's history",
		.fallback = "true" },
	{ .name = "commit_limit",
		.type = MR_TYPE_INT,
		.summary = "at most so many commits, 1 to 50",
		.fallback = "5" },
	{ 0 },
};

static const struct mr_field commit_fields[] = {
	{ .name = "hexsha", .type = MR_TYPE_TEXT },
	{ .name = "summary", .type = MR_TYPE_TEXT },
	{ .name = "authored_ts", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field whois_fields[] = {
	MR_SHAPE_TEAM_AGENT_FIELDS,
	{ .name = "recent_commits",
		.type = MR_TYPE_LIST,
		.fields = commit_fields,
		.summary = "of this agent, newest first" },
	{ 0 },
};

static enum mr_code find(struct mr_call *call, const struct mr_args *in, struct mr_team *team,
	struct mr_team_project *project, struct mr_team_agent *agent)
{
	return mr_team_ask_agent(&call->cx, team, mr_args_text(in, "project_key"),
		mr_args_text(in, "agent_name"), project, agent);
}

static void emit_whois(struct mr_out *out, const struct mr_team_agent *agent,
	const struct mr_team_commits *commits)
{
	mr_out_map(out, NULL);
	mr_shape_team_agent_members(out, agent);
	mr_out_list(out, "recent_commits");
	for (size_t i = 0; i < commits->len; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "hexsha", commits->items[i].hexsha);
		mr_out_text(out, "summary", commits->items[i].summary);
		mr_shape_team_time(out, "authored_ts", commits->items[i].authored_ts);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
}

static enum mr_code whois(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	int64_t limit = mr_args_int(in, "commit_limit", COMMITS_DEFAULT);
	struct mr_team_commits commits = { NULL, 0 };
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	limit = limit < 1 ? 1 : limit > COMMITS_MAX ? COMMITS_MAX : limit;
	if (!rc)
		rc = find(call, in, team, &project, &agent);
	/* Commits say what an agent's mail is about. */
	if (!rc)
		rc = mr_agent_auth_readers(call, true);
	if (!rc && mr_agent_auth_reads_for(call, agent.id) &&
		mr_args_bool(in, "include_recent_commits", true))
		rc = mr_team_archive_commits_of(&call->cx, team, project.slug, agent.name,
			(size_t)limit, &commits);
	if (!rc)
		emit_whois(out, &agent, &commits);
	return rc;
}

const struct mr_op mr_op_team_whois = {
	.name = "whois",
	.command = "team whois",
	.summary = "Show an agent's profile and what it did last",
	.help = "Use it before you write to an agent you do not know, or to see what it "
		"did last.",
	.cluster = "identity",
	.params = whois_params,
	.result = whois_fields,
	.traits = MR_CORE | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = whois,
	.render = mr_render_agent,
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "include_retired",
		.type = MR_TYPE_BOOL,
		.summary = "also those that are retired",
		.fallback = "false" },
	MR_TEAM_PAGE_PARAMS,
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST, .fields = mr_shape_team_agent_fields },
	{ 0 },
};

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_agents agents;
	struct mr_team_project project;
	struct mr_team *team;
	size_t from, until;
	int64_t *ids;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_ask_agents(&call->cx, team, mr_args_text(in, "project_key"),
			!mr_args_bool(in, "include_retired", false), &project, &agents);
	if (rc)
		return rc;
	ids = mr_arena_array(call->cx.arena, agents.len, sizeof(*ids));
	for (size_t i = 0; i < agents.len; i++)
		ids[i] = agents.items[i].id;
	rc = mr_team_page(call, in, ids, agents.len, &from, &until);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_list(out, "result");
	for (size_t i = from; i < until; i++)
		mr_shape_team_agent(out, NULL, &agents.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_list_agents = {
	.name = "list_agents",
	.command = "team agents",
	.summary = "List the agents of a project, most recently active first",
	.help = "Use it to find whom to write to; the most recently active come first.",
	.cluster = "identity",
	.params = list_params,
	.result = list_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = list,
	.render = mr_render_agents,
};

static const struct mr_param delete_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "name",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR,
		.summary = "the agent's name, in any case",
		.aliases = alias_name },
	{ .name = "purge",
		.type = MR_TYPE_BOOL,
		.summary = "delete it and the messages it sent, for good; the archive's history "
			   "stays",
		.fallback = "false" },
	{ 0 },
};

static const struct mr_field delete_fields[] = {
	{ .name = "agent_id", .type = MR_TYPE_INT },
	{ .name = "agent_name", .type = MR_TYPE_TEXT },
	{ .name = "project", .type = MR_TYPE_TEXT },
	{ .name = "purged", .type = MR_TYPE_BOOL },
	{ .name = "deleted_ts", .type = MR_TYPE_TEXT },
	{ .name = "message_recipients_deleted", .type = MR_TYPE_INT },
	{ .name = "messages_deleted", .type = MR_TYPE_INT },
	{ .name = "file_reservations_deleted", .type = MR_TYPE_INT },
	{ .name = "file_reservations_released", .type = MR_TYPE_INT },
	{ 0 },
};

static void emit_deletion(struct mr_out *out, const struct mr_team_deletion *deletion)
{
	mr_out_map(out, NULL);
	mr_out_int(out, "agent_id", deletion->agent_id);
	mr_out_text(out, "agent_name", deletion->agent_name);
	mr_out_text(out, "project", deletion->project);
	mr_out_bool(out, "purged", deletion->purged);
	mr_shape_team_time(out, "deleted_ts", deletion->deleted_ts);
	mr_out_int(out, "message_recipients_deleted", deletion->message_recipients_deleted);
	mr_out_int(out, "messages_deleted", deletion->messages_deleted);
	mr_out_int(out, "file_reservations_deleted", deletion->file_reservations_deleted);
	mr_out_int(out, "file_reservations_released", deletion->file_reservations_released);
	mr_out_end(out);
}

static enum mr_code delete_agent(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	bool purge = mr_args_bool(in, "purge", false);
	const char *name = mr_args_text(in, "name");
	struct mr_team_deletion deletion;
	struct mr_team *team;
	enum mr_code rc = mr_team_ops_admin(call, in, "purge");

	if (!rc)
		rc = mr_team_home_open(call, &team);
	if (!rc && purge)
		rc = mr_dispatch_confirm(call,
			mr_arena_printf(call->cx.arena,
				"%.60s of %.200s and the messages it sent are deleted, also for "
				"those who received them. Go on?",
				name, mr_args_text(in, "project_key")));
	if (!rc)
		rc = mr_team_agent_delete(&call->cx, team, mr_args_text(in, "project_key"), name,
			purge, &deletion);
	if (!rc)
		emit_deletion(out, &deletion);
	return rc;
}

const struct mr_op mr_op_team_delete_agent = {
	.name = "delete_agent",
	.command = "team retire",
	.summary = "Retire an agent: its name and mail stay, its leases end",
	.help = "Use it for an agent that does not come back. Its name and its mail stay, "
		"its leases end. With purge it is deleted, and so are the messages it "
		"sent, for everyone.",
	.cluster = "identity",
	.params = delete_params,
	.result = delete_fields,
	.needs = MR_NEED_WRITE | MR_NEED_CONFIRM,
	.traits = MR_DESTRUCTIVE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = delete_agent,
	.render = mr_render_retired,
};
