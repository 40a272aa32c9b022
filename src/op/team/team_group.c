/* op/team/team_group.c - operations: groups of agents that have a name. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/group.h"

static const struct mr_field group_fields[] = {
	MR_FIELD(struct mr_team_group, name, "name", .summary = "write to it as @name"),
	MR_FIELD(struct mr_team_group, members, "members"),
	MR_FIELD_TIME(struct mr_team_group, created_ts, "created_ts", .flags = MR_NULLABLE),
	{ 0 },
};

static const struct mr_param set_params[] = {
	MR_TEAM_PROJECT(struct mr_team_group_edit),
	MR_TEAM_AGENT(struct mr_team_group_edit),
	MR_PARAM(struct mr_team_group_edit, name, "name", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "letters, digits, - and _: reviewers"),
	MR_PARAM(struct mr_team_group_edit, members, "members", .flags = MR_POSITIONAL,
		.summary = "agents of the project, instead of those it had; none deletes it"),
	{ 0 },
};
MR_TEAM_BIND(set, mr_team_group_set, struct mr_team_group_edit, struct mr_team_group);

const struct mr_op mr_op_team_group_set = {
	.name = "set_group",
	.command = "team group set",
	.summary = "Set who is meant by @name in a project",
	.help = "Use it when several agents are written to again and again. @all, @active and "
		"@program:codex need no group.",
	.cluster = "messaging",
	.params = set_params,
	.result = group_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &set,
};

struct listing {
	const char *project_key;
	struct mr_team_page page;
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT(struct listing),
	MR_TEAM_PAGE(struct listing, page),
	{ 0 },
};

struct listed {
	struct mr_team_groups found;
	int64_t next;
};

static const struct mr_field list_fields[] = {
	MR_FIELD_LIST(struct listed, found, struct mr_team_group, group_fields, "result"),
	MR_TEAM_NEXT(struct listed, next),
	{ 0 },
};

static enum mr_code list_groups(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *asked, struct listed *out)
{
	enum mr_code rc = mr_team_group_list(cx, team, asked->project_key, &out->found);

	if (!rc)
		rc = mr_team_page_cut(cx, &asked->page, out->found.items, sizeof(*out->found.items),
			&out->found.len, &out->next);
	return rc;
}
MR_TEAM_BIND(list, list_groups, struct listing, struct listed);

const struct mr_op mr_op_team_group_list = {
	.name = "list_groups",
	.command = "team group list",
	.summary = "List the groups of a project and who is in them",
	.help = "Use it to see who a message to @name would reach.",
	.cluster = "messaging",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &list,
	.render = mr_render_groups,
};
