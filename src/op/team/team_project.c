/* op/team/team_project.c - operations: the projects of a team. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

static const char *const identity_modes[] = { "dir", "git-remote", "git-toplevel", "git-common-dir",
	NULL };
static const char *const alias_key[] = { "project_key", "project", NULL };

static const struct mr_param ensure_params[] = {
	{ .name = "human_key",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the absolute path of the repository, or any name all agree on",
		.aliases = alias_key },
	{ .name = "identity_mode",
		.type = MR_TYPE_TEXT,
		.summary = "what a new project is named after; what does not apply here is dir",
		.choices = identity_modes,
		.fallback = "as configured (team.identity_mode)" },
	{ 0 },
};

static enum mr_code ensure(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team *team;
	struct mr_team_project project;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_project_ensure(&call->cx, team, mr_args_text(in, "human_key"),
			mr_args_text(in, "identity_mode"), &project);
	if (!rc)
		mr_shape_team_project(out, NULL, &project);
	return rc;
}

const struct mr_op mr_op_team_ensure_project = {
	.name = "ensure_project",
	.command = "team ensure-project",
	.summary = "Find a project by its path, or make it",
	.help = "Call it once in a repository before anything else. Who gives the same "
		"path gets the same project.",
	.cluster = "infrastructure",
	.params = ensure_params,
	.result = mr_shape_team_project_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = ensure,
};

static const struct mr_param list_params[] = {
	MR_TEAM_PAGE_PARAMS,
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST, .fields = mr_shape_team_project_fields },
	{ 0 },
};

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_projects projects;
	struct mr_team *team;
	size_t from, until;
	int64_t *ids;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_ask_projects(&call->cx, team, &projects);
	if (rc)
		return rc;
	ids = mr_arena_array(call->cx.arena, projects.len, sizeof(*ids));
	for (size_t i = 0; i < projects.len; i++)
		ids[i] = projects.items[i].id;
	rc = mr_team_page(call, in, ids, projects.len, &from, &until);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_list(out, "result");
	for (size_t i = from; i < until; i++)
		mr_shape_team_project(out, NULL, &projects.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_list_projects = {
	.name = "list_projects",
	.command = "team projects",
	.summary = "List all projects, oldest first",
	.help = "Use it to find a project you have only heard of, oldest first.",
	.cluster = "infrastructure",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = list,
	.render = mr_render_projects,
};
