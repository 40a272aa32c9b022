/* team/retire_sql.h - ends the leases and slots of an agent, or deletes all its rows. All inside
 * a change. */
#pragma once

#include "team/agent.h"

/* Every lease it has not released ends now; the patterns are named for the archive. */
MR_CHECK enum mr_code mr_team_retire_leases(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t now, struct mr_texts *patterns);
/* The same for its build slots; their ids. */
MR_CHECK enum mr_code mr_team_retire_slots(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t now, int64_t **out_ids, size_t *out_len);
/* Delete everything it is in, its messages' words and the agent itself; counts what went. In
 * `after`: the words of its last messages must be there to be removed. */
MR_CHECK enum mr_code mr_team_retire_purge(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_deletion *deletion);
