/* data/db_postgres.c - connections, transactions and statements of PostgreSQL. */
#include "data/db_postgres.h"

#include "base/str.h"
#include "data/db_postgres_private.h"
#include "data/db_postgres_words.h"
#include "text/database_url.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHOWN_SQL = 100,
	PARAMETERS_MAX = 64,
	BYTEA = 17, /* the type's number, the same on every server */
	STATEMENT_S = 60,
};

/* Writers of one database, on all machines, hold this advisory lock one after the other. */
#define WRITER_LOCK "7881696737372368749"

struct pg_db {
	struct mr_db base;
	struct mr_db_pq pq;
	PGconn *conn;
	const char *url;
	unsigned generation; /* of the connection: statements prepared on another are prepared again
			      */
	unsigned names;      /* of statements so far */
	int64_t changes, total_changes;
	bool began; /* a transaction that was neither committed nor rolled back */
};

struct pg_value {
	const char *text; /* NULL is NULL */
	int len;
	bool is_binary;
};

struct pg_stmt {
	struct mr_stmt base;
	struct mr_arena *arena;        /* holds this and the SQL text */
	struct mr_arena *values_arena; /* what was bound, and decoded columns */
	struct pg_db *db;
	const char *spelled;
	char name[16];
	unsigned generation;
	struct pg_value values[PARAMETERS_MAX];
	int count;     /* of parameters */
	int bad_index; /* of the first bind that failed */
	PGresult *result;
	int row, rows;
	bool is_search;
};

static struct pg_db *db_of(struct mr_db *db)
{
	return (struct pg_db *)db;
}

static struct pg_stmt *stmt_of(struct mr_stmt *stmt)
{
	return (struct pg_stmt *)stmt;
}

/* --- connections --- */

static enum mr_code pg_exec(struct mr_db *db, const char *sql, struct mr_err *err);

static enum mr_code set_up(struct pg_db *self, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	char sql[512];

	snprintf(sql, sizeof(sql),
		"SET standard_conforming_strings = on; SET bytea_output = hex; "
		"SET extra_float_digits = 1; SET DateStyle = ISO; SET lock_timeout = %d; "
		"SET statement_timeout = '%ds'; SET idle_in_transaction_session_timeout = '%ds'; "
		"SET default_transaction_read_only = %s; SET synchronous_commit = %s",
		options->busy_timeout_ms > 0 ? options->busy_timeout_ms : 1, STATEMENT_S,
		STATEMENT_S, options->read_only ? "on" : "off",
		options->sync == MR_DB_SYNC_NORMAL ? "off" : "on");
	return pg_exec(&self->base, sql, err);
}

static void pg_close(struct mr_db *db)
{
	db_of(db)->pq.finish(db_of(db)->conn);
}

static enum mr_code connect_anew(struct pg_db *self, struct mr_err *err)
{
	PGconn *conn;
	enum mr_code rc =
		mr_db_postgres_connect(&self->pq, self->url, self->base.options.path, &conn, err);

	if (rc)
		return rc;
	self->pq.finish(self->conn);
	self->conn = conn;
	self->generation++;
	return set_up(self, err);
}

static enum mr_code pg_open(struct mr_arena *arena, const struct mr_db_options *options,
	struct mr_db **out, struct mr_err *err)
{
	struct pg_db *self = mr_arena_alloc(arena, sizeof(*self));
	enum mr_code rc = mr_db_pq_load(&self->pq, err);

	if (rc)
		return rc;
	self->base.options = *options;
	self->url = options->path;
	self->base.options.path = mr_database_url_shown(arena, options->path);
	rc = connect_anew(self, err);
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

static bool is_lost(struct pg_db *self)
{
	return self->pq.status(self->conn) != CONNECTION_OK;
}

/* Has the server closed the connection, without our having noticed? Asks the kernel alone. */
static enum mr_code pg_still_there(struct mr_db *db, struct mr_err *err)
{
	struct pg_db *self = db_of(db);
	struct pollfd at = { .fd = self->pq.socket(self->conn), .events = POLLIN };

	if (!is_lost(self) && poll(&at, 1, 0) == 1 && !self->pq.consumeInput(self->conn))
		return mr_db_postgres_fail(&self->pq, &db->options, self->conn, NULL, NULL, err);
	if (is_lost(self))
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
static bool pg_in_transaction(struct mr_db *db)
{
	struct pg_db *self = db_of(db);
	PGTransactionStatusType status = self->pq.transactionStatus(self->conn);

	return status == PQTRANS_INTRANS || status == PQTRANS_INERROR ||
		(status == PQTRANS_UNKNOWN && self->began);
}

/* --- results --- */

static bool is_good(const struct mr_db_pq *pq, const PGresult *result)
{
	ExecStatusType status = result ? pq->resultStatus(result) : PGRES_FATAL_ERROR;

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
		status == PGRES_EMPTY_QUERY;
}

/* What a result that is no good means. It counts as a change, because a transaction with a failed
 * statement cannot go on: so the queue runs its jobs again, each behind a savepoint. */
static enum mr_code fail(struct pg_db *self, const PGresult *result, const char *sql,
	struct mr_err *err)
{
	self->total_changes++;
	return mr_db_postgres_fail(&self->pq, &self->base.options, self->conn, result, sql, err);
}

static void count_changes(struct pg_db *self, PGresult *result)
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
	struct pg_db *self = db_of(db);
	enum mr_code rc = MR_OK;
	PGresult *result;

