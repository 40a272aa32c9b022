/* data/db_postgres.c - connections and transactions of PostgreSQL. */
#include "data/db_postgres.h"

#include "base/str.h"
#include "data/db_postgres_memo.h"
#include "data/db_postgres_private.h"
#include "data/db_postgres_words.h"
#include "text/database_url.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program that stands still in a transaction keeps others from writing for so long. */
enum { IDLE_MS = 10000 };

/* Writers of one database, on all machines, hold this advisory lock one after the other. */
#define WRITER_LOCK "7881696737372368749"

static struct mr_db_pg *db_of(struct mr_db *db)
{
	return (struct mr_db_pg *)db;
}

/* --- connections --- */

static enum mr_code pg_exec(struct mr_db *db, const char *sql, struct mr_err *err);

static enum mr_code set_up(struct mr_db_pg *self, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	char sql[512];

	snprintf(sql, sizeof(sql),
		"SET standard_conforming_strings = on; SET bytea_output = hex; "
		"SET extra_float_digits = 1; SET DateStyle = ISO; SET lock_timeout = %d; "
		"SET statement_timeout = %d; SET idle_in_transaction_session_timeout = %d; "
		"SET default_transaction_read_only = %s; SET synchronous_commit = %s",
		options->busy_timeout_ms > 0 ? options->busy_timeout_ms : 1, options->statement_ms,
		IDLE_MS, options->read_only ? "on" : "off",
		options->sync == MR_DB_SYNC_NORMAL ? "off" : "on");
	return pg_exec(&self->base, sql, err);
}

/* A transaction of another kind begins, or none. */
static void forget(struct mr_db_pg *self)
{
	mr_db_pg_memo_free(&self->pq, self->memo);
	self->memo = NULL;
}

static void pg_close(struct mr_db *db)
{
	forget(db_of(db));
	db_of(db)->pq.finish(db_of(db)->conn);
}

enum mr_code mr_db_pg_connect_anew(struct mr_db_pg *self, struct mr_err *err)
{
	PGconn *conn;
	enum mr_code rc =
		mr_db_postgres_connect(&self->pq, self->url, self->base.options.path, &conn, err);

	if (rc)
		return rc;
	self->pq.finish(self->conn);
	self->conn = conn;
	self->is_late = false;
	self->generation++;
	return set_up(self, err);
}

static enum mr_code pg_open(struct mr_arena *arena, const struct mr_db_options *options,
	struct mr_db **out, struct mr_err *err)
{
	struct mr_db_pg *self = mr_arena_alloc(arena, sizeof(*self));
	enum mr_code rc = mr_db_pq_load(&self->pq, err);

	if (rc)
		return rc;
	self->base.options = *options;
	self->url = options->path;
	self->base.options.path = mr_database_url_shown(arena, options->path);
	rc = mr_db_pg_connect_anew(self, err);
	if (rc) {
		self->pq.finish(self->conn);
		return rc;
	}
	*out = &self->base;
	return MR_OK;
}

static void pg_keep_log(struct mr_db *db)
{
	(void)db;
}

bool mr_db_pg_is_lost(struct mr_db_pg *self)
{
	return self->pq.status(self->conn) != CONNECTION_OK;
}

/* Has the server closed the connection, without our having noticed? Asks the kernel alone. */
static enum mr_code pg_still_there(struct mr_db *db, struct mr_err *err)
{
	struct mr_db_pg *self = db_of(db);
	struct pollfd at = { .fd = self->pq.socket(self->conn), .events = POLLIN };

	if (!mr_db_pg_is_lost(self) && poll(&at, 1, 0) == 1 && !self->pq.consumeInput(self->conn))
		return mr_db_postgres_fail(&self->pq, &db->options, self->conn, NULL, NULL, err);
	if (mr_db_pg_is_lost(self))
		return mr_db_postgres_fail(&self->pq, &db->options, self->conn, NULL, NULL, err);
	return MR_OK;
}

static void pg_trim_log(struct mr_db *db)
{
	(void)db;
}

/* A commit of its own, which need not reach the disk: a notice may be lost. */
static void pg_notify(struct mr_db *db)
{
	struct mr_err ignored;

	(void)!pg_exec(db,
		"BEGIN READ WRITE; SET LOCAL synchronous_commit = off; NOTIFY mailroom; COMMIT",
		&ignored);
}

static bool pg_is_open_elsewhere(const char *path, long *pid)
{
	(void)path;
	(void)pid;
	return false;
}

static enum mr_code pg_set_sync(struct mr_db *db, enum mr_db_sync sync, struct mr_err *err)
{
	return pg_exec(db,
		sync == MR_DB_SYNC_NORMAL ? "SET synchronous_commit = off"
					  : "SET synchronous_commit = on",
		err);
}

