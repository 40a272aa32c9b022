/* data/db_postgres_duty.c - who does what one must do alone: the holder of an advisory lock. */
#include "base/str.h"
#include "data/db_postgres_private.h"

#include <stdio.h>

/* Of the connection, so that it goes with it. The writers' lock (db_postgres.c) is another. */
#define DUTY_LOCK "7881696737372368750"

static const char SQL_HAVE[] =
	"SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
	" AND pid = pg_backend_pid()"
	" AND CAST(classid AS BIGINT) * 4294967296 + CAST(objid AS BIGINT) = " DUTY_LOCK;
static const char SQL_TAKE[] = "SELECT pg_try_advisory_lock(" DUTY_LOCK ")";
/* The server ends a connection that is silent for so long. Those before 14 do not know it. */
static const char SQL_EXPIRE[] = "SELECT set_config(name, ?1, false) FROM pg_settings"
				 " WHERE name = 'idle_session_timeout'";

/* Is there a row whose first column is true? */
static enum mr_code ask(struct mr_db *db, const char *sql, const char *value, bool *out,
	struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, err);

	if (!rc && value)
		mr_stmt_bind_text(stmt, 1, value);
	if (!rc)
		rc = mr_stmt_step(stmt, &row, err);
	*out = !rc && row && mr_stmt_int(stmt, 0) != 0;
	return rc;
}

enum mr_code mr_db_postgres_duty(struct mr_db *db, bool *mine, struct mr_err *err)
{
	char ms[16];
	bool ignored;
	enum mr_code rc = ask(db, SQL_HAVE, NULL, mine, err);

	if (rc || *mine)
		return rc;
	snprintf(ms, sizeof(ms), "%d", MR_DB_DUTY_MS);
	rc = ask(db, SQL_EXPIRE, ms, &ignored, err);
	return rc ? rc : ask(db, SQL_TAKE, NULL, mine, err);
}