	if (strlen(sql) > MR_DB_SQL_BYTES)
		return mr_err_set(err, MR_ELIMIT, "database %s: more than %d bytes of statements",
			db->options.path, MR_DB_SQL_BYTES);
	result = self->pq.exec(self->conn, mr_db_postgres_spell(arena, sql));
	if (!is_good(&self->pq, result))
		rc = fail(self, result, sql, err);
	self->pq.clear(result);
	return rc;
}

/* --- transactions --- */

static enum mr_code pg_begin(struct mr_db *db, enum mr_db_begin how, struct mr_err *err)
{
	struct pg_db *self = db_of(db);
	bool writes = how == MR_DB_IMMEDIATE;
	const char *sql = writes ? "BEGIN; SELECT pg_advisory_xact_lock(" WRITER_LOCK ")"
				 : "BEGIN ISOLATION LEVEL REPEATABLE READ";
	enum mr_code rc;

	if (is_lost(self)) {
		rc = connect_anew(self, err);
		if (rc)
			return rc;
	}
	rc = pg_exec(db, sql, err);
	/* Nothing was done yet, so it is safe to do it again. */
	if (rc && is_lost(self)) {
		rc = connect_anew(self, err);
		if (!rc)
			rc = pg_exec(db, sql, err);
	}
	self->began = true;
	if (rc)
		mr_db_rollback(db);
	return rc;
}

static void pg_rollback(struct mr_db *db)
{
	struct pg_db *self = db_of(db);
	struct mr_err ignored;

	/* The server has rolled back what the connection took along. */
	if (!is_lost(self))
		(void)!pg_exec(db, "ROLLBACK", &ignored);
	self->began = false;
}

/* --- statements --- */

/* What only reads, and is not a part of a transaction, may be asked again on another connection. */
static bool may_reconnect(const struct pg_db *self)
{
	return self->base.options.read_only && !self->began;
}

static enum mr_code prepare_there(struct pg_stmt *self, struct mr_err *err)
{
	struct pg_db *db = self->db;
	enum mr_code rc = MR_OK;
	PGresult *result;

	snprintf(self->name, sizeof(self->name), "mr%u", ++db->names);
	result = db->pq.prepare(db->conn, self->name, self->spelled, 0, NULL);
	if (is_good(&db->pq, result))
		self->generation = db->generation;
	else
		rc = fail(db, result, self->base.sql, err);
	db->pq.clear(result);
	return rc;
}

/* The highest number of a parameter; -1 when it is above PARAMETERS_MAX. */
static int count_parameters(const char *spelled)
{
	int most = 0;

	for (const char *at = strchr(spelled, '$'); at; at = strchr(at + 1, '$')) {
		int number = (int)strtol(at + 1, NULL, 10);

		most = number > most ? number : most;
	}
	return most <= PARAMETERS_MAX ? most : -1;
}

static enum mr_code pg_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct pg_stmt *stmt = mr_arena_alloc(arena, sizeof(*stmt));
	enum mr_code rc;

	stmt->db = db_of(db);
	stmt->base.sql = mr_arena_strdup(arena, sql);
	stmt->spelled = mr_db_postgres_spell(arena, sql);
	stmt->count = count_parameters(stmt->spelled);
	if (stmt->count < 0)
		return mr_err_set(err, MR_EINTERNAL, "more than %d parameters in \"%.*s\"",
			PARAMETERS_MAX, SHOWN_SQL, sql);
	if (is_lost(stmt->db) && may_reconnect(stmt->db) && connect_anew(stmt->db, err))
		return err->code;
	rc = prepare_there(stmt, err);
	if (rc && is_lost(stmt->db) && may_reconnect(stmt->db) && !connect_anew(stmt->db, err))
		rc = prepare_there(stmt, err);
	if (rc)
		return rc;
	stmt->values_arena = mr_arena_new();
	stmt->arena = arena;
	arena = NULL;
	*out = &stmt->base;
	return MR_OK;
}

