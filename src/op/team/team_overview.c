/* op/team/team_overview.c - operation: what goes on in a project, for a person at a shell. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"
#include "team/inbox.h"

/* How much of everything is shown; the commands that show all of it are named below. */
enum { AGENTS = 20, THREADS = 5, LEASES = 20, WAITING = 20, UNREAD = 1000 };

struct asked {
	const char *project_key;
};

static const struct mr_param params[] = {
	MR_PARAM(struct asked, project_key, "project_key", .flags = MR_REQUIRED | MR_HERE,
		.summary = "its path, its slug, or the last part of its path",
		.aliases = mr_team_alias_project),
	{ 0 },
};

struct member {
	struct mr_team_agent agent;
	int64_t unread;
};
/* An acknowledgement that `agent` owes the message's sender. */
struct owed {
	const char *agent;
	struct mr_team_item item;
};
struct overview {
	struct mr_team_project project;
	struct member *agents;
	struct owed *waiting;
	size_t agent_count, waiting_count;
	struct mr_team_threads threads;
	struct mr_team_leases leases;
	bool more_agents, more_waiting;
};

static const struct mr_field member_fields[] = {
	MR_MEMBERS(struct member, agent, struct mr_team_agent, mr_shape_team_profile_fields),
	MR_FIELD(struct member, unread, "unread",
		.summary = "messages it has not read, counted up to 1000"),
	{ 0 },
};
static const struct mr_field thread_fields[] = {
	MR_FIELD(struct mr_team_thread, thread_id, "thread_id"),
	MR_FIELD(struct mr_team_thread, subject, "subject"),
	MR_FIELD(struct mr_team_thread, messages, "messages"),
	MR_FIELD_TIME(struct mr_team_thread, last_ts, "last_ts"),
	MR_FIELD(struct mr_team_thread, last_from, "last_from"),
	{ 0 },
};
static const struct mr_field owed_fields[] = {
	MR_FIELD(struct owed, agent, "agent", .summary = "it owes the sender an acknowledgement"),
	MR_MEMBERS(struct owed, item, struct mr_team_item, mr_shape_team_listed_fields),
	{ 0 },
};
static const struct mr_field fields[] = {
	MR_FIELD_STRUCT(struct overview, project, struct mr_team_project,
		mr_shape_team_project_fields, "project"),
	MR_FIELD_ROWS(struct overview, agents, agent_count, struct member, member_fields, "agents",
		.summary = "the twenty that were active last"),
	MR_FIELD(struct overview, more_agents, "more_agents", .flags = MR_OPTIONAL),
	MR_FIELD_LIST(struct overview, threads, struct mr_team_thread, thread_fields,
		"conversations", .summary = "the five that were used last"),
	MR_FIELD_LIST(struct overview, leases, struct mr_team_lease, mr_shape_team_lease_fields,
		"leases", .summary = "the newest twenty that hold"),
	MR_FIELD_ROWS(struct overview, waiting, waiting_count, struct owed, owed_fields, "waiting",
		.summary = "acknowledgements that are due"),
	MR_FIELD(struct overview, more_waiting, "more_waiting", .flags = MR_OPTIONAL),
	{ 0 },
};

static enum mr_code find_agents(struct mr_call *call, struct mr_team *team, const char *key,
	struct overview *out)
{
	struct mr_ctx *cx = &call->cx;
	struct mr_team_agents agents;
	int64_t *unread;
	enum mr_code rc = mr_team_ask_agents(cx, team, key, true, &out->project, &agents);

	if (rc)
		return rc;
	out->more_agents = agents.len > AGENTS;
	agents.len = out->more_agents ? AGENTS : agents.len;
	unread = mr_arena_array(cx->arena, agents.len, sizeof(*unread));
	rc = mr_team_ask_unread(cx, team, &agents, UNREAD, unread);
	out->agents = mr_arena_array(cx->arena, agents.len, sizeof(*out->agents));
	out->agent_count = rc ? 0 : agents.len;
	for (size_t i = 0; i < out->agent_count; i++)
		out->agents[i] = (struct member){ agents.items[i], unread[i] };
	return rc;
}

/* What these agents have not acknowledged. */
static enum mr_code find_waiting(struct mr_call *call, struct mr_team *team, struct overview *out)
{
	out->waiting = mr_arena_array(call->cx.arena, WAITING, sizeof(*out->waiting));
	for (size_t i = 0; i < out->agent_count; i++) {
		const struct mr_team_inbox_query query = {
			.project_key = out->project.slug,
			.agent_name = out->agents[i].agent.name,
			.unacked_only = true,
			.limit = WAITING,
		};
		struct mr_team_items items;
		enum mr_code rc = mr_team_inbox_fetch(&call->cx, team, &query, &items);

		if (rc)
			return rc;
		for (size_t k = 0; k < items.len; k++) {
			if (out->waiting_count == WAITING) {
				out->more_waiting = true;
				return MR_OK;
			}
			out->waiting[out->waiting_count++] =
				(struct owed){ out->agents[i].agent.name, items.items[k] };
		}
	}
	return MR_OK;
}

static enum mr_code look(struct mr_call *call, struct mr_team *team, const struct asked *asked,
	struct overview *out)
{
	enum mr_code rc = find_agents(call, team, asked->project_key, out);

	if (!rc)
		rc = mr_team_ask_threads(&call->cx, team, &call->rights, out->project.slug, 0,
			THREADS, &out->threads);
	if (!rc)
		rc = mr_team_reservation_list(&call->cx, team, out->project.slug, true, 0, LEASES,
			&out->leases);
	return rc ? rc : find_waiting(call, team, out);
}
MR_TEAM_BIND_CALL(overview, look, struct asked, struct overview);

const struct mr_op mr_op_team_overview = {
	.name = "team_overview",
	.command = "team",
	.summary = "What goes on in a project: agents, conversations, leases, who waits for whom",
	.help = "Without a project the one of the current directory.",
	.params = params,
	.result = fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &overview,
	.render = mr_render_overview,
};
