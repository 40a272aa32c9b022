/* op/team/team_traffic.c - operation: who writes to whom. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/traffic.h"

struct asked {
	const char *project_key;
	int64_t limit;
};

static const struct mr_param params[] = {
	MR_TEAM_PROJECT(struct asked),
	MR_PARAM(struct asked, limit, "limit", .min = 1, .max = MR_TEAM_TRAFFIC_MESSAGES,
		.summary = "of the newest so many messages", .fallback = "2000"),
	{ 0 },
};

static const struct mr_field pair_fields[] = {
	MR_FIELD(struct mr_team_traffic_pair, from, "from"),
	MR_FIELD(struct mr_team_traffic_pair, from_project, "from_project", .summary = "its slug"),
	MR_FIELD(struct mr_team_traffic_pair, to, "to"),
	MR_FIELD(struct mr_team_traffic_pair, to_project, "to_project"),
	MR_FIELD(struct mr_team_traffic_pair, messages, "messages"),
	MR_FIELD_TIME(struct mr_team_traffic_pair, last_ts, "last_ts"),
	{ 0 },
};

static const struct mr_field fields[] = {
	MR_FIELD_LIST(struct mr_team_traffic, pairs, struct mr_team_traffic_pair, pair_fields,
		"result", .summary = "the busiest first"),
	MR_FIELD(struct mr_team_traffic, messages, "messages", .summary = "that were counted"),
	MR_FIELD_TIME(struct mr_team_traffic, since_ts, "since_ts", .flags = MR_NULLABLE,
		.summary = "of the oldest of them"),
	{ 0 },
};

static enum mr_code count(struct mr_call *call, struct mr_team *team, const struct asked *asked,
	struct mr_team_traffic *out)
{
	return mr_team_traffic(&call->cx, team, &call->rights, asked->project_key, asked->limit,
		out);
}
MR_TEAM_BIND_CALL(traffic, count, struct asked, struct mr_team_traffic);

const struct mr_op mr_op_team_traffic = {
	.name = "project_traffic",
	.command = "team traffic",
	.summary = "Who writes to whom in a project, and how often of late",
	.cluster = "infrastructure",
	.params = params,
	.result = fields,
	.traits = MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &traffic,
	.render = mr_render_traffic,
};
