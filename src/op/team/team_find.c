/* op/team/team_find.c - operation: projects and agents by a few letters. */
#include "op/team/team_ops.h"
#include "team/find.h"

struct asked {
	const char *query;
	int64_t limit;
};

static const struct mr_param params[] = {
	MR_PARAM(struct asked, query, "query", .flags = MR_POSITIONAL | MR_LENIENT,
		.summary = "a part of a project's path, or of an agent's name or task, in any "
			   "case; left out, the most recently active"),
	MR_PARAM(struct asked, limit, "limit", .min = 1, .max = 100,
		.summary = "at most so many projects, and as many agents", .fallback = "10"),
	{ 0 },
};

static const struct mr_field found_fields[] = {
	MR_FIELD(struct mr_team_found, project, "project", .summary = "its slug"),
	MR_FIELD(struct mr_team_found, project_key, "project_key"),
	MR_FIELD(struct mr_team_found, agent, "agent", .flags = MR_OPTIONAL,
		.summary = "an agent of it was found, and not the project"),
	MR_FIELD(struct mr_team_found, task, "task_description", .flags = MR_OPTIONAL),
	{ 0 },
};

static const struct mr_field fields[] = {
	MR_FIELD_ROWS(struct mr_team_founds, items, len, struct mr_team_found, found_fields,
		"result"),
	{ 0 },
};

static enum mr_code find(struct mr_ctx *cx, struct mr_team *team, const struct asked *asked,
	struct mr_team_founds *out)
{
	return mr_team_find(cx, team, asked->query ? asked->query : "", asked->limit, out);
}
MR_TEAM_BIND(finding, find, struct asked, struct mr_team_founds);

const struct mr_op mr_op_team_find = {
	.name = "team_find",
	.command = "team find",
	.summary = "Projects and agents by a few letters of their names",
	.help = "Searches paths of projects, and names and tasks of agents, in all projects. For "
		"mail there is mailroom team search.",
	.params = params,
	.result = fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &finding,
};