static int64_t pg_changes(struct mr_db *db)
{
	return db_of(db)->changes;
}

static int64_t pg_total_changes(struct mr_db *db)
{
	return db_of(db)->total_changes;
}

/* On a lost connection it is one until the rollback: what comes before must not run outside of it.
 */
bool mr_db_pg_in_transaction(struct mr_db *db)
{
	struct mr_db_pg *self = db_of(db);
	PGTransactionStatusType status = self->pq.transactionStatus(self->conn);

	/* It is busy with what was sent to it, or lost. */
	if (status == PQTRANS_ACTIVE || status == PQTRANS_UNKNOWN)
		return self->began;
	return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

/* --- results --- */

bool mr_db_pg_is_good(const struct mr_db_pq *pq, const PGresult *result)
{
	ExecStatusType status = result ? pq->resultStatus(result) : PGRES_FATAL_ERROR;

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
		status == PGRES_EMPTY_QUERY;
}

enum mr_code mr_db_pg_fail(struct mr_db_pg *self, const PGresult *result, const char *sql,
	struct mr_err *err)
{
	self->total_changes++;
	if (self->is_late && !mr_str_eq(sql, "COMMIT"))
		return mr_err_set(err, MR_ETIMEOUT,
			"database %s: the server has not answered for %d s, and the connection was "
			"given up; try again",
			self->base.options.path, self->base.options.statement_ms / 1000);
	return mr_db_postgres_fail(&self->pq, &self->base.options, self->conn, result, sql, err);
}

void mr_db_pg_count_changes(struct mr_db_pg *self, PGresult *result)
{
	const char *status = self->pq.cmdStatus(result);
	int64_t count = 0;

	if (mr_str_starts(status, "SELECT"))
		return;
	mr_str_to_int(self->pq.cmdTuples(result), &count);
	if (!*self->pq.cmdTuples(result))
		return;
	self->changes = count;
	self->total_changes += count;
}

static enum mr_code pg_exec(struct mr_db *db, const char *sql, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db_pg *self = db_of(db);
	enum mr_code rc = mr_db_postgres_settle(db, err);
	PGresult *result;

	if (rc)
		return rc;
	if (self->memo)
		mr_db_pg_memo_forget(&self->pq, self->memo, NULL);
	if (strlen(sql) > MR_DB_SQL_BYTES)
		return mr_err_set(err, MR_ELIMIT, "database %s: more than %d bytes of statements",
			db->options.path, MR_DB_SQL_BYTES);
	result = mr_db_pg_wait_exec(self, mr_db_postgres_spell(arena, sql));
	if (!mr_db_pg_is_good(&self->pq, result))
		rc = mr_db_pg_fail(self, result, sql, err);
	self->pq.clear(result);
	return rc;
}

/* --- transactions --- */

static enum mr_code pg_begin(struct mr_db *db, enum mr_db_begin how, struct mr_err *err)
{
	struct mr_db_pg *self = db_of(db);
	bool writes = how == MR_DB_IMMEDIATE;
	const char *sql = writes ? "BEGIN ISOLATION LEVEL READ COMMITTED; "
				   "SELECT pg_advisory_xact_lock(" WRITER_LOCK ")"
				 : "BEGIN ISOLATION LEVEL REPEATABLE READ";
	enum mr_code rc;

	if (mr_db_pg_is_lost(self)) {
		rc = mr_db_pg_connect_anew(self, err);
		if (rc)
			return rc;
	}
	rc = pg_exec(db, sql, err);
	/* Nothing was done yet, so it is safe to do it again. */
	if (rc && mr_db_pg_is_lost(self)) {
		rc = mr_db_pg_connect_anew(self, err);
		if (!rc)
			rc = pg_exec(db, sql, err);
	}
	self->began = true;
	forget(self);
	if (rc)
		mr_db_rollback(db);
	else if (writes)
		self->memo = mr_db_pg_memo_new();
	return rc;
}

static void pg_rollback(struct mr_db *db)
{
	struct mr_db_pg *self = db_of(db);
	struct mr_err ignored;

	(void)!mr_db_postgres_settle(db, &ignored);
	/* The server has rolled back what the connection took along. */
	if (!mr_db_pg_is_lost(self))
		(void)!pg_exec(db, "ROLLBACK", &ignored);
	self->began = false;
	forget(self);
}

/* --- what is about files --- */

static enum mr_code no_files(struct mr_db *db, const char *instead, struct mr_err *err)
{
	return mr_err_set(err, MR_ECONFLICT, "database %s is on a server, and has no file: %s",
		db->options.path, instead);
}

static enum mr_code pg_check(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err)
{
	(void)arena;
	(void)out;
	return pg_still_there(db, err);
}

static enum mr_code pg_compact(struct mr_db *db, struct mr_err *err)
{
	return pg_exec(db, "VACUUM FULL", err);
}

static enum mr_code pg_copy(struct mr_db *db, const char *path, struct mr_err *err)
{
	(void)path;
	return no_files(db, "copy it with pg_dump", err);
}

static enum mr_code pg_copy_aside(struct mr_arena *arena, struct mr_db *db, struct mr_db **out,
	struct mr_err *err)
{
	(void)arena;
	(void)out;
	return no_files(db, "copy it with pg_dump", err);
}

/* A transaction that has an id writes its commit to the server's disk, and no table is needed. */
static enum mr_code pg_touch(struct mr_db *db, struct mr_err *err)
{
	return pg_exec(db, "SELECT pg_current_xact_id()", err);
}

const struct mr_db_driver mr_db_postgres = {
	.name = "PostgreSQL",
	.open = pg_open,
	.close = pg_close,
	.keep_log = pg_keep_log,
	.still_there = pg_still_there,
	.touch = pg_touch,
	.trim_log = pg_trim_log,
	.notify = pg_notify,
	.notify_sql = "NOTIFY mailroom",
	.listen = mr_db_postgres_listen,
	.listener_fd = mr_db_postgres_listener_fd,
	.listener_drain = mr_db_postgres_listener_drain,
	.listener_close = mr_db_postgres_listener_close,
	.duty = mr_db_postgres_duty,
	.server = mr_db_postgres_server,
	.is_open_elsewhere = pg_is_open_elsewhere,
	.exec = pg_exec,
	.set_sync = pg_set_sync,
	.changes = pg_changes,
	.total_changes = pg_total_changes,
	.in_transaction = mr_db_pg_in_transaction,
	.begin = pg_begin,
	.rollback = pg_rollback,
	.has_tables_sql = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
	.has_table_sql = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND "
			 "tablename = ?1",
	.schema_is_transactional = true,
	.tables_sql = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
		      " ORDER BY tablename",
	.columns_sql =
		"SELECT c.column_name, CASE c.data_type WHEN 'text' THEN 1 WHEN 'bytea' THEN 2"
		" ELSE 0 END,"
		" COALESCE((SELECT k.ordinal_position FROM information_schema.key_column_usage k"
		"  JOIN information_schema.table_constraints t"
		"  ON t.constraint_schema = k.constraint_schema"
		"  AND t.constraint_name = k.constraint_name AND t.table_name = k.table_name"
		"  WHERE t.constraint_type = 'PRIMARY KEY' AND k.table_schema = c.table_schema"
		"  AND k.table_name = c.table_name AND k.column_name = c.column_name), 0)"
		" FROM information_schema.columns c"
		" WHERE c.table_schema = current_schema() AND c.table_name = ?1"
		" ORDER BY c.ordinal_position",
	.last_id_sql = "SELECT last_value FROM pg_sequences WHERE schemaname = current_schema()"
		       " AND sequencename = CAST(?1 AS TEXT) || '_id_seq'",
	.set_last_id_sql = { "SELECT setval(CAST(pg_get_serial_sequence(?1, 'id') AS REGCLASS),"
			     " CAST(?2 AS BIGINT))" },
	.check = pg_check,
	.compact = pg_compact,
	.copy = pg_copy,
	.copy_aside = pg_copy_aside,
	.prepare = mr_db_postgres_prepare,
	.finalize = mr_db_postgres_finalize,
	.reset = mr_db_postgres_reset,
	.bind_int = mr_db_postgres_bind_int,
	.bind_real = mr_db_postgres_bind_real,
	.bind_text = mr_db_postgres_bind_text,
	.bind_bytes = mr_db_postgres_bind_bytes,
	.bind_null = mr_db_postgres_bind_null,
	.bind_ids = mr_db_postgres_bind_ids,
	.step = mr_db_postgres_step,
	.send = mr_db_postgres_send,
	.settle = mr_db_postgres_settle,
	.is_null = mr_db_postgres_is_null,
	.column_int = mr_db_postgres_column_int,
	.column_real = mr_db_postgres_column_real,
	.column_text = mr_db_postgres_column_text,
	.column_bytes = mr_db_postgres_column_bytes,
	.search_create = mr_db_postgres_search_create,
	.search_add = mr_db_postgres_search_add,
	.search_remove = mr_db_postgres_search_remove,
	.search_rebuild = mr_db_postgres_search_rebuild,
	.search_purge = mr_db_postgres_search_purge,
	.search_check = mr_db_postgres_search_check,
	.search_quote = mr_db_postgres_search_quote,
	.search_words = { " & ", " | ", " & !", "(", ")" },
	.search_prepare = mr_db_postgres_search_prepare,
};
