/* op/team/team_contact.c - operations: contacts, which decide whose messages an agent accepts. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"
#include "team/limits.h"

static const char *const alias_from_project[] = { "project_slug", "project", "from_project_slug",
	NULL };
static const char *const alias_from[] = { "from_agent_name", "agent_name", "agent", "sender_name",
	NULL };
static const char *const alias_to[] = { "to_agent_name", "target", NULL };
static const char *const alias_to_project[] = { "to_project_slug", NULL };
static const char *const alias_ttl[] = { "ttl", NULL };

static const struct mr_param request_params[] = {
	MR_PARAM(struct mr_team_contact_request, project_key, "project_key",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_HERE | MR_KNOWN,
		.summary = "the project of the agent that asks", .aliases = alias_from_project),
	MR_PARAM(struct mr_team_contact_request, from_agent, "from_agent",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR | MR_KNOWN, .summary = "who asks",
		.aliases = alias_from),
	MR_PARAM(struct mr_team_contact_request, to_agent, "to_agent",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the agent to ask: Name, or Name@project", .aliases = alias_to),
	MR_PARAM(struct mr_team_contact_request, to_project, "to_project", .flags = MR_KNOWN,
		.summary = "its project; left out, the name is looked for as in a message",
		.aliases = alias_to_project),
	MR_PARAM(struct mr_team_contact_request, reason, "reason", .flags = MR_KNOWN,
		.summary = "what it is about, for the other"),
	MR_PARAM(struct mr_team_contact_request, ttl_s, "ttl_seconds", .flags = MR_RARE, .min = 1,
		.max = MR_TEAM_CONTACT_TTL_MAX_S, .summary = "how long the request stands",
		.fallback = "604800, a week; what is approved at once stands 30 days",
		.aliases = alias_ttl),
	{ 0 },
};

struct asked {
	struct mr_team_link link;
	bool notified;
};

static const struct mr_field request_fields[] = {
	MR_MEMBERS(struct asked, link, struct mr_team_link, mr_shape_team_link_fields),
	MR_FIELD(struct asked, notified, "notified", .summary = "whether the other got a message"),
	{ 0 },
};

static enum mr_code ask_for_contact(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_contact_request *request, struct asked *out)
{
	return mr_team_contact_ask(cx, team, request, &out->link, &out->notified);
}
MR_TEAM_BIND(asking, ask_for_contact, struct mr_team_contact_request, struct asked);

const struct mr_op mr_op_team_contact_request = {
	.name = "request_contact",
	.command = "team contact request",
	.summary = "Ask an agent of another project to take one's messages",
	.help = "For messages refused with CONTACT_REQUIRED. The other is a contact at once when "
		"its policy allows it, or is told how to answer.",
	.cluster = "contact",
	.params = request_params,
	.result = request_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_STANDARD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &asking,
	.render = mr_render_link,
};

static const char *const alias_responder_project[] = { "project_slug", "project", "to_project_slug",
	"to_project", NULL };
static const char *const alias_responder[] = { "to_agent_name", "agent_name", "agent", NULL };
static const char *const alias_requester[] = { "from_agent_name", NULL };
static const char *const alias_requester_project[] = { "from_project_slug", NULL };

static const char *const answers[] = { "approved", "blocked", NULL };

struct answering {
	struct mr_team_contact_answer answer;
	const char *status;
	int accept; /* -1: it was not said */
};

