/* team/overseer.h - agents of a project that nobody registers. */
#pragma once

#include "team/agent.h"

/* A system agent of a project, which policies do not bind; created when it does not exist. Inside a
 * change. */
MR_CHECK enum mr_code mr_team_system_agent(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *wanted, struct mr_team_agent *out);
/* The overseer of a project (MR_TEAM_OVERSEER_NAME), created when it does not exist. Inside a
 * change. */
MR_CHECK enum mr_code mr_team_overseer(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_agent *out);
