/* op/team/team_agent.c - operations: the agents of a project. */
#include "op/agent_auth.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/archive/archive.h"
#include "team/ask.h"

static const char *const alias_hint[] = { "hint", "name", NULL };
static const char *const alias_name[] = { "agent_name", "agent", NULL };

#define PROGRAM_PARAMS                                                                             \
	MR_PARAM(struct mr_team_registration, program, "program", .flags = MR_REQUIRED,            \
		.summary = "what runs the agent, codex"),                                          \
		MR_PARAM(struct mr_team_registration, model, "model", .flags = MR_REQUIRED,        \
			.summary = "the model behind it")
#define PROFILE_PARAMS                                                                             \
	MR_PARAM(struct mr_team_registration, task_description, "task_description",                \
		.summary = "what it is working on, for the others"),                               \
		MR_PARAM(struct mr_team_registration, attachments_policy, "attachments_policy",    \
			.flags = MR_LENIENT | MR_RARE, .summary = "how files come with its mail",  \
			.choices = mr_shape_team_attachments_policies, .fallback = "auto"),        \
		MR_PARAM(struct mr_team_registration, contact_policy, "contact_policy",            \
			.flags = MR_RARE, .summary = "who may write to it",                        \
			.choices = mr_shape_team_contact_policies, .fallback = "open")

static const struct mr_param register_params[] = {
	MR_TEAM_PROJECT(struct mr_team_registration),
	MR_PARAM(struct mr_team_registration, name, "name", .flags = MR_POSITIONAL | MR_ACTOR,
		.summary = "an adjective and a noun, GreenCastle; one is found when left out",
		.aliases = alias_name),
	PROGRAM_PARAMS,
	PROFILE_PARAMS,
	{ 0 },
};

static enum mr_code register_agent(struct mr_call *call, struct mr_team *team,
	struct mr_team_registration *request, struct mr_team_agent *out)
{
	struct mr_team_project project;

	mr_team_ops_tokens(call, request);
	return mr_team_agent_register(&call->cx, team, request, &project, out);
}
MR_TEAM_BIND_CALL(join, register_agent, struct mr_team_registration, struct mr_team_agent);

const struct mr_op mr_op_team_register_agent = {
	.name = "register_agent",
	.command = "team register",
	.summary = "Join a project, or update one's profile in it",
	.help = "A project that is not there is made. A name that is known is updated; without one "
		"a free one is found.",
	.cluster = "identity",
	.params = register_params,
	.result = mr_shape_team_agent_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_IDEMPOTENT | MR_JOINS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &join,
	.render = mr_render_agent,
};

static const struct mr_param create_params[] = {
	MR_TEAM_PROJECT(struct mr_team_registration),
	PROGRAM_PARAMS,
	MR_PARAM(struct mr_team_registration, name, "name_hint",
		.summary = "the name it would like; used when it is valid and free",
		.aliases = alias_hint),
	PROFILE_PARAMS,
	{ 0 },
};

static enum mr_code create_agent(struct mr_call *call, struct mr_team *team,
	struct mr_team_registration *request, struct mr_team_agent *out)
{
	request->create = true;
	return register_agent(call, team, request, out);
}
MR_TEAM_BIND_CALL(create, create_agent, struct mr_team_registration, struct mr_team_agent);

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
	.bind = &create,
	.render = mr_render_agent,
};

struct update_request {
	const char *project_key, *agent_name;
	struct mr_team_agent_edit edit;
};

static const struct mr_param update_params[] = {
	MR_TEAM_PROJECT(struct update_request),
	MR_TEAM_AGENT(struct update_request),
	MR_PARAM(struct update_request, edit.program, "program",
		.summary = "the agent's program now"),
	MR_PARAM(struct update_request, edit.model, "model", .summary = "the agent's model now"),
	MR_PARAM(struct update_request, edit.task_description, "task_description",
		.summary = "what it is working on now"),
	MR_PARAM(struct update_request, edit.attachments_policy, "attachments_policy",
		.flags = MR_LENIENT, .summary = "how files come with its mail",
		.choices = mr_shape_team_attachments_policies),
	MR_PARAM(struct update_request, edit.contact_policy, "contact_policy",
		.summary = "who may write to it", .choices = mr_shape_team_contact_policies),
	{ 0 },
};

static enum mr_code update_profile(struct mr_ctx *cx, struct mr_team *team,
	const struct update_request *asked, struct mr_team_agent *out)
{
	return mr_team_agent_update(cx, team, asked->project_key, asked->agent_name, &asked->edit,
		"update_agent_profile", out);
}
MR_TEAM_BIND(update, update_profile, struct update_request, struct mr_team_agent);

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
	.bind = &update,
	.render = mr_render_agent,
};

enum { COMMITS_MAX = 50 };

struct whois_request {
	const char *project_key, *agent_name;
	bool include_commits;
	int64_t commit_limit;
};

static const struct mr_param whois_params[] = {
	MR_TEAM_PROJECT(struct whois_request),
	MR_PARAM(struct whois_request, agent_name, "agent_name",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_KNOWN,
		.summary = "the agent's name, in any case", .aliases = mr_team_alias_agent),
	MR_PARAM(struct whois_request, include_commits, "include_recent_commits", .flags = MR_KNOWN,
		.summary = "also its latest commits", .fallback = "true"),
	MR_PARAM(struct whois_request, commit_limit, "commit_limit", .flags = MR_RARE,
		.summary = "at most so many commits, 1 to 50", .fallback = "5"),
	{ 0 },
};

