/* data/db_postgres_server.c - how the server stands: its version, connections and standbys. */
#include "data/db_postgres_private.h"

/*
 * Who is no administrator there is not told of every standby's lag: it is NULL then. The lag of a
 * standby that has all there is, and is idle, is none.
 */
static const char SQL_SERVER[] =
	"SELECT current_setting('server_version'), pg_is_in_recovery(),"
	" (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
	" CAST(current_setting('max_connections') AS BIGINT)"
	"  - CAST(current_setting('superuser_reserved_connections') AS BIGINT),"
	" (SELECT count(*) FROM pg_stat_replication),"
	" CAST(1000 * CASE WHEN pg_is_in_recovery() THEN"
	"  CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0"
	"  ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END"
	"  ELSE (SELECT max(extract(epoch FROM replay_lag)) FROM pg_stat_replication) END AS BIGINT),"
	" CAST(100 * pg_notification_queue_usage() AS BIGINT)";

enum mr_code mr_db_postgres_server(struct mr_db *db, struct mr_arena *arena,
	struct mr_db_server *out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_SERVER, &stmt, err);

	if (!rc)
		rc = mr_stmt_step(stmt, &row, err);
	if (rc)
		return rc;
	out->version = mr_stmt_text(stmt, 0, arena);
	out->is_standby = mr_stmt_int(stmt, 1) != 0;
	out->connections = mr_stmt_int(stmt, 2);
	out->connections_max = mr_stmt_int(stmt, 3);
	out->standbys = mr_stmt_int(stmt, 4);
	out->has_lag = !mr_stmt_is_null(stmt, 5);
	out->lag_ms = mr_stmt_int(stmt, 5);
	out->notices_percent = mr_stmt_int(stmt, 6);
	return MR_OK;
}
