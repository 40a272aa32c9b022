/* team/probe_sql.h - reads from every table that matters, for the health check. */
#pragma once

#include "team/probe.h"

/* Fills the counts; `*oldest_us` is when the oldest change that waits for the archive was made, or
 * 0. */
MR_CHECK enum mr_code mr_team_probe_counts(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_health *out, int64_t *oldest_us);