static const struct mr_field commit_fields[] = {
	MR_FIELD(struct mr_team_commit, hexsha, "hexsha"),
	MR_FIELD(struct mr_team_commit, summary, "summary"),
	MR_FIELD_TIME(struct mr_team_commit, authored_ts, "authored_ts"),
	{ 0 },
};

struct known {
	struct mr_team_agent agent;
	struct mr_team_commits commits;
};

static const struct mr_field whois_fields[] = {
	MR_MEMBERS(struct known, agent, struct mr_team_agent, mr_shape_team_profile_fields),
	MR_FIELD_LIST(struct known, commits, struct mr_team_commit, commit_fields, "recent_commits",
		.summary = "of this agent, newest first"),
	{ 0 },
};

static enum mr_code find_whois(struct mr_call *call, struct mr_team *team,
	const struct whois_request *asked, struct known *out)
{
	int64_t limit = asked->commit_limit < 1     ? 1
		: asked->commit_limit > COMMITS_MAX ? COMMITS_MAX
						    : asked->commit_limit;
	struct mr_team_project project;
	enum mr_code rc = mr_team_ask_agent(&call->cx, team, asked->project_key, asked->agent_name,
		&project, &out->agent);

	/* Commits say what an agent's mail is about. */
	if (!rc)
		rc = mr_agent_auth_readers(call, team, true);
	if (!rc && mr_agent_auth_reads_for(call, out->agent.id) && asked->include_commits)
		rc = mr_team_archive_commits_of(&call->cx, team, project.slug, out->agent.name,
			(size_t)limit, &out->commits);
	return rc;
}
MR_TEAM_BIND_CALL(whois, find_whois, struct whois_request, struct known);

const struct mr_op mr_op_team_whois = {
	.name = "whois",
	.command = "team whois",
	.summary = "Show an agent's profile and what it did last",
	.help = "For agents you do not know.",
	.cluster = "identity",
	.params = whois_params,
	.result = whois_fields,
	.traits = MR_STANDARD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &whois,
	.render = mr_render_agent,
};

struct listing {
	const char *project_key;
	bool include_retired;
	struct mr_team_page page;
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT(struct listing),
	MR_PARAM(struct listing, include_retired, "include_retired",
		.summary = "also those that are retired", .fallback = "false"),
	MR_TEAM_PAGE(struct listing, page),
	{ 0 },
};

struct listed {
	struct mr_team_agents found;
	int64_t next;
};

static const struct mr_field list_fields[] = {
	MR_FIELD_LIST(struct listed, found, struct mr_team_agent, mr_shape_team_agent_fields,
		"result"),
	MR_TEAM_NEXT(struct listed, next),
	{ 0 },
};

static enum mr_code list_agents(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *asked, struct listed *out)
{
	struct mr_team_project project;
	enum mr_code rc = mr_team_ask_agents(cx, team, asked->project_key, !asked->include_retired,
		&project, &out->found);

	if (!rc)
		rc = mr_team_page_cut(cx, &asked->page, out->found.items, sizeof(*out->found.items),
			&out->found.len, &out->next);
	return rc;
}
MR_TEAM_BIND(list, list_agents, struct listing, struct listed);

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
	.bind = &list,
	.render = mr_render_agents,
};

struct delete_request {
	const char *project_key, *name;
	bool purge;
};

static const struct mr_param delete_params[] = {
	MR_TEAM_PROJECT(struct delete_request),
	MR_PARAM(struct delete_request, name, "name",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR,
		.summary = "the agent's name, in any case", .aliases = alias_name),
	MR_PARAM(struct delete_request, purge, "purge", .flags = MR_ADMIN_ONLY,
		.summary = "delete it and the messages it sent, for good; the archive's history "
			   "stays",
		.fallback = "false"),
	{ 0 },
};

static const struct mr_field delete_fields[] = {
	MR_FIELD(struct mr_team_deletion, agent_id, "agent_id"),
	MR_FIELD(struct mr_team_deletion, agent_name, "agent_name"),
	MR_FIELD(struct mr_team_deletion, project, "project"),
	MR_FIELD(struct mr_team_deletion, purged, "purged"),
	MR_FIELD_TIME(struct mr_team_deletion, deleted_ts, "deleted_ts"),
	MR_FIELD(struct mr_team_deletion, message_recipients_deleted, "message_recipients_deleted"),
	MR_FIELD(struct mr_team_deletion, messages_deleted, "messages_deleted"),
	MR_FIELD(struct mr_team_deletion, file_reservations_deleted, "file_reservations_deleted"),
	MR_FIELD(struct mr_team_deletion, file_reservations_released, "file_reservations_released"),
	{ 0 },
};

static enum mr_code delete_agent(struct mr_call *call, struct mr_team *team,
	const struct delete_request *asked, struct mr_team_deletion *out)
{
	enum mr_code rc = MR_OK;

	if (asked->purge)
		rc = mr_dispatch_confirm(call,
			mr_arena_printf(call->cx.arena,
				"%.60s of %.200s and the messages it sent are deleted, also for "
				"those who received them. Go on?",
				asked->name, asked->project_key));
	return rc ? rc
		  : mr_team_agent_delete(&call->cx, team, asked->project_key, asked->name,
			    asked->purge, out);
}
MR_TEAM_BIND_CALL(retire, delete_agent, struct delete_request, struct mr_team_deletion);

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
	.bind = &retire,
	.render = mr_render_retired,
};
