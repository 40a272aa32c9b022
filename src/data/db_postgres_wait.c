/*
 * data/db_postgres_wait.c - statements that wait for the server no longer than they may.
 *
 * The server ends a statement that takes too long (statement_timeout). One that stands still, or
 * cannot be reached any more without anybody noticing, does not: so we wait a little longer, and
 * then give the connection up.
 */
#include "base/clock.h"
#include "data/db_postgres_private.h"

#include <poll.h>
#include <sys/socket.h>

enum { GRACE_MS = 5000 };

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

int64_t mr_db_pg_wait_until(struct mr_db_pg *db)
{
	db->is_late = false;
	return now_ms() + db->base.options.statement_ms + GRACE_MS;
}

void mr_db_pg_wait(struct mr_db_pg *db, int64_t until_ms)
{
	const struct mr_db_pq *pq = &db->pq;

	while (pq->isBusy(db->conn)) {
		struct pollfd at = { .fd = pq->socket(db->conn), .events = POLLIN };
		int64_t left_ms = until_ms - now_ms();

		if (left_ms <= 0 && !db->is_late) {
			db->is_late = true;
			shutdown(at.fd, SHUT_RDWR);
		}
		if (poll(&at, 1, left_ms > 0 ? (int)left_ms : 0) != 0 &&
			!pq->consumeInput(db->conn))
			return;
	}
}

/* The first result that is no good, or the last one; NULL when nothing was sent. */
static PGresult *collect(struct mr_db_pg *db, bool sent)
{
	int64_t until_ms = mr_db_pg_wait_until(db);
	PGresult *kept = NULL, *result;

	if (!sent)
		return NULL;
	for (;;) {
		mr_db_pg_wait(db, until_ms);
		result = db->pq.getResult(db->conn);
		if (!result)
			return kept;
		if (kept && !mr_db_pg_is_good(&db->pq, kept)) {
			db->pq.clear(result);
			continue;
		}
		db->pq.clear(kept);
		kept = result;
	}
}

PGresult *mr_db_pg_wait_exec(struct mr_db_pg *db, const char *sql)
{
	return collect(db, db->pq.sendQuery(db->conn, sql));
}

PGresult *mr_db_pg_wait_prepare(struct mr_db_pg *db, const char *name, const char *sql)
{
	return collect(db, db->pq.sendPrepare(db->conn, name, sql, 0, NULL));
}

PGresult *mr_db_pg_wait_run(struct mr_db_pg *db, const struct mr_db_pq_call *call)
{
	return collect(db,
		db->pq.sendQueryPrepared(db->conn, call->name, call->count, call->values,
			call->lengths, call->formats, 0));
}
