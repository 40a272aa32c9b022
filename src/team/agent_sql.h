/* team/agent_sql.h - agents, in the database. */
#pragma once

#include "team/agent.h"

/* Everything a registration or an edit may change, by id. */
MR_CHECK enum mr_code mr_team_agent_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *row);
/* Replace its token. */
MR_CHECK enum mr_code mr_team_agent_store_token(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *token);
/* Remember that it asked for another name. */
MR_CHECK enum mr_code mr_team_agent_store_asked(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *asked);
/* Names of the active ones, for suggestions; the most recently registered some thousands. */
MR_CHECK enum mr_code mr_team_agent_names(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_texts *out);
/* Store that it was active at `now`, unless the stored time is close enough. */
MR_CHECK enum mr_code mr_team_agent_touch(struct mr_db *db, int64_t agent_id, int64_t now,
	struct mr_err *err);
