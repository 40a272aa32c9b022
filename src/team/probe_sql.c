/* team/probe_sql.c */
#include "team/probe_sql.h"

/* The newest agent and message are only looked at: they must be readable. */
static const char SQL_COUNTS[] =
	"SELECT (SELECT count(*) FROM projects), (SELECT count(*) FROM archive_queue),"
	" (SELECT created_ts FROM archive_queue ORDER BY id LIMIT 1),"
	" (SELECT max(id) FROM agents), (SELECT max(id) FROM messages)";

enum mr_code mr_team_probe_counts(struct mr_ctx *cx, struct mr_db *db, struct mr_team_health *out,
	int64_t *oldest_us)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_COUNTS, &stmt, &cx->err);
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	out->projects = mr_stmt_int(stmt, 0);
	out->archive_pending = mr_stmt_int(stmt, 1);
	*oldest_us = mr_stmt_int(stmt, 2);
	return MR_OK;
}
