/* op/mailbox/skills.c - operations: the skills that teach agents their mail. */
#include "mailbox/skill.h"
#include "op/bind.h"
#include "op/contract.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/render_agent_mail.h"
#include "op/nouns.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct skills_request {
	const char *agent; /* in place of tool and home */
	struct mr_mailbox_skill_request wanted;
};

#define ASKED(member, ...) MR_PARAM(struct skills_request, member, __VA_ARGS__)
#define PLACE_PARAMS                                                                               \
	ASKED(wanted.tool, "tool", .choices = mr_mailbox_skill_tools,                              \
		.summary = "the agents' program", .fallback = "each whose home is here"),          \
		ASKED(wanted.home, "home", .summary = "its home, if that is another directory"),   \
		ASKED(agent, "agent",                                                              \
			.summary = "the program and the home of this agent, by name")

static const struct mr_param status_params[] = { PLACE_PARAMS, { 0 } };
static const struct mr_param install_params[] = {
	PLACE_PARAMS,
	ASKED(wanted.force, "force",
		.summary = "also over a file that was changed, or that Mailroom did not write"),
	{ 0 },
};
static const struct mr_param uninstall_params[] = {
	PLACE_PARAMS,
	ASKED(wanted.force, "force", .summary = "also a file that was changed since"),
	{ 0 },
};

struct skills_result {
	int schema_version;
	struct mr_mailbox_skills skills;
	const char *hint; /* or NULL */
};

#define SKILL(member, ...) MR_FIELD(struct mr_mailbox_skill, member, __VA_ARGS__)

static const struct mr_field skill_fields[] = {
	SKILL(tool, "tool"),
	SKILL(name, "skill"),
	SKILL(path, "path"),
	SKILL(state, "state", .choices = mr_mailbox_skill_states,
		.summary = "edited: changed since Mailroom wrote it; foreign: not written by it"),
	SKILL(problem, "problem", .flags = MR_NULLABLE, .summary = "why an agent cannot load it"),
	SKILL(action, "action", .flags = MR_OPTIONAL, .summary = "what was done"),
	{ 0 },
};

static const struct mr_field result_fields[] = {
	MR_FIELD(struct skills_result, schema_version, "schema_version"),
	MR_FIELD_LIST(struct skills_result, skills, struct mr_mailbox_skill, skill_fields,
		"skills"),
	MR_FIELD(struct skills_result, hint, "hint", .flags = MR_OPTIONAL),
	{ 0 },
};

/* Program and home as the agent's session has them. */
static enum mr_code use_agent(struct mr_call *call, struct skills_request *asked)
{
	const struct mr_mailbox_selector selector = { .agent_name = asked->agent };
	struct mr_mailbox_place place;
	struct mr_mailbox_agent agent;
	const struct mr_value *plan;
	enum mr_code rc = MR_OK;

	if (asked->wanted.tool || asked->wanted.home)
		rc = mr_err_set(&call->cx.err, MR_EINVAL,
			"--agent says which program and home are meant: give it without --tool "
			"and --home");
	if (!rc)
		rc = mr_mail_session_place(call, &place);
	if (!rc)
		rc = mr_mailbox_agent_select(&call->cx, &place, &selector, &agent);
	if (rc)
		return rc;
	plan = mr_value_get(agent.manifest.value, "launch_plan");
	asked->wanted.tool = agent.manifest.tool;
	asked->wanted.home =
		mr_mailbox_session_text(mr_value_get(plan, "home_selector"), "home_path");
	return MR_OK;
}

static enum mr_code complete(struct mr_call *call, struct skills_request *asked)
{
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)))
		return mr_err_set(&call->cx.err, MR_EIO,
			"the working directory is not there any more");
	asked->wanted.directory = mr_arena_strdup(call->cx.arena, cwd);
	asked->wanted.user_home = getenv("HOME");
	asked->wanted.claude_home = getenv("CLAUDE_CONFIG_DIR");
	asked->wanted.codex_home = getenv("CODEX_HOME");
	asked->wanted.gemini_home = getenv("GEMINI_CLI_HOME");
	return asked->agent ? use_agent(call, asked) : MR_OK;
}

static bool any(const struct mr_mailbox_skills *skills, const char *action)
{
	for (size_t i = 0; i < skills->len; i++) {
		if (mr_str_eq(skills->items[i].action, action))
			return true;
	}
	return false;
}

/* --- status --- */

static enum mr_code show_status(struct mr_call *call, struct skills_request *asked,
	struct skills_result *out)
{
	enum mr_code rc = complete(call, asked);

	out->schema_version = 1;
	return rc ? rc : mr_mailbox_skill_status(&call->cx, &asked->wanted, &out->skills);
}
MR_BIND_ALONE(showing, show_status, struct skills_request, struct skills_result);

const struct mr_op mr_op_skills_status = {
	.name = "skills_status",
	.command = "skills status",
	.summary = "Show which agents' programs have the skills of agents' mail",
	.params = status_params,
	.result = result_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &showing,
	.render = mr_render_mail_skills,
};

/* --- install --- */

static enum mr_code install(struct mr_call *call, struct skills_request *asked,
	struct skills_result *out)
{
	enum mr_code rc = complete(call, asked);

	if (!rc)
		rc = mr_mailbox_skill_install(&call->cx, &asked->wanted, &out->skills);
	if (rc)
		return rc;
	out->schema_version = 1;
	if (any(&out->skills, "kept"))
		out->hint = "What was changed is kept; --force replaces it.";
	else if (any(&out->skills, "installed") || any(&out->skills, "updated"))
		out->hint = "Start the agent anew, so that it loads the skills.";
	return MR_OK;
}
MR_BIND_ALONE(installing, install, struct skills_request, struct skills_result);

const struct mr_op mr_op_skills_install = {
	.name = "skills_install",
	.command = "skills install",
	.summary = "Give agents' programs the skills of agents' mail, or refresh them",
	.help = "Claude has them in CLAUDE_CONFIG_DIR (else ~/.claude), Codex in CODEX_HOME (else "
		"~/.codex), below skills; Gemini in .gemini/skills of GEMINI_CLI_HOME (else ~). A "
		"file that was changed since it was installed is kept.",
	.params = install_params,
	.result = result_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &installing,
	.render = mr_render_mail_skills,
};

/* --- uninstall --- */

static enum mr_code uninstall(struct mr_call *call, struct skills_request *asked,
	struct skills_result *out)
{
	enum mr_code rc = complete(call, asked);

	if (!rc)
		rc = mr_mailbox_skill_uninstall(&call->cx, &asked->wanted, &out->skills);
	if (rc)
		return rc;
	out->schema_version = 1;
	if (any(&out->skills, "kept"))
		out->hint = "What was changed, or not written by Mailroom, is kept.";
	return MR_OK;
}
MR_BIND_ALONE(uninstalling, uninstall, struct skills_request, struct skills_result);

const struct mr_op mr_op_skills_uninstall = {
	.name = "skills_uninstall",
	.command = "skills uninstall",
	.summary = "Take the skills of agents' mail away again",
	.params = uninstall_params,
	.result = result_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &uninstalling,
	.render = mr_render_mail_skills,
};
