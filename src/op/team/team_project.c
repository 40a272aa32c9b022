/* op/team/team_project.c - operations: the projects of a team. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

static const char *const identity_modes[] = { "repository", "dir", "git-remote", "git-toplevel",
	"git-common-dir", NULL };
static const char *const alias_key[] = { "project_key", "project", NULL };

struct ensuring {
	const char *human_key, *identity_mode;
};

static const struct mr_param ensure_params[] = {
	MR_PARAM(struct ensuring, human_key, "human_key",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_HERE,
		.summary = "the absolute path of the repository, or any name all agree on",
		.aliases = alias_key),
	MR_PARAM(struct ensuring, identity_mode, "identity_mode",
		.summary = "what a new project is named after; what does not apply here is dir",
		.flags = MR_RARE, .choices = identity_modes,
		.fallback = "as configured (team.identity_mode)"),
	{ 0 },
};

static enum mr_code ensure_project(struct mr_ctx *cx, struct mr_team *team,
	const struct ensuring *asked, struct mr_team_project *out)
{
	return mr_team_project_ensure(cx, team, asked->human_key, asked->identity_mode, out);
}
MR_TEAM_BIND(ensure, ensure_project, struct ensuring, struct mr_team_project);

const struct mr_op mr_op_team_ensure_project = {
	.name = "ensure_project",
	.command = "team ensure-project",
	.summary = "Find a project by its path, or make it",
	.help = "macro_start_session does it, too. Directories, worktrees and links of one "
		"repository are one project; `why` says how it was chosen.",
	.cluster = "infrastructure",
	.params = ensure_params,
	.result = mr_shape_team_project_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_STANDARD | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &ensure,
};

struct listing {
	struct mr_team_page page;
};

static const struct mr_param list_params[] = {
	MR_TEAM_PAGE(struct listing, page),
	{ 0 },
};

struct listed {
	struct mr_team_projects found;
	int64_t next;
};

static const struct mr_field list_fields[] = {
	MR_FIELD_LIST(struct listed, found, struct mr_team_project, mr_shape_team_project_fields,
		"result"),
	MR_TEAM_NEXT(struct listed, next),
	{ 0 },
};

static enum mr_code list_projects(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *asked, struct listed *out)
{
	enum mr_code rc = mr_team_ask_projects(cx, team, &out->found);

	if (!rc)
		rc = mr_team_page_cut(cx, &asked->page, out->found.items, sizeof(*out->found.items),
			&out->found.len, &out->next);
	return rc;
}
MR_TEAM_BIND(list, list_projects, struct listing, struct listed);

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
	.bind = &list,
	.render = mr_render_projects,
};

struct naming {
	const char *project_key;
};

static const struct mr_param show_params[] = {
	MR_TEAM_PROJECT(struct naming),
	{ 0 },
};

static enum mr_code show_project(struct mr_ctx *cx, struct mr_team *team,
	const struct naming *asked, struct mr_team_project *out)
{
	return mr_team_ask_called(cx, team, asked->project_key, out);
}
MR_TEAM_BIND(show, show_project, struct naming, struct mr_team_project);

const struct mr_op mr_op_team_show_project = {
	.name = "show_project",
	.command = "team project",
	.summary = "Find a project by its path, its slug, or a part of its path",
	.help = "It is not made when there is none.",
	.params = show_params,
	.result = mr_shape_team_project_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &show,
};
