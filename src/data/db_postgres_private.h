/*
 * data/db_postgres_private.h - what the files of the PostgreSQL driver share; nothing else includes
 * libpq-fe.h.
 *
 *   db_postgres.c         connections, transactions, statements
 *   db_postgres_connect.c the way to a server
 *   db_postgres_lib.c     libpq, loaded when it is needed
 *   db_postgres_duty.c    who does what one must do alone
 *   db_postgres_error.c   the server's errors as ours
 *   db_postgres_listen.c  notices
 *   db_postgres_search.c  full-text search
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
	X(prepare)                                                                                 \
	X(execPrepared)                                                                            \
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

/* Malformed words of a search are MR_EINVAL. */
void mr_db_postgres_mark_search(struct mr_stmt *stmt);

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
	int64_t id, struct mr_err *err);
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
