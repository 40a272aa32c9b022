/*
 * data/db_postgres_private.h - what the files of the PostgreSQL driver share; nothing else includes
 * libpq-fe.h.
 *
 *   db_postgres.c         connections, transactions
 *   db_postgres_statement.c  statements, alone and many at once
 *   db_postgres_connect.c the way to a server
 *   db_postgres_lib.c     libpq, loaded when it is needed
 *   db_postgres_duty.c    who does what one must do alone
 *   db_postgres_error.c   the server's errors as ours
 *   db_postgres_listen.c  notices
 *   db_postgres_memo.c    what a writer's transaction has read
 *   db_postgres_search.c  full-text search
 *   db_postgres_server.c  how the server stands
 *   db_postgres_wait.c    statements, with a limit to how long they are waited for
 */
#pragma once

#include "base/attr.h"
#include "data/db_driver.h"
#include "data/db_postgres.h"

#include <libpq-fe.h>

/* libpq's functions, found at run time: `connectdbParams` is PQconnectdbParams(). */
#define MR_DB_PQ_FUNCTIONS(X)                                                                      \
	X(connectdbParams)                                                                         \
	X(conninfoParse)                                                                           \
	X(conninfoFree)                                                                            \
	X(status)                                                                                  \
	X(transactionStatus)                                                                       \
	X(errorMessage)                                                                            \
	X(socket)                                                                                  \
	X(consumeInput)                                                                            \
	X(notifies)                                                                                \
	X(setNoticeProcessor)                                                                      \
	X(finish)                                                                                  \
	X(exec)                                                                                    \
	X(sendQuery)                                                                               \
	X(sendPrepare)                                                                             \
	X(isBusy)                                                                                  \
	X(enterPipelineMode)                                                                       \
	X(exitPipelineMode)                                                                        \
	X(pipelineSync)                                                                            \
	X(sendQueryPrepared)                                                                       \
	X(getResult)                                                                               \
	X(resultStatus)                                                                            \
	X(resultErrorField)                                                                        \
	X(cmdStatus)                                                                               \
	X(cmdTuples)                                                                               \
	X(ntuples)                                                                                 \
	X(nfields)                                                                                 \
	X(ftype)                                                                                   \
	X(getisnull)                                                                               \
	X(getvalue)                                                                                \
	X(getlength)                                                                               \
	X(resultMemorySize)                                                                        \
	X(clear)                                                                                   \
	X(freemem)

struct mr_db_pq {
#define MR_DB_PQ_MEMBER(name) __typeof__ (&PQ##name)(name);
	MR_DB_PQ_FUNCTIONS(MR_DB_PQ_MEMBER)
#undef MR_DB_PQ_MEMBER
};

/* MR_ENOTFOUND when the library is not installed. */
MR_CHECK enum mr_code mr_db_pq_load(struct mr_db_pq *out, struct mr_err *err);

/* --- db_postgres_connect.c --- */

/* Connect as the URL says. `shown` is the URL without a password, for errors; `*out` is set on
 * success only. */
MR_CHECK enum mr_code mr_db_postgres_connect(const struct mr_db_pq *pq, const char *url,
	const char *shown, PGconn **out, struct mr_err *err);

/* --- db_postgres.c --- */

enum { MR_DB_PG_SENT = 256 };

/* A connection. */
struct mr_db_pg {
	struct mr_db base;
	struct mr_db_pq pq;
	PGconn *conn;
	const char *url;
	unsigned generation; /* of the connection: statements prepared on another are prepared again
			      */
	unsigned names;      /* of statements so far */
	int64_t changes, total_changes;
	bool is_late; /* the connection was given up because the server did not answer */
	bool began;   /* a transaction that was neither committed nor rolled back */
	const char *sent[MR_DB_PG_SENT]; /* statements whose results nobody has asked for yet */
	size_t sent_len;
	struct mr_db_pg_memo *memo; /* of a writer's transaction (db_postgres_memo.h); or NULL */
};

bool mr_db_pg_is_lost(struct mr_db_pg *self);
MR_CHECK enum mr_code mr_db_pg_connect_anew(struct mr_db_pg *self, struct mr_err *err);
bool mr_db_pg_is_good(const struct mr_db_pq *pq, const PGresult *result);
/* What a result that is no good means. It counts as a change, because a transaction with a failed
 * statement cannot go on: so the queue runs its jobs again, each behind a savepoint. */
enum mr_code mr_db_pg_fail(struct mr_db_pg *self, const PGresult *result, const char *sql,
	struct mr_err *err);
void mr_db_pg_count_changes(struct mr_db_pg *self, PGresult *result);
bool mr_db_pg_in_transaction(struct mr_db *db);

