/* workspace/skill_agent.h - the agents that skills can be installed for, and where they look. */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

#include <stdbool.h>

#define MR_WORK_SKILL      "agent-first-mail"
#define MR_WORK_SKILL_FILE "SKILL.md"

struct mr_work_agent {
	const char *name;          /* "claude-code" */
	const char *alias;         /* another name for it, or NULL */
	const char *workspace_dir; /* below a project: ".claude/skills" */
};
/* In the order that results have; the last has no name. */
extern const struct mr_work_agent mr_work_agents[];

/* Is it the agent of this name, or is "all" meant? NULL is nobody's name. */
bool mr_work_agent_is(const struct mr_work_agent *agent, const char *name);

/* What is around a command that installs skills. */
struct mr_work_surroundings {
	const char *directory; /* the working directory, absolute */
	const char *home, *codex_home, *xdg_config_home, *hermes_home; /* $HOME ..., or NULL */
};

/* Where the agent looks for the skills of this user; invalid_request without a home. */
MR_CHECK enum mr_code mr_work_agent_dir(struct mr_ctx *cx, const struct mr_work_agent *agent,
	const struct mr_work_surroundings *around, const char **out);