/* Nothing is required: a link's number can stand for the names. */
static const struct mr_param respond_params[] = {
	MR_PARAM(struct answering, answer.project_key, "project_key",
		.flags = MR_POSITIONAL | MR_KNOWN,
		.summary = "the project of the agent that answers",
		.aliases = alias_responder_project),
	MR_PARAM(struct answering, answer.to_agent, "to_agent", .flags = MR_POSITIONAL | MR_ACTOR,
		.summary = "the agent that answers", .aliases = alias_responder),
	MR_PARAM(struct answering, answer.from_agent, "from_agent", .flags = MR_POSITIONAL,
		.summary = "who had asked: Name, or Name@project", .aliases = alias_requester),
	MR_PARAM(struct answering, answer.from_project, "from_project", .flags = MR_KNOWN,
		.summary = "its project; left out, the name is looked for as in a message",
		.aliases = alias_requester_project),
	MR_PARAM(struct answering, answer.link_id, "link_id", .flags = MR_RARE, .min = 1,
		.max = INT64_MAX, .summary = "the request's number, in place of the names"),
	MR_PARAM(struct answering, status, "status", .flags = MR_LENIENT | MR_KNOWN,
		.choices = answers, .summary = "the answer"),
	MR_PARAM(struct answering, accept, "accept", .flags = MR_RARE,
		.summary = "the same answer as a yes or a no"),
	MR_PARAM(struct answering, answer.ttl_s, "ttl_seconds", .flags = MR_RARE, .min = 1,
		.max = MR_TEAM_CONTACT_TTL_MAX_S, .summary = "how long an approval stands",
		.fallback = "2592000, 30 days", .aliases = alias_ttl),
	{ 0 },
};

struct answered {
	struct mr_team_link link;
	int64_t updated;
};

static const struct mr_field respond_fields[] = {
	MR_MEMBERS(struct answered, link, struct mr_team_link, mr_shape_team_link_fields),
	MR_FIELD(struct answered, updated, "updated",
		.summary = "1, or 0 when it was blocked already"),
	{ 0 },
};

/* `accept`, `status`, or both if they agree. */
static enum mr_code read_answer(struct mr_ctx *cx, const struct answering *given, bool *approve)
{
	enum mr_team_link_status status = MR_TEAM_PENDING;

	if (!given->status && given->accept < 0)
		return mr_team_refuse(cx, "status",
			"an answer is needed: status approved or blocked");
	*approve = given->accept > 0;
	if (!given->status)
		return MR_OK;
	if (!mr_team_link_status_of(given->status, &status) || status == MR_TEAM_PENDING)
		return mr_team_refuse(cx, "status", "\"%s\" is no answer: approved or blocked",
			given->status);
	if (given->accept >= 0 && *approve != (status == MR_TEAM_APPROVED))
		return mr_team_refuse(cx, "status", "status %s and accept %s disagree",
			given->status, *approve ? "true" : "false");
	*approve = status == MR_TEAM_APPROVED;
	return MR_OK;
}

static enum mr_code answer_request(struct mr_ctx *cx, struct mr_team *team, struct answering *given,
	struct answered *out)
{
	enum mr_code rc = read_answer(cx, given, &given->answer.approve);

	return rc ? rc
		  : mr_team_contact_respond(cx, team, &given->answer, &out->link, &out->updated);
}
MR_TEAM_BIND(respond, answer_request, struct answering, struct answered);

const struct mr_op mr_op_team_contact_respond = {
	.name = "respond_contact",
	.command = "team contact respond",
	.summary = "Answer a contact request",
	.help = "Blocking stops messages in both directions until you approve.",
	.cluster = "contact",
	.params = respond_params,
	.result = respond_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_STANDARD | MR_IDEMPOTENT | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &respond,
	.render = mr_render_link,
};

struct listing {
	const char *project_key, *agent_name, *status;
	struct mr_team_page page;
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT(struct listing),
	MR_TEAM_AGENT(struct listing),
	MR_PARAM(struct listing, status, "status", .flags = MR_LENIENT,
		.choices = mr_shape_team_link_statuses, .summary = "only these"),
	MR_TEAM_PAGE(struct listing, page),
	{ 0 },
};

struct contacts {
	struct mr_team_agent agent;
	struct mr_team_links links;
	int64_t next;
};

static const struct mr_field list_fields[] = {
	MR_FIELD(struct contacts, agent.name, "agent"),
	MR_FIELD_LIST(struct contacts, links, struct mr_team_link, mr_shape_team_link_fields,
		"contacts", .summary = "asked by it or of it, last changed first"),
	MR_TEAM_NEXT(struct contacts, next),
	{ 0 },
};

static enum mr_code list_contacts(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *asked, struct contacts *out)
{
	enum mr_code rc = mr_team_ask_contacts(cx, team, asked->project_key, asked->agent_name,
		asked->status, &out->agent, &out->links);

