/* op/work/work_skill.c - operations: the skill that teaches agents this program. They need no
 * workspace. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/skill.h"

#define AGENT_PARAM                                                                                \
	MR_PARAM(struct mr_work_skill_request, agent, "agent",                                     \
		.summary = "the agent: codex, claude-code, opencode, hermes or all",               \
		.fallback = "all")
#define SCOPE_PARAM                                                                                \
	MR_PARAM(struct mr_work_skill_request, scope, "scope",                                     \
		.summary = "personal: for all that this user does; workspace: in the working "     \
			   "directory alone",                                                      \
		.fallback = "personal")
#define SKILLS_DIR_PARAM                                                                           \
	MR_PARAM(struct mr_work_skill_request, skills_dir, "skills_dir",                           \
		.summary = "another directory of skills, for one agent")

static const struct mr_param status_params[] = {
	AGENT_PARAM,
	SCOPE_PARAM,
	SKILLS_DIR_PARAM,
	{ 0 },
};
static const struct mr_param change_params[] = {
	AGENT_PARAM,
	SCOPE_PARAM,
	SKILLS_DIR_PARAM,
	MR_PARAM(struct mr_work_skill_request, force, "force",
		.summary = "also a file that this program did not write"),
	{ 0 },
};

#define TARGET_FIELD(member, about) MR_WORK_FIELD(struct mr_work_skill_target, member, about)
static const struct mr_field place_fields[] = {
	TARGET_FIELD(agent, "the agent"),
	TARGET_FIELD(scope, "personal or workspace"),
	TARGET_FIELD(skills_dir, "where the agent looks for skills"),
	TARGET_FIELD(skill_dir, "the directory of this skill"),
	TARGET_FIELD(skill_path, "its file"),
	{ 0 },
};
static const struct mr_field target_fields[] = {
	MR_MEMBERS_SAME(struct mr_work_skill_target, place_fields),
	TARGET_FIELD(installed, "a file is there"),
	TARGET_FIELD(managed, "this program wrote it"),
	TARGET_FIELD(valid, "an agent can read it"),
	TARGET_FIELD(current, "it is that of this version"),
	MR_WORK_FIELD_NULL(struct mr_work_skill_target, validation_error, "what is wrong with it"),
	{ 0 },
};
static const struct mr_field removed_target_fields[] = {
	MR_MEMBERS_SAME(struct mr_work_skill_target, place_fields),
	TARGET_FIELD(removed, "it was there and is not any more"),
	{ 0 },
};

/* What the command line does not say; "project" is an older name of the scope. */
static enum mr_code complete(struct mr_call *call, struct mr_work_skill_request *request)
{
	if (mr_str_eq(request->scope, "project"))
		request->scope = "workspace";
	return mr_around_agents(&call->cx, &request->around);
}

/* --- status --- */

static const struct mr_field status_fields[] = {
	MR_WORK_FIELD(struct mr_work_skill_status, skill, "its name"),
	MR_WORK_FIELD(struct mr_work_skill_status, installed_all, "all these agents have it"),
	MR_WORK_FIELD(struct mr_work_skill_status, valid_all, "all of them can read it"),
	MR_WORK_FIELD(struct mr_work_skill_status, current_all,
		"all of them have that of this version"),
	MR_FIELD_ROWS(struct mr_work_skill_status, targets, target_count,
		struct mr_work_skill_target, target_fields, "targets", .summary = "agent by agent"),
	{ 0 },
};

static enum mr_code show_status(struct mr_call *call, struct mr_work_skill_request *request,
	struct mr_work_skill_status *result)
{
	enum mr_code rc = complete(call, request);

	return rc ? rc : mr_work_skill_status(&call->cx, request, result);
}
MR_BIND_ALONE(showing, show_status, struct mr_work_skill_request, struct mr_work_skill_status);

const struct mr_op mr_op_work_skill_status = {
	.name = "work_skill_status",
	.command = "work skill status",
	.summary = "Show which agents have the skill that teaches this program",
	.code = "skill_status",
	.params = status_params,
	.result = status_fields,
	MR_WORK_OP,
	.bind = &showing,
	.render = mr_render_work_skill,
};

/* --- install --- */

static const struct mr_field install_fields[] = {
	MR_WORK_FIELD(struct mr_work_skill_installed, skill, "its name"),
	MR_WORK_FIELD(struct mr_work_skill_installed, installed, "it is there now"),
	MR_FIELD_ROWS(struct mr_work_skill_installed, targets, target_count,
		struct mr_work_skill_target, target_fields, "targets", .summary = "agent by agent"),
	MR_WORK_FIELD(struct mr_work_skill_installed, hint, "what to do now"),
	{ 0 },
};

static enum mr_code install(struct mr_call *call, struct mr_work_skill_request *request,
	struct mr_work_skill_installed *result)
{
	enum mr_code rc = complete(call, request);

	return rc ? rc : mr_work_skill_install(&call->cx, request, result);
}
MR_BIND_ALONE(installing, install, struct mr_work_skill_request, struct mr_work_skill_installed);

const struct mr_op mr_op_work_skill_install = {
	.name = "work_skill_install",
	.command = "work skill install",
	.summary = "Give agents the skill that teaches this program, or refresh it",
	.code = "skill_install",
	.params = change_params,
	.result = install_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &installing,
	.render = mr_render_work_skill,
};

/* --- uninstall --- */

static const struct mr_field uninstall_fields[] = {
	MR_WORK_FIELD(struct mr_work_skill_uninstalled, skill, "its name"),
	MR_WORK_FIELD(struct mr_work_skill_uninstalled, removed_any, "some agent had it"),
	MR_FIELD_ROWS(struct mr_work_skill_uninstalled, targets, target_count,
		struct mr_work_skill_target, removed_target_fields, "targets",
		.summary = "agent by agent"),
	{ 0 },
};

static enum mr_code uninstall(struct mr_call *call, struct mr_work_skill_request *request,
	struct mr_work_skill_uninstalled *result)
{
	enum mr_code rc = complete(call, request);

	return rc ? rc : mr_work_skill_uninstall(&call->cx, request, result);
}
MR_BIND_ALONE(uninstalling, uninstall, struct mr_work_skill_request,
	struct mr_work_skill_uninstalled);

const struct mr_op mr_op_work_skill_uninstall = {
	.name = "work_skill_uninstall",
	.command = "work skill uninstall",
	.summary = "Take the skill away from agents",
	.code = "skill_uninstall",
	.params = change_params,
	.result = uninstall_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &uninstalling,
	.render = mr_render_work_skill_removed,
};