/* --- db_postgres_statement.c --- */

/* Malformed words of a search are MR_EINVAL. */
void mr_db_postgres_mark_search(struct mr_stmt *stmt);

/* These are functions of the driver. */
enum mr_code mr_db_postgres_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err);
void mr_db_postgres_finalize(struct mr_stmt *stmt);
void mr_db_postgres_reset(struct mr_stmt *stmt);
void mr_db_postgres_bind_int(struct mr_stmt *stmt, int index, int64_t value);
void mr_db_postgres_bind_real(struct mr_stmt *stmt, int index, double value);
void mr_db_postgres_bind_text(struct mr_stmt *stmt, int index, const char *text);
void mr_db_postgres_bind_bytes(struct mr_stmt *stmt, int index, struct mr_bytes bytes);
void mr_db_postgres_bind_null(struct mr_stmt *stmt, int index);
void mr_db_postgres_bind_ids(struct mr_stmt *stmt, int index, const char *list);
enum mr_code mr_db_postgres_step(struct mr_stmt *stmt, bool *row, struct mr_err *err);
enum mr_code mr_db_postgres_send(struct mr_stmt *stmt, struct mr_err *err);
enum mr_code mr_db_postgres_settle(struct mr_db *db, struct mr_err *err);
bool mr_db_postgres_is_null(struct mr_stmt *stmt, int column);
int64_t mr_db_postgres_column_int(struct mr_stmt *stmt, int column);
double mr_db_postgres_column_real(struct mr_stmt *stmt, int column);
struct mr_bytes mr_db_postgres_column_text(struct mr_stmt *stmt, int column);
struct mr_bytes mr_db_postgres_column_bytes(struct mr_stmt *stmt, int column);

/* --- db_postgres_server.c; a function of the driver --- */

enum mr_code mr_db_postgres_server(struct mr_db *db, struct mr_arena *arena,
	struct mr_db_server *out, struct mr_err *err);

/* --- db_postgres_wait.c --- */

/*
 * As PQexec(), PQprepare() and PQexecPrepared(), but when the server has not answered some seconds
 * after the time that a statement may take, the connection is given up, and `is_late` is set.
 */
PGresult *mr_db_pg_wait_exec(struct mr_db_pg *db, const char *sql);
PGresult *mr_db_pg_wait_prepare(struct mr_db_pg *db, const char *name, const char *sql);
struct mr_db_pq_call {
	const char *name;
	int count;
	const char *const *values;
	const int *lengths, *formats;
};
PGresult *mr_db_pg_wait_run(struct mr_db_pg *db, const struct mr_db_pq_call *call);
/* Until when what is sent now may take. */
int64_t mr_db_pg_wait_until(struct mr_db_pg *db);
/* Wait until PQgetResult() has something to say, or until then. */
void mr_db_pg_wait(struct mr_db_pg *db, int64_t until_ms);

/* --- db_postgres_error.c --- */

/*
 * What went wrong with `result` (NULL: the connection itself) as ours. `sql` may be NULL; it is
 * shown where the statement is wrong, and never holds a user's text.
 */
enum mr_code mr_db_postgres_fail(const struct mr_db_pq *pq, const struct mr_db_options *options,
	const PGconn *conn, const PGresult *result, const char *sql, struct mr_err *err);

/* --- db_postgres_listen.c; these are functions of the driver --- */

enum mr_code mr_db_postgres_listen(const char *url, struct mr_db_listener **out,
	struct mr_err *err);
int mr_db_postgres_listener_fd(const struct mr_db_listener *listener);
bool mr_db_postgres_listener_drain(struct mr_db_listener *listener);
void mr_db_postgres_listener_close(struct mr_db_listener *listener);

/* --- db_postgres_duty.c; a function of the driver --- */

enum mr_code mr_db_postgres_duty(struct mr_db *db, bool *mine, struct mr_err *err);

/* --- db_postgres_search.c; these are functions of the driver --- */

enum mr_code mr_db_postgres_search_create(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
enum mr_code mr_db_postgres_search_add(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, const char *const *texts, struct mr_err *err);
enum mr_code mr_db_postgres_search_remove(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, struct mr_err *err);
enum mr_code mr_db_postgres_search_rebuild(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
enum mr_code mr_db_postgres_search_purge(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
enum mr_code mr_db_postgres_search_check(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
void mr_db_postgres_search_quote(const struct mr_db_search *search, struct mr_buf *match,
	const char *column, const char *term, bool prefix);
enum mr_code mr_db_postgres_search_prepare(struct mr_db *db, const struct mr_db_search *search,
	const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err);