static void pg_finalize(struct mr_stmt *stmt)
{
	struct pg_stmt *self = stmt_of(stmt);
	char sql[32];
	PGresult *result;

	if (self->generation == self->db->generation && !is_lost(self->db)) {
		snprintf(sql, sizeof(sql), "DEALLOCATE %s", self->name);
		result = self->db->pq.exec(self->db->conn, sql);
		self->db->pq.clear(result);
	}
	self->db->pq.clear(self->result);
	mr_arena_free(self->values_arena);
	mr_arena_free(self->arena);
}

static void pg_reset(struct mr_stmt *stmt)
{
	struct pg_stmt *self = stmt_of(stmt);

	self->db->pq.clear(self->result);
	self->result = NULL;
	self->bad_index = 0;
	memset(self->values, 0, sizeof(self->values));
	mr_arena_free(self->values_arena);
	self->values_arena = mr_arena_new();
}

static void bind(struct mr_stmt *stmt, int index, struct pg_value value)
{
	struct pg_stmt *self = stmt_of(stmt);

	if (index >= 1 && index <= self->count)
		self->values[index - 1] = value;
	else if (!self->bad_index)
		self->bad_index = index;
}

static void pg_bind_int(struct mr_stmt *stmt, int index, int64_t value)
{
	bind(stmt, index,
		(struct pg_value){ mr_arena_printf(stmt_of(stmt)->values_arena, "%" PRId64, value),
			0, false });
}

static void pg_bind_real(struct mr_stmt *stmt, int index, double value)
{
	bind(stmt, index,
		(struct pg_value){ mr_arena_printf(stmt_of(stmt)->values_arena, "%.17g", value), 0,
			false });
}

static void pg_bind_text(struct mr_stmt *stmt, int index, const char *text)
{
	bind(stmt, index,
		(struct pg_value){ mr_arena_strdup(stmt_of(stmt)->values_arena, text), 0, false });
}

static void pg_bind_bytes(struct mr_stmt *stmt, int index, struct mr_bytes bytes)
{
	const char *copy = bytes.len
		? mr_arena_memdup(stmt_of(stmt)->values_arena, bytes.data, bytes.len)
		: "";

	bind(stmt, index, (struct pg_value){ copy, (int)bytes.len, true });
}

static void pg_bind_null(struct mr_stmt *stmt, int index)
{
	bind(stmt, index, (struct pg_value){ NULL, 0, false });
}

static void pg_bind_ids(struct mr_stmt *stmt, int index, const char *list)
{
	bind(stmt, index,
		(struct pg_value){ mr_db_postgres_array(stmt_of(stmt)->values_arena, list), 0,
			false });
}

/* A COMMIT of a transaction in which a statement failed is answered as if all were well. */
static enum mr_code check_commit(struct pg_stmt *self, struct mr_err *err)
{
	if (!mr_str_eq(self->base.sql, "COMMIT") ||
		!mr_str_eq(self->db->pq.cmdStatus(self->result), "ROLLBACK"))
		return MR_OK;
	return mr_err_set(err, MR_ECONFLICT,
		"database %s: the transaction was rolled back, because a statement in it had failed",
		self->db->base.options.path);
}

static enum mr_code fail_step(struct pg_stmt *self, struct mr_err *err)
{
	struct pg_db *db = self->db;
	const char *state =
		self->result ? db->pq.resultErrorField(self->result, PG_DIAG_SQLSTATE) : NULL;
	enum mr_code rc = fail(db, self->result, self->base.sql, err);

	if (self->is_search && state && (mr_str_eq(state, "42601") || mr_str_starts(state, "22")))
		return mr_err_set(err, MR_EINVAL, "cannot search for that: %s",
			db->pq.resultErrorField(self->result, PG_DIAG_MESSAGE_PRIMARY));
	if (is_lost(db) && mr_str_eq(self->base.sql, "COMMIT"))
		return mr_err_set(err, MR_EIO,
			"database %s: the connection was lost at the end of a transaction; it is not "
			"known whether it was stored; look before you ask for it again",
			db->base.options.path);
	return rc;
}

static PGresult *send(struct pg_stmt *self)
{
	const char *values[PARAMETERS_MAX];
	int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];

	for (int i = 0; i < self->count; i++) {
		values[i] = self->values[i].text;
		lengths[i] = self->values[i].len;
		formats[i] = self->values[i].is_binary;
	}
	return self->db->pq.execPrepared(self->db->conn, self->name, self->count, values, lengths,
		formats, 0);
}

static enum mr_code run(struct pg_stmt *self, struct mr_err *err)
{
	struct pg_db *db = self->db;
	enum mr_code rc = MR_OK;

