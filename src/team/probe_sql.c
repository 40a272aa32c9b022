/*
 * team/probe_sql.c - Counts projects and queued archive rows, and reads the newest agent and
 * message, for the health check.
 */
#include "team/probe_sql.h"

#include "data/rows.h"

/* The newest agent and message are read only to check that they can be. */
static const char SQL_COUNTS[] =
	"SELECT (SELECT count(*) FROM projects), (SELECT count(*) FROM archive_queue),"
	" (SELECT created_ts FROM archive_queue ORDER BY id LIMIT 1),"
	" (SELECT max(id) FROM agents), (SELECT max(id) FROM messages)";

enum mr_code mr_team_probe_counts(struct mr_ctx *cx, struct mr_db *db, struct mr_team_health *out,
	int64_t *oldest_us)
{
	return mr_rows_one(cx, db, SQL_COUNTS, NULL,
		MR_INTO(&out->projects, &out->archive_pending, oldest_us), NULL);
}
