/* op/team/team_contact.c - operations: who may write to whom. */
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
	{ .name = "project_key",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the project of the agent that asks",
		.aliases = alias_from_project },
	{ .name = "from_agent",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR,
		.summary = "who asks",
		.aliases = alias_from },
	{ .name = "to_agent",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "who is asked: Name, or Name@project",
		.aliases = alias_to },
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
		.fallback = "604800, a week; what is approved at once stands 30 days",
		.aliases = alias_ttl },
	{ 0 },
};

static const struct mr_field request_fields[] = {
	MR_SHAPE_TEAM_LINK_FIELDS,
	{ .name = "notified", .type = MR_TYPE_BOOL, .summary = "whether the other got a message" },
	{ 0 },
};

static enum mr_code request(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_contact_request asked = {
		.project_key = mr_args_text(in, "project_key"),
		.from_agent = mr_args_text(in, "from_agent"),
		.to_project = mr_args_text(in, "to_project"),
		.to_agent = mr_args_text(in, "to_agent"),
		.reason = mr_args_text(in, "reason"),
		.ttl_s = mr_args_int(in, "ttl_seconds", 0),
	};
	struct mr_team_link link;
	struct mr_team *team;
	bool notified = false;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_contact_ask(&call->cx, team, &asked, &link, &notified);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_link_members(out, &link);
	mr_out_bool(out, "notified", notified);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_contact_request = {
	.name = "request_contact",
	.command = "team contact request",
	.summary = "Ask an agent of another project to take one's messages",
	.help = "Use it when a message was refused with CONTACT_REQUIRED. An agent that "
		"is open, or auto and of the same program, is a contact at once; others "
		"get a message that tells them how to answer.",
	.cluster = "contact",
	.params = request_params,
	.result = request_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = request,
	.render = mr_render_link,
};

static const char *const alias_responder_project[] = { "project_slug", "project", "to_project_slug",
	"to_project", NULL };
static const char *const alias_responder[] = { "to_agent_name", "agent_name", "agent", NULL };
static const char *const alias_requester[] = { "from_agent_name", NULL };
static const char *const alias_requester_project[] = { "from_project_slug", NULL };

static const char *const answers[] = { "approved", "blocked", NULL };

/* Nothing is required: a link's number can stand for the names. */
static const struct mr_param respond_params[] = {
	{ .name = "project_key",
		.type = MR_TYPE_TEXT,
		.flags = MR_POSITIONAL,
		.summary = "the project of the agent that answers",
		.aliases = alias_responder_project },
	{ .name = "to_agent",
		.type = MR_TYPE_TEXT,
		.flags = MR_POSITIONAL | MR_ACTOR,
		.summary = "who answers",
		.aliases = alias_responder },
	{ .name = "from_agent",
		.type = MR_TYPE_TEXT,
		.flags = MR_POSITIONAL,
		.summary = "who had asked: Name, or Name@project",
		.aliases = alias_requester },
	{ .name = "from_project",
		.type = MR_TYPE_TEXT,
		.summary = "its project; left out, the name is looked for as in a message",
		.aliases = alias_requester_project },
	{ .name = "link_id",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = INT64_MAX,
		.summary = "the request's number, in place of the names" },
	{ .name = "status",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.choices = answers,
		.summary = "the answer" },
	{ .name = "accept", .type = MR_TYPE_BOOL, .summary = "the same answer as a yes or a no" },
	{ .name = "ttl_seconds",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = MR_TEAM_CONTACT_TTL_MAX_S,
		.summary = "how long an approval stands",
		.fallback = "2592000, 30 days",
		.aliases = alias_ttl },
	{ 0 },
};

static const struct mr_field respond_fields[] = {
	MR_SHAPE_TEAM_LINK_FIELDS,
	{ .name = "updated",
		.type = MR_TYPE_INT,
		.summary = "1, or 0 when it was blocked already" },
	{ 0 },
};

/* `accept`, `status`, or both if they agree. */
static enum mr_code read_answer(struct mr_call *call, const struct mr_args *in, bool *approve)
{
	enum mr_team_link_status status = MR_TEAM_PENDING;
	const char *word = mr_args_text(in, "status");

	if (!word && !mr_args_has(in, "accept"))
		return mr_team_refuse(&call->cx, "status",
			"an answer is needed: status approved or blocked");
	*approve = mr_args_bool(in, "accept", false);
	if (!word)
		return MR_OK;
	if (!mr_team_link_status_of(word, &status) || status == MR_TEAM_PENDING)
		return mr_team_refuse(&call->cx, "status",
			"\"%s\" is no answer: approved or blocked", word);
	if (mr_args_has(in, "accept") && *approve != (status == MR_TEAM_APPROVED))
		return mr_team_refuse(&call->cx, "status", "status %s and accept %s disagree", word,
			*approve ? "true" : "false");
	*approve = status == MR_TEAM_APPROVED;
	return MR_OK;
}

static enum mr_code respond(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_contact_answer answer = {
		.project_key = mr_args_text(in, "project_key"),
		.to_agent = mr_args_text(in, "to_agent"),
		.from_project = mr_args_text(in, "from_project"),
		.from_agent = mr_args_text(in, "from_agent"),
		.link_id = mr_args_int(in, "link_id", 0),
		.ttl_s = mr_args_int(in, "ttl_seconds", 0),
	};
	struct mr_team_link link;
	struct mr_team *team;
	int64_t updated = 0;
	enum mr_code rc = read_answer(call, in, &answer.approve);

	if (!rc)
		rc = mr_team_home_open(call, &team);
	if (!rc)
		rc = mr_team_contact_respond(&call->cx, team, &answer, &link, &updated);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_link_members(out, &link);
	mr_out_int(out, "updated", updated);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_contact_respond = {
	.name = "respond_contact",
	.command = "team contact respond",
	.summary = "Answer a contact request",
	.help = "Use it when somebody has asked to be your contact. Approving somebody "
		"who has not asked lets that agent write to this one. Blocking stops "
		"messages in both directions until it is taken back by approving.",
	.cluster = "contact",
	.params = respond_params,
	.result = respond_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = respond,
	.render = mr_render_link,
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "status",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.choices = mr_shape_team_link_statuses,
		.summary = "only these" },
	MR_TEAM_PAGE_PARAMS,
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "agent", .type = MR_TYPE_TEXT },
	{ .name = "contacts",
		.type = MR_TYPE_LIST,
		.fields = mr_shape_team_link_fields,
		.summary = "asked by it or of it, last changed first" },
	{ 0 },
};

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_agent agent;
	struct mr_team_links links;
	struct mr_team *team;
	size_t from, until;
	int64_t *ids;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_ask_contacts(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_text(in, "status"), &agent, &links);
	if (rc)
		return rc;
	ids = mr_arena_array(call->cx.arena, links.len, sizeof(*ids));
	for (size_t i = 0; i < links.len; i++)
		ids[i] = links.items[i].id;
	rc = mr_team_page(call, in, ids, links.len, &from, &until);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_text(out, "agent", agent.name);
	mr_out_list(out, "contacts");
	for (size_t i = from; i < until; i++)
		mr_shape_team_link(out, NULL, &links.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

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
	.run = list,
	.render = mr_render_contacts,
};

