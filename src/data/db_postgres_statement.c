/* data/db_postgres_statement.c - statements of PostgreSQL: prepared, bound, run alone or with
 * others. */
#include "data/db_postgres_private.h"

#include "base/oom.h"
#include "base/str.h"
#include "data/db_postgres_memo.h"
#include "data/db_postgres_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHOWN_SQL = 100,
	PARAMETERS_MAX = 64,
	BYTEA = 17, /* the type's number, the same on every server */
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
	struct mr_db_pg *db;
	const char *spelled;
	char name[16];
	unsigned generation;
	struct pg_value values[PARAMETERS_MAX];
	int count;     /* of parameters */
	int bad_index; /* of the first bind that failed */
	PGresult *result;
	struct mr_db_pg_answer *answer; /* has `result`, which others may use, too; or NULL */
	struct mr_db_pg_kind kind;
	int row, rows;
	bool is_search;
};

static struct mr_db_pg *db_of(struct mr_db *db)
{
	return (struct mr_db_pg *)db;
}

static struct pg_stmt *stmt_of(struct mr_stmt *stmt)
{
	return (struct pg_stmt *)stmt;
}

/* --- statements --- */

/* What only reads, and is not a part of a transaction, may be asked again on another connection. */
static bool may_reconnect(const struct mr_db_pg *self)
{
	return self->base.options.read_only && !self->began;
}

static enum mr_code prepare_there(struct pg_stmt *self, struct mr_err *err)
{
	struct mr_db_pg *db = self->db;
	enum mr_code rc = mr_db_postgres_settle(&db->base, err);
	PGresult *result;

	if (rc)
		return rc;
	snprintf(self->name, sizeof(self->name), "mr%u", ++db->names);
	result = mr_db_pg_wait_prepare(db, self->name, self->spelled);
	if (mr_db_pg_is_good(&db->pq, result))
		self->generation = db->generation;
	else
		rc = mr_db_pg_fail(db, result, self->base.sql, err);
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

enum mr_code mr_db_postgres_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct pg_stmt *stmt = mr_arena_alloc(arena, sizeof(*stmt));
	enum mr_code rc;

	stmt->db = db_of(db);
	stmt->base.sql = mr_arena_strdup(arena, sql);
	stmt->spelled = mr_db_postgres_spell(arena, sql);
	stmt->count = count_parameters(stmt->spelled);
	stmt->kind = mr_db_pg_kind(arena, sql);
	if (stmt->count < 0)
		return mr_err_set(err, MR_EINTERNAL, "more than %d parameters in \"%.*s\"",
			PARAMETERS_MAX, SHOWN_SQL, sql);
	if (mr_db_pg_is_lost(stmt->db) && may_reconnect(stmt->db) &&
		mr_db_pg_connect_anew(stmt->db, err))
		return err->code;
	rc = prepare_there(stmt, err);
	if (rc && mr_db_pg_is_lost(stmt->db) && may_reconnect(stmt->db) &&
		!mr_db_pg_connect_anew(stmt->db, err))
		rc = prepare_there(stmt, err);
	if (rc)
		return rc;
	stmt->values_arena = mr_arena_new();
	stmt->arena = arena;
	arena = NULL;
	*out = &stmt->base;
	return MR_OK;
}

static void drop_result(struct pg_stmt *self)
{
	if (self->answer)
		mr_db_pg_answer_release(&self->db->pq, self->answer);
	else
		self->db->pq.clear(self->result);
	self->answer = NULL;
	self->result = NULL;
}

void mr_db_postgres_finalize(struct mr_stmt *stmt)
{
	struct pg_stmt *self = stmt_of(stmt);
	struct mr_err ignored;
	char sql[32];
	PGresult *result;

	/* Its text may be needed for an error. What fails is found again by whoever commits. */
	if (self->db->sent_len > 0 && mr_db_postgres_settle(&self->db->base, &ignored))
		self->db->total_changes++;
	if (self->generation == self->db->generation && !mr_db_pg_is_lost(self->db)) {
		snprintf(sql, sizeof(sql), "DEALLOCATE %s", self->name);
		result = mr_db_pg_wait_exec(self->db, sql);
		self->db->pq.clear(result);
	}
	drop_result(self);
	mr_arena_free(self->values_arena);
	mr_arena_free(self->arena);
}

