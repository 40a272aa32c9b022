/* team/overseer.c - The agents of a project that nobody registers: the person who oversees it. */
#include "team/overseer.h"

#include "team/error.h"
#include "team/name.h"

enum mr_code mr_team_not_reserved(struct mr_ctx *cx, const char *agent_name)
{
	const char *name = mr_team_name_sanitise(cx->arena, agent_name);

	if (!mr_team_name_is_reserved(name))
		return MR_OK;
	mr_team_fail(cx, MR_TEAM_PERMISSION_DENIED,
		"no agent may act as %s: agents do what is said under this name. The person who "
		"oversees the project writes on Mailroom's pages, or with `mailroom team say`",
		name);
	return mr_team_fail_text(cx, "agent", name);
}

enum mr_code mr_team_system_agent(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *wanted, struct mr_team_agent *out)
{
	struct mr_team_agent row = *wanted;
	bool found;
	enum mr_code rc = mr_team_agent_seek(cx, db, wanted->project_id, wanted->name, &found, out);

	if (rc || found)
		return rc;
	row.inception_ts = row.last_active_ts = mr_clock_wall_us(cx->clock);
	row.contact_policy = MR_TEAM_OPEN;
	row.is_active = true;
	row.is_system = true;
	return mr_team_agent_insert(cx, db, &row, NULL, out);
}

enum mr_code mr_team_overseer(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_agent *out)
{
	struct mr_team_agent wanted = {
		.project_id = project_id,
		.name = MR_TEAM_OVERSEER_NAME,
		.program = "WebUI",
		.model = "Human",
		.task_description = "The person who oversees the agents of this project",
	};

	return mr_team_system_agent(cx, db, &wanted, out);
}