static const char *const alias_policy[] = { "contact_policy", NULL };

static const struct mr_param policy_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "policy",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "which one",
		.choices = mr_shape_team_contact_policies,
		.aliases = alias_policy },
	{ 0 },
};

static enum mr_code set_policy(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_agent_edit edit = { .contact_policy = mr_args_text(in, "policy") };
	enum mr_team_contact_policy policy;
	struct mr_team_agent agent;
	struct mr_team *team;
	enum mr_code rc = MR_OK;

	if (!mr_team_contact_policy_of(edit.contact_policy, &policy))
		return mr_team_refuse(&call->cx, "policy",
			"\"%s\" is no contact policy: open, auto, contacts_only, block_all",
			edit.contact_policy);
	rc = mr_team_home_open(call, &team);
	if (!rc)
		rc = mr_team_agent_update(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), &edit, "set_contact_policy", &agent);
	if (!rc)
		mr_shape_team_agent(out, NULL, &agent);
	return rc;
}

const struct mr_op mr_op_team_contact_policy = {
	.name = "set_contact_policy",
	.command = "team contact policy",
	.summary = "Set who may write to an agent",
	.help = "Use it to keep out mail that nobody asked for, or to let it in. open: everybody. "
		"auto: contacts, and who has to do with it: the same "
		"program, a thread both are in, projects of one product, leases that "
		"overlap. contacts_only: contacts. block_all: contacts it has approved, "
		"and answers to what it wrote. Within a project only block_all and "
		"blocked contacts count.",
	.cluster = "contact",
	.params = policy_params,
	.result = mr_shape_team_agent_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = set_policy,
	.render = mr_render_agent,
};