void mr_db_postgres_reset(struct mr_stmt *stmt)
{
	struct pg_stmt *self = stmt_of(stmt);

	drop_result(self);
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

void mr_db_postgres_bind_int(struct mr_stmt *stmt, int index, int64_t value)
{
	bind(stmt, index,
		(struct pg_value){ mr_arena_printf(stmt_of(stmt)->values_arena, "%" PRId64, value),
			0, false });
}

void mr_db_postgres_bind_real(struct mr_stmt *stmt, int index, double value)
{
	bind(stmt, index,
		(struct pg_value){ mr_arena_printf(stmt_of(stmt)->values_arena, "%.17g", value), 0,
			false });
}

void mr_db_postgres_bind_text(struct mr_stmt *stmt, int index, const char *text)
{
	bind(stmt, index,
		(struct pg_value){ mr_arena_strdup(stmt_of(stmt)->values_arena, text), 0, false });
}

void mr_db_postgres_bind_bytes(struct mr_stmt *stmt, int index, struct mr_bytes bytes)
{
	const char *copy = bytes.len
		? mr_arena_memdup(stmt_of(stmt)->values_arena, bytes.data, bytes.len)
		: "";

	bind(stmt, index, (struct pg_value){ copy, (int)bytes.len, true });
}

void mr_db_postgres_bind_null(struct mr_stmt *stmt, int index)
{
	bind(stmt, index, (struct pg_value){ NULL, 0, false });
}

void mr_db_postgres_bind_ids(struct mr_stmt *stmt, int index, const char *list)
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
	struct mr_db_pg *db = self->db;
	const char *state =
		self->result ? db->pq.resultErrorField(self->result, PG_DIAG_SQLSTATE) : NULL;
	enum mr_code rc = mr_db_pg_fail(db, self->result, self->base.sql, err);

	if (self->is_search && state && (mr_str_eq(state, "42601") || mr_str_starts(state, "22")))
		return mr_err_set(err, MR_EINVAL, "cannot search for that: %s",
			db->pq.resultErrorField(self->result, PG_DIAG_MESSAGE_PRIMARY));
	if (mr_db_pg_is_lost(db) && mr_str_eq(self->base.sql, "COMMIT"))
		return mr_err_set(err, MR_EIO,
			"database %s: the connection was lost at the end of a transaction; it is not "
			"known whether it was stored; look before you ask for it again",
			db->base.options.path);
	return rc;
}

/* The values as libpq takes them. */
struct packed {
	const char *values[PARAMETERS_MAX];
	int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
};

static void pack(const struct pg_stmt *self, struct packed *out)
{
	for (int i = 0; i < self->count; i++) {
		out->values[i] = self->values[i].text;
		out->lengths[i] = self->values[i].len;
		out->formats[i] = self->values[i].is_binary;
	}
}

/* --- many at once --- */

/* To the server, without waiting for what it says. */
static bool send_one(struct pg_stmt *self)
{
	struct mr_db_pg *db = self->db;
	struct packed packed;

	pack(self, &packed);
	return (db->sent_len > 0 || db->pq.enterPipelineMode(db->conn)) &&
		db->pq.sendQueryPrepared(db->conn, self->name, self->count, packed.values,
			packed.lengths, packed.formats, 0);
}

/*
 * The results of all that was sent, and of one more statement when `own` is not NULL: its result
 * goes there. The server does nothing that comes after a failure: that is kept in `*bad`, with its
 * place.
 */
static void take_results(struct mr_db_pg *db, PGresult **own, PGresult **bad, size_t *bad_at)
{
	size_t count = db->sent_len + (own ? 1 : 0), at = 0;
	int64_t until_ms = mr_db_pg_wait_until(db);
	bool has_ended = !db->pq.pipelineSync(db->conn);

	while (!has_ended) {
		PGresult *result;

		mr_db_pg_wait(db, until_ms);
		result = db->pq.getResult(db->conn);
		if (!result) {
			/* The next statement's turn, or there is no server any more. */
			has_ended = mr_db_pg_is_lost(db) || at++ > count;
			continue;
		}
		has_ended = db->pq.resultStatus(result) == PGRES_PIPELINE_SYNC;
		if (!has_ended && !mr_db_pg_is_good(&db->pq, result) && !*bad) {
			*bad = result;
			*bad_at = at;
			continue;
		}
		if (!has_ended && mr_db_pg_is_good(&db->pq, result))
			mr_db_pg_count_changes(db, result);
		if (!has_ended && own && !*bad && at == count - 1)
			*own = result;
		else
			db->pq.clear(result);
	}
	db->pq.exitPipelineMode(db->conn);
}

