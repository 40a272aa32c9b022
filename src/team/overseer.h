/* team/overseer.h - agents of a project that nobody registers. */
#pragma once

#include "team/agent.h"

/* Agents do what the overseer says, so no agent may speak or act under that name, or another that
 * is reserved: PERMISSION_DENIED. Names are compared as agents are found by them. */
MR_CHECK enum mr_code mr_team_not_reserved(struct mr_ctx *cx, const char *agent_name);
/* A system agent of a project, which policies do not bind; created when it does not exist. Inside a
 * change. */
MR_CHECK enum mr_code mr_team_system_agent(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *wanted, struct mr_team_agent *out);
/* The overseer of a project (MR_TEAM_OVERSEER_NAME), created when it does not exist. Inside a
 * change. */
MR_CHECK enum mr_code mr_team_overseer(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_agent *out);
