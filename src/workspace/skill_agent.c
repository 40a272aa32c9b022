/* workspace/skill_agent.c - the table of agents with skills, and their directories. */
#include "workspace/skill_agent.h"

#include "workspace/error.h"

#include <stddef.h>

const struct mr_work_agent mr_work_agents[] = {
	{ "codex", NULL, ".codex/skills" },
	{ "claude-code", "claude", ".claude/skills" },
	{ "opencode", NULL, ".opencode/skills" },
	{ "hermes", NULL, ".hermes/skills" },
	{ NULL, NULL, NULL },
};

bool mr_work_agent_is(const struct mr_work_agent *agent, const char *name)
{
	return name &&
		(mr_str_eq(name, "all") || mr_str_eq(name, agent->name) ||
			mr_str_eq(name, agent->alias));
}

/* Where the directories of a user are: that of a variable, or one below the home directory. */
struct home {
	const char *variable; /* its value, or NULL */
	const char *below_variable, *below_home;
};

static struct home home_of(const char *agent, const struct mr_work_surroundings *around)
{
	if (mr_str_eq(agent, "codex"))
		return (struct home){ around->codex_home, "skills", ".codex/skills" };
	if (mr_str_eq(agent, "opencode"))
		return (struct home){ around->xdg_config_home, "opencode/skills",
			".config/opencode/skills" };
	if (mr_str_eq(agent, "hermes"))
		return (struct home){ around->hermes_home, "skills", ".hermes/skills" };
	return (struct home){ NULL, NULL, ".claude/skills" };
}

enum mr_code mr_work_agent_dir(struct mr_ctx *cx, const struct mr_work_agent *agent,
	const struct mr_work_surroundings *around, const char **out)
{
	struct home home = home_of(agent->name, around);

	if (!mr_str_is_empty(home.variable)) {
		*out = mr_arena_printf(cx->arena, "%s/%s", home.variable, home.below_variable);
		return MR_OK;
	}
	if (mr_str_is_empty(around->home)) {
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"HOME is not set, so the skills of %s cannot be found", agent->name);
		return mr_work_hint(cx, "Name the directory with --skills-dir.");
	}
	*out = mr_arena_printf(cx->arena, "%s/%s", around->home, home.below_home);
	return MR_OK;
}