/* One of those that were sent has failed, or the connection has. */
static enum mr_code fail_sent(struct mr_db_pg *db, PGresult *bad, size_t bad_at, struct mr_err *err)
{
	enum mr_code rc =
		mr_db_pg_fail(db, bad, bad_at < db->sent_len ? db->sent[bad_at] : NULL, err);

	db->pq.clear(bad);
	db->sent_len = 0;
	return rc;
}

enum mr_code mr_db_postgres_settle(struct mr_db *base, struct mr_err *err)
{
	struct mr_db_pg *db = db_of(base);
	PGresult *bad = NULL;
	size_t bad_at = 0;

	if (db->sent_len == 0)
		return MR_OK;
	take_results(db, NULL, &bad, &bad_at);
	if (bad || mr_db_pg_is_lost(db))
		return fail_sent(db, bad, bad_at, err);
	db->sent_len = 0;
	return MR_OK;
}

/* --- what is known already --- */

/* The values of its parameters, one after the other: the key of its answer. */
static struct mr_bytes values_of(const struct pg_stmt *self)
{
	struct mr_buf key MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&key, MR_DB_VALUE_BYTES);
	for (int i = 0; i < self->count; i++) {
		const struct pg_value *value = &self->values[i];
		size_t len = !value->text  ? 0
			: value->is_binary ? (size_t)value->len
					   : strlen(value->text);

		mr_buf_printf(&key, "%c%zu:", value->text ? 'v' : '-', len);
		mr_buf_add(&key, value->text, len);
	}
	return mr_bytes_of(mr_arena_memdup(self->values_arena, mr_buf_text(&key), key.len),
		key.len);
}

static bool recall(struct pg_stmt *self)
{
	struct mr_db_pg_memo *memo = self->db->memo;

	if (!memo || !self->kind.only_reads)
		return false;
	self->answer = mr_db_pg_memo_find(memo, self->base.sql, values_of(self));
	if (!self->answer)
		return false;
	self->result = self->answer->result;
	return true;
}

static void remember(struct pg_stmt *self)
{
	struct mr_db_pg_memo *memo = self->db->memo;

	if (!memo || !self->kind.only_reads)
		return;
	self->answer = calloc(1, sizeof(*self->answer));
	if (!self->answer)
		mr_oom(sizeof(*self->answer));
	*self->answer = (struct mr_db_pg_answer){ .result = self->result, .users = 1 };
	mr_db_pg_memo_keep(&self->db->pq, memo, self->base.sql, values_of(self), self->answer);
}

static void forget_what_changes(struct pg_stmt *self)
{
	if (self->db->memo && !self->kind.only_reads)
		mr_db_pg_memo_forget(&self->db->pq, self->db->memo, self->kind.changes);
}

/* Only in a transaction: what is behind a failure is not done, and nobody would hear of it. */
enum mr_code mr_db_postgres_send(struct mr_stmt *stmt, struct mr_err *err)
{
	struct pg_stmt *self = stmt_of(stmt);
	struct mr_db_pg *db = self->db;
	enum mr_code rc = MR_OK;

	if (!db->began || self->bad_index || self->result)
		return mr_stmt_run(stmt, err);
	if (self->generation != db->generation)
		rc = prepare_there(self, err);
	if (!rc && db->sent_len == MR_DB_PG_SENT)
		rc = mr_db_postgres_settle(&db->base, err);
	if (rc)
		return rc;
	if (!send_one(self))
		return mr_db_pg_fail(db, NULL, self->base.sql, err);
	forget_what_changes(self);
	db->sent[db->sent_len++] = self->base.sql;
	db->total_changes++; /* whatever it will have changed */
	return MR_OK;
}