	if (self->bad_index)
		return mr_err_set(err, MR_EINTERNAL, "cannot bind ?%d in \"%.*s\"", self->bad_index,
			SHOWN_SQL, self->base.sql);
	if (self->generation != db->generation)
		rc = prepare_there(self, err);
	if (rc)
		return rc;
	self->result = send(self);
	if (!is_good(&db->pq, self->result) && is_lost(db) && may_reconnect(db)) {
		db->pq.clear(self->result);
		self->result = NULL;
		rc = connect_anew(db, err);
		if (!rc)
			rc = prepare_there(self, err);
		if (rc)
			return rc;
		self->result = send(self);
	}
	if (!is_good(&db->pq, self->result)) {
		rc = fail_step(self, err);
		db->pq.clear(self->result);
		self->result = NULL;
		return rc;
	}
	if (!pg_in_transaction(&db->base))
		db->began = false;
	count_changes(db, self->result);
	self->row = -1;
	self->rows = db->pq.ntuples(self->result);
	return check_commit(self, err);
}

static enum mr_code pg_step(struct mr_stmt *stmt, bool *row, struct mr_err *err)
{
	struct pg_stmt *self = stmt_of(stmt);
	enum mr_code rc = self->result ? MR_OK : run(self, err);

	if (rc)
		return rc;
	if (self->row < self->rows)
		self->row++;
	*row = self->row < self->rows;
	return MR_OK;
}

static bool has_value(const struct pg_stmt *self, int column)
{
	return self->result && self->row >= 0 && self->row < self->rows && column >= 0 &&
		column < self->db->pq.nfields(self->result) &&
		!self->db->pq.getisnull(self->result, self->row, column);
}

static bool pg_is_null(struct mr_stmt *stmt, int column)
{
	return !has_value(stmt_of(stmt), column);
}

static struct mr_bytes pg_column_text(struct mr_stmt *stmt, int column)
{
	struct pg_stmt *self = stmt_of(stmt);

	if (!has_value(self, column))
		return mr_bytes_of(NULL, 0);
	return mr_bytes_of(self->db->pq.getvalue(self->result, self->row, column),
		(size_t)self->db->pq.getlength(self->result, self->row, column));
}

static int64_t pg_column_int(struct mr_stmt *stmt, int column)
{
	const char *text = (const char *)pg_column_text(stmt, column).data;

	/* A comparison is "t" or "f". */
	return !text ? 0 : *text == 't' ? 1 : strtoll(text, NULL, 10);
}

static double pg_column_real(struct mr_stmt *stmt, int column)
{
	const char *text = (const char *)pg_column_text(stmt, column).data;

	return text ? strtod(text, NULL) : 0;
}

static int hex_of(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static struct mr_bytes pg_column_bytes(struct mr_stmt *stmt, int column)
{
	struct pg_stmt *self = stmt_of(stmt);
	struct mr_bytes text = pg_column_text(stmt, column);
	uint8_t *bytes;

	if (!text.data || self->db->pq.ftype(self->result, column) != BYTEA || text.len < 2)
		return text;
	text.data += 2; /* "\x" */
	text.len -= 2;
	bytes = mr_arena_alloc(self->values_arena, text.len / 2 + 1);
	for (size_t i = 0; i + 1 < text.len; i += 2)
		bytes[i / 2] =
			(uint8_t)(hex_of((char)text.data[i]) << 4 | hex_of((char)text.data[i + 1]));
	return mr_bytes_of(bytes, text.len / 2);
}

void mr_db_postgres_mark_search(struct mr_stmt *stmt)
{
	stmt_of(stmt)->is_search = true;
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
	.listen = mr_db_postgres_listen,
	.listener_fd = mr_db_postgres_listener_fd,
	.listener_drain = mr_db_postgres_listener_drain,
	.listener_close = mr_db_postgres_listener_close,
	.duty = mr_db_postgres_duty,
	.is_open_elsewhere = pg_is_open_elsewhere,
	.exec = pg_exec,
	.set_sync = pg_set_sync,
	.changes = pg_changes,
	.total_changes = pg_total_changes,
	.in_transaction = pg_in_transaction,
	.begin = pg_begin,
	.rollback = pg_rollback,
	.has_tables_sql = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
	.has_table_sql = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND "
			 "tablename = ?1",
	.schema_is_transactional = true,
	.tables_sql = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
		      " ORDER BY tablename",
	.columns_sql =
		"SELECT c.column_name, CASE WHEN c.data_type = 'text' THEN 1 ELSE 0 END,"
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
	.prepare = pg_prepare,
	.finalize = pg_finalize,
	.reset = pg_reset,
	.bind_int = pg_bind_int,
	.bind_real = pg_bind_real,
	.bind_text = pg_bind_text,
	.bind_bytes = pg_bind_bytes,
	.bind_null = pg_bind_null,
	.bind_ids = pg_bind_ids,
	.step = pg_step,
	.is_null = pg_is_null,
	.column_int = pg_column_int,
	.column_real = pg_column_real,
	.column_text = pg_column_text,
	.column_bytes = pg_column_bytes,
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
