/* team/gauge_sql.h - the queries behind team/gauge.h. */
#pragma once

#include "team/gauge.h"

/* All but `busy`, which the database does not know. */
MR_CHECK enum mr_code mr_team_gauge_counts(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_gauges *out);
/* As mr_team_tally(). */
MR_CHECK enum mr_code mr_team_gauge_tally(struct mr_ctx *cx, struct mr_db *db, int64_t *seen,
	struct mr_team_tallies *out);