/* Run it behind those that were sent: the answers to all come at once. */
static enum mr_code run_behind(struct pg_stmt *self, struct mr_err *err)
{
	struct mr_db_pg *db = self->db;
	PGresult *bad = NULL;
	size_t bad_at = 0;

	if (!send_one(self))
		return mr_db_pg_fail(db, NULL, self->base.sql, err);
	take_results(db, &self->result, &bad, &bad_at);
	if (bad && bad_at == db->sent_len) {
		self->result = bad;
		bad = NULL;
	} else if (bad || mr_db_pg_is_lost(db)) {
		return fail_sent(db, bad, bad_at, err);
	}
	db->sent_len = 0;
	return MR_OK;
}

static PGresult *ask(struct pg_stmt *self)
{
	struct packed packed;

	pack(self, &packed);
	return mr_db_pg_wait_run(self->db,
		&(struct mr_db_pq_call){ self->name, self->count, packed.values, packed.lengths,
			packed.formats });
}

/* Have the result, from the server. */
static enum mr_code fetch(struct pg_stmt *self, struct mr_err *err)
{
	struct mr_db_pg *db = self->db;
	enum mr_code rc = MR_OK;

	forget_what_changes(self);
	if (self->generation != db->generation)
		rc = prepare_there(self, err);
	if (rc)
		return rc;
	if (db->sent_len > 0)
		rc = run_behind(self, err);
	else
		self->result = ask(self);
	if (rc)
		return rc;
	if (!mr_db_pg_is_good(&db->pq, self->result) && mr_db_pg_is_lost(db) && !db->is_late &&
		may_reconnect(db)) {
		db->pq.clear(self->result);
		self->result = NULL;
		rc = mr_db_pg_connect_anew(db, err);
		if (!rc)
			rc = prepare_there(self, err);
		if (rc)
			return rc;
		self->result = ask(self);
	}
	if (!mr_db_pg_is_good(&db->pq, self->result)) {
		rc = fail_step(self, err);
		drop_result(self);
		return rc;
	}
	if (!mr_db_pg_in_transaction(&db->base)) {
		db->began = false;
		mr_db_pg_memo_free(&db->pq, db->memo);
		db->memo = NULL;
	}
	mr_db_pg_count_changes(db, self->result);
	remember(self);
	return check_commit(self, err);
}

static enum mr_code run(struct pg_stmt *self, struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	if (self->bad_index)
		return mr_err_set(err, MR_EINTERNAL, "cannot bind ?%d in \"%.*s\"", self->bad_index,
			SHOWN_SQL, self->base.sql);
	if (!recall(self))
		rc = fetch(self, err);
	self->row = -1;
	self->rows = self->result ? self->db->pq.ntuples(self->result) : 0;
	return rc;
}

enum mr_code mr_db_postgres_step(struct mr_stmt *stmt, bool *row, struct mr_err *err)
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

bool mr_db_postgres_is_null(struct mr_stmt *stmt, int column)
{
	return !has_value(stmt_of(stmt), column);
}

struct mr_bytes mr_db_postgres_column_text(struct mr_stmt *stmt, int column)
{
	struct pg_stmt *self = stmt_of(stmt);

	if (!has_value(self, column))
		return mr_bytes_of(NULL, 0);
	return mr_bytes_of(self->db->pq.getvalue(self->result, self->row, column),
		(size_t)self->db->pq.getlength(self->result, self->row, column));
}

int64_t mr_db_postgres_column_int(struct mr_stmt *stmt, int column)
{
	const char *text = (const char *)mr_db_postgres_column_text(stmt, column).data;

	/* A comparison is "t" or "f". */
	return !text ? 0 : *text == 't' ? 1 : strtoll(text, NULL, 10);
}

double mr_db_postgres_column_real(struct mr_stmt *stmt, int column)
{
	const char *text = (const char *)mr_db_postgres_column_text(stmt, column).data;

	return text ? strtod(text, NULL) : 0;
}

static int hex_of(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c - '0';
}

struct mr_bytes mr_db_postgres_column_bytes(struct mr_stmt *stmt, int column)
{
	struct pg_stmt *self = stmt_of(stmt);
	struct mr_bytes text = mr_db_postgres_column_text(stmt, column);
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
