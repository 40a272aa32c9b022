/* team/traffic_sql.h - pairs of senders and recipients in the database. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "team/traffic.h"

/* `readers` are the ids of the agents whose mail counts, as a JSON list, or NULL. */
MR_CHECK enum mr_code mr_team_traffic_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *readers, int64_t limit, struct mr_team_traffic *out);

/* The first message from this number on, in any project: nothing is set when there is none. */
MR_CHECK enum mr_code mr_team_traffic_next(struct mr_ctx *cx, struct mr_db *db, int64_t from,
	int64_t *id, int64_t *created_ts);
/* One more than the last message's number. */
MR_CHECK enum mr_code mr_team_traffic_end(struct mr_ctx *cx, struct mr_db *db, int64_t *out);