	if (!rc)
		rc = mr_team_page_cut(cx, &asked->page, out->links.items, sizeof(*out->links.items),
			&out->links.len, &out->next);
	return rc;
}
MR_TEAM_BIND(list, list_contacts, struct listing, struct contacts);

const struct mr_op mr_op_team_contact_list = {
	.name = "list_contacts",
	.command = "team contact list",
	.summary = "List an agent's contacts and requests, in both directions",
	.help = "Use it to see who may write to you, and who still waits for your answer.",
	.cluster = "contact",
	.params = list_params,
	.result = list_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &list,
	.render = mr_render_contacts,
};

static const struct mr_param all_params[] = {
	MR_TEAM_PROJECT(struct listing),
	MR_PARAM(struct listing, status, "status", .flags = MR_LENIENT,
		.choices = mr_shape_team_link_statuses, .summary = "only these"),
	MR_TEAM_PAGE(struct listing, page),
	{ 0 },
};

struct all_contacts {
	struct mr_team_project project;
	struct mr_team_links links;
	int64_t next;
};

static const struct mr_field all_fields[] = {
	MR_FIELD(struct all_contacts, project.slug, "project"),
	MR_FIELD_LIST(struct all_contacts, links, struct mr_team_link, mr_shape_team_link_fields,
		"contacts", .summary = "asked by its agents or of them, last changed first"),
	MR_TEAM_NEXT(struct all_contacts, next),
	{ 0 },
};

static enum mr_code list_all_contacts(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *asked, struct all_contacts *out)
{
	enum mr_code rc = mr_team_ask_project_contacts(cx, team, asked->project_key, asked->status,
		&out->project, &out->links);

	if (!rc)
		rc = mr_team_page_cut(cx, &asked->page, out->links.items, sizeof(*out->links.items),
			&out->links.len, &out->next);
	return rc;
}
MR_TEAM_BIND(list_all, list_all_contacts, struct listing, struct all_contacts);

const struct mr_op mr_op_team_contact_all = {
	.name = "project_contacts",
	.command = "team contact all",
	.summary = "List the contacts and requests of all agents of a project",
	.cluster = "contact",
	.params = all_params,
	.result = all_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &list_all,
	.render = mr_render_contacts,
};

static const char *const alias_policy[] = { "contact_policy", NULL };

struct policy_request {
	const char *project_key, *agent_name, *policy;
};

static const struct mr_param policy_params[] = {
	MR_TEAM_PROJECT(struct policy_request),
	MR_TEAM_AGENT(struct policy_request),
	MR_PARAM(struct policy_request, policy, "policy",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT | MR_KNOWN,
		.summary = "the contact policy", .choices = mr_shape_team_contact_policies,
		.aliases = alias_policy),
	{ 0 },
};

static enum mr_code set_contact_policy(struct mr_ctx *cx, struct mr_team *team,
	const struct policy_request *asked, struct mr_team_agent *out)
{
	struct mr_team_agent_edit edit = { .contact_policy = asked->policy };
	enum mr_team_contact_policy policy;

	if (!mr_team_contact_policy_of(asked->policy, &policy))
		return mr_team_refuse(cx, "policy",
			"\"%s\" is no contact policy: open, auto, contacts_only, block_all",
			asked->policy);
	return mr_team_agent_update(cx, team, asked->project_key, asked->agent_name, &edit,
		"set_contact_policy", out);
}
MR_TEAM_BIND(set_policy, set_contact_policy, struct policy_request, struct mr_team_agent);

const struct mr_op mr_op_team_contact_policy = {
	.name = "set_contact_policy",
	.command = "team contact policy",
	.summary = "Set who may write to an agent",
	.help = "open: everybody. auto: contacts, and agents there is a reason for (program, thread, "
		"product, leases). contacts_only: contacts. block_all: nobody new.",
	.cluster = "contact",
	.params = policy_params,
	.result = mr_shape_team_agent_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_STANDARD | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &set_policy,
	.render = mr_render_agent,
};
