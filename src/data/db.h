/*
 * data/db.h - a relational database behind an engine's driver.
 *
 * A path is a file of SQLite (data/db_sqlite.h), a URL a database of PostgreSQL
 * (data/db_postgres.h); db_driver.h says what an engine must implement. SQL
 * is written in the subset that SQLite and PostgreSQL share, with parameters ?1, ?2, ...; what the
 * two do differently (search, locking modes) has a function here, or words that the driver replaces
 * by its engine's own:
 *   x IN ids(?1)                       is x in the set bound by mr_stmt_bind_ids()?
 *   x ILIKE ?1                         LIKE that takes A and a for the same
 *   INTEGER PRIMARY KEY AUTOINCREMENT  ids that count up and are never used again
 *   WITHOUT ROWID                      a table that is kept in the order of its primary key
 * Other numbers are BIGINT. A parameter that may be NULL and is compared with nothing says its
 * type, and so does one of two that meet in an operator: CAST(?1 AS TEXT) IS NULL. A column that
 * counts up is left out of an INSERT; NULL is no value of it. A subquery in FROM has a name.
 *
 * A connection belongs to one thread at a time. Errors name the database and, in brackets, the
 * engine's own code:
 *   MR_EBUSY      another process is writing and did not stop within the busy timeout
 *   MR_EEXISTS    a UNIQUE or PRIMARY KEY constraint
 *   MR_ECONFLICT  any other constraint
 *   MR_EFORMAT    the file is damaged or no database: the message ends with `repair_hint`
 *   MR_EPERM      the file or its directory may not be opened or written
 *   MR_ELIMIT     a value or a statement is too long
 *   MR_EIO        the disk is full or failed
 *   MR_EINTERNAL  the statement is wrong: our fault
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mr_db;
struct mr_stmt;

enum {
	MR_DB_BUSY_MS = 5000,
	MR_DB_STATEMENT_MS = 60000,
	MR_DB_STATEMENTS = 64,
	MR_DB_SQL_BYTES = 1 << 20, /* the longest statement: migrations are the longest we have */
	MR_DB_VALUE_BYTES = 256 << 20, /* the largest row: far above any message we accept */
	MR_DB_MATCH_BYTES = 64 << 10,  /* the longest search expression */
};

enum mr_db_journal {
	MR_DB_JOURNAL_WAL,    /* readers and the writer do not wait for each other */
	MR_DB_JOURNAL_DELETE, /* for files whose contract forbids WAL */
	/* The same, but the journal stays, without a valid beginning, for the next commit: much
	 * cheaper where commits follow each other. */
	MR_DB_JOURNAL_PERSIST,
};

enum mr_db_sync {
	MR_DB_SYNC_FULL, /* a commit that returned survives a power cut */
	/* It survives one as soon as anything is synced after it: for a change that a file synced
	 * before it, an intent, can repeat. Only a database without a write-ahead log is faster. */
	MR_DB_SYNC_LATER,
	MR_DB_SYNC_NORMAL, /* it survives our death, but perhaps not a power cut: only for
			      projections */
};

/* Zero means the default everywhere. */
struct mr_db_options {
	const char *path; /* the file; for an engine without files, what names the database */
	bool read_only;
	bool create; /* make the file (mode 0600) when it is missing; its directory must exist */
	bool no_foreign_keys;
	enum mr_db_journal journal; /* not looked at when read-only */
	enum mr_db_sync sync;
	int busy_timeout_ms; /* 0 is MR_DB_BUSY_MS, below 0 does not wait */
	/* Of an engine on a server: a statement that takes longer is MR_ETIMEOUT; 0 is
	 * MR_DB_STATEMENT_MS. */
	int statement_ms;
	size_t statements; /* idle statements kept prepared; 0 is MR_DB_STATEMENTS */
	int cache_kib;     /* pages kept in memory; 0 leaves it to the engine */
	/*
	 * How large the write-ahead log may grow before mr_db_trim_log() makes writers wait for
	 * readers. 0 leaves checkpoints to the engine.
	 */
	int64_t max_log_bytes;
	/* At the end leave the write-ahead log as it is, instead of copying it into the file: for a
	 * database that is opened for each change. A commit that finds the log long copies it. */
	bool keep_log;
	const char
		*repair_hint; /* what to do about a damaged file: "run `mailroom mailbox repair`" */
};

/*
 * MR_ENOTFOUND when the file is missing and not to be created, or its directory is missing. A file
 * that is no database is refused here, not at the first query. `options` is copied.
 */
MR_CHECK enum mr_code mr_db_open(const struct mr_db_options *options, struct mr_db **out,
	struct mr_err *err);
/* Every statement must be done. An open transaction is rolled back. NULL is fine. */
void mr_db_close(struct mr_db *db);
/* For MR_CLEANUP. */
void mr_db_closep(struct mr_db **db);
/* Another way from the next transaction on; not inside of one. */
MR_CHECK enum mr_code mr_db_set_sync(struct mr_db *db, enum mr_db_sync sync, struct mr_err *err);
/*
 * Close without copying the log into the file: for a database that mr_db_still_there() reports as
 * lost. Nothing on disk changes, unless the log was deleted and the file is whole: then the log's
 * last changes are copied into the file, since they would be lost. NULL is fine.
 */
void mr_db_abandon(struct mr_db *db);
/* As given to mr_db_open(), but without a password. */
const char *mr_db_path(const struct mr_db *db);

/*
 * Statements. The SQL text is the key of a cache of idle prepared statements, so preparing is cheap
 * the second time; a statement in use is never handed out again, a second one is made. Give it back
 * with mr_stmt_done(), usually by MR_CLEANUP:
 *
 *	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
 *
 * One statement per text: more is MR_EINTERNAL.
 */
MR_CHECK enum mr_code mr_db_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err);
/* Reset it, forget what was bound, back to the cache; `*stmt` becomes NULL. NULL inside is fine. */
void mr_stmt_done(struct mr_stmt **stmt);
/* Where it was prepared. */
struct mr_db *mr_stmt_db(const struct mr_stmt *stmt);
/* Ready to be bound and stepped anew. */
void mr_stmt_reset(struct mr_stmt *stmt);

/*
 * Parameter `index` is the number after the question mark. Values are copied. A failure is kept and
 * reported by the next step. A NULL text binds NULL, as do bytes whose data is NULL.
 */
void mr_stmt_bind_int(struct mr_stmt *stmt, int index, int64_t value);
void mr_stmt_bind_real(struct mr_stmt *stmt, int index, double value);
void mr_stmt_bind_text(struct mr_stmt *stmt, int index, const char *text);
void mr_stmt_bind_bytes(struct mr_stmt *stmt, int index, struct mr_bytes bytes);
void mr_stmt_bind_null(struct mr_stmt *stmt, int index);
/*
 * A set of ids as one parameter, written [1,2,3]; NULL binds NULL. The statement says
 * `x IN ids(?1)`.
 */
void mr_stmt_bind_ids(struct mr_stmt *stmt, int index, const char *list);

/* `*row` says whether there is a row to look at; without one the statement has ended. */
MR_CHECK enum mr_code mr_stmt_step(struct mr_stmt *stmt, bool *row, struct mr_err *err);
/* Step to the end, whatever rows there are: for statements that change something. */
MR_CHECK enum mr_code mr_stmt_run(struct mr_stmt *stmt, struct mr_err *err);
/*
 * The same for a statement whose result nobody looks at, not even mr_db_changes(): in a transaction
 * an engine on a server sends it along with those that follow, so that many cost one way there and
 * back. It is done before whatever follows. When it fails, the next statement that is waited for,
 * mr_db_settle() or the commit says so, and the transaction must be rolled back.
 */
MR_CHECK enum mr_code mr_stmt_send(struct mr_stmt *stmt, struct mr_err *err);
/* Wait until what was sent is done; its failure is this one's. */
MR_CHECK enum mr_code mr_db_settle(struct mr_db *db, struct mr_err *err);

/*
 * The row's values: `column` counts from 0. Asking for another type converts as the engine does;
 * NULL is 0, NULL, and bytes without data. Text ends at its first NUL and is as UTF-8 as its writer
 * made it.
 */
bool mr_stmt_is_null(struct mr_stmt *stmt, int column);
int64_t mr_stmt_int(struct mr_stmt *stmt, int column);
double mr_stmt_real(struct mr_stmt *stmt, int column);
/* Bytes in the text or blob. */
size_t mr_stmt_len(struct mr_stmt *stmt, int column);
const char *mr_stmt_text(struct mr_stmt *stmt, int column, struct mr_arena *arena);
/* The same without a copy, until the next step. */
const char *mr_stmt_peek(struct mr_stmt *stmt, int column);
struct mr_bytes mr_stmt_bytes(struct mr_stmt *stmt, int column, struct mr_arena *arena);

/* One or more statements without parameters; stops at the first that fails. */
MR_CHECK enum mr_code mr_db_exec(struct mr_db *db, const char *sql, struct mr_err *err);
/* One statement without parameters, from the cache. */
MR_CHECK enum mr_code mr_db_run(struct mr_db *db, const char *sql, struct mr_err *err);
MR_CHECK enum mr_code mr_db_has_table(struct mr_db *db, const char *name, bool *out,
	struct mr_err *err);
/* Is there no table at all? */
MR_CHECK enum mr_code mr_db_is_empty(struct mr_db *db, bool *out, struct mr_err *err);

/* The tables and their columns, for a copy of all rows. Names live in `arena`. */
enum mr_db_type { MR_DB_NUMBER, MR_DB_TEXT, MR_DB_BYTES };
struct mr_db_column {
	const char *name;
	enum mr_db_type type;
	int key; /* its place in the primary key, from 1; 0: not in it */
};
struct mr_db_columns {
	struct mr_db_column *items; /* in the table's order */
	size_t len;
};
/* Its tables, in the order of their names; an engine's own are among them. */
MR_CHECK enum mr_code mr_db_tables(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err);
MR_CHECK enum mr_code mr_db_columns(struct mr_db *db, const char *table, struct mr_arena *arena,
	struct mr_db_columns *out, struct mr_err *err);
/* The highest id that a table whose ids count up has given out, also when its row is gone; 0: none,
 * or the engine does not say. */
MR_CHECK enum mr_code mr_db_last_id(struct mr_db *db, const char *table, int64_t *out,
	struct mr_err *err);
/* The next row's id will be above this one. For tables whose primary key is `id`. */
MR_CHECK enum mr_code mr_db_set_last_id(struct mr_db *db, const char *table, int64_t id,
	struct mr_err *err);

/* Rows changed by the last INSERT, UPDATE or DELETE. */
int64_t mr_db_changes(struct mr_db *db);
/* Rows changed since the connection was opened, also by what was rolled back. */
int64_t mr_db_total_changes(struct mr_db *db);

enum mr_db_begin {
	MR_DB_DEFERRED,  /* reads one unchanging state; becoming a writer later may fail with
			    MR_EBUSY */
	MR_DB_IMMEDIATE, /* is the writer from the start, or waits for its turn */
};

MR_CHECK enum mr_code mr_db_begin(struct mr_db *db, enum mr_db_begin how, struct mr_err *err);
/* On failure the transaction may still be open: roll it back. */
MR_CHECK enum mr_code mr_db_commit(struct mr_db *db, struct mr_err *err);
/* Outside a transaction it does nothing. A failure needs no handling by the caller. */
void mr_db_rollback(struct mr_db *db);
/* Does a rollback undo a change of tables and indexes, too? Then a copy to try it on is not needed.
 */
bool mr_db_schema_is_transactional(const struct mr_db *db);
/* A full disk or an I/O error may end a transaction by itself. */
bool mr_db_in_transaction(struct mr_db *db);

/* Savepoints nest; release and rollback concern the innermost. Rolling back also ends it. */
MR_CHECK enum mr_code mr_db_savepoint(struct mr_db *db, struct mr_err *err);
MR_CHECK enum mr_code mr_db_release(struct mr_db *db, struct mr_err *err);
MR_CHECK enum mr_code mr_db_rollback_to(struct mr_db *db, struct mr_err *err);

/*
 * Does the path still name the file that this connection has open, and is that still a database?
 * The engine itself goes on writing to a file that was deleted. MR_EIO when the file or its log was
 * deleted, moved or replaced; MR_EFORMAT when it was overwritten, or when this connection found it
 * damaged while it wrote. The message says what happened and ends with `repair_hint`. Cheap enough
 * for every commit: three calls of stat(2) and one small read.
 */
MR_CHECK enum mr_code mr_db_still_there(struct mr_db *db, struct mr_err *err);
/* Change a page that is not used otherwise, so that the commit writes to the disk. In a
 * transaction. */
MR_CHECK enum mr_code mr_db_touch(struct mr_db *db, struct mr_err *err);
/*
 * After a commit, outside a transaction: copy the log into the file when it has grown past
 * half of `max_log_bytes`, so that the next writer begins it anew. Readers that still use the
 * log are waited for: shortly at first, up to a second when the log has passed its limit. What
 * cannot be done now is tried again when the log has grown further.
 */
void mr_db_trim_log(struct mr_db *db);

/*
 * Notices: telling whoever waits for a change of the database, in any process, that one was
 * committed. A notice says only that; its receiver looks for the change itself. One may be lost,
 * when a process dies right after its commit: who must not miss a change also looks every few
 * seconds.
 *
 * mr_db_notify() in a transaction sends one notice when mr_db_commit() has succeeded, however often
 * it was called, and none when the transaction is rolled back. Outside of one it is sent at once.
 */
void mr_db_notify(struct mr_db *db);

struct mr_db_listener;
/* Receive the notices of all processes, this one included, about the database that `path` names as
 * in mr_db_options. A listener belongs to one thread at a time. */
MR_CHECK enum mr_code mr_db_listen(const char *path, struct mr_db_listener **out,
	struct mr_err *err);
/* A descriptor for poll(2), readable when notices have come. It stays the listener's. */
int mr_db_listener_fd(const struct mr_db_listener *listener);
/* Take all notices that have come, so that the descriptor waits for the next. Were there any? */
bool mr_db_listener_drain(struct mr_db_listener *listener);
/* `*listener` becomes NULL. NULL inside is fine. */
void mr_db_listener_close(struct mr_db_listener **listener);

/*
 * The duty: what one of all the processes that use a database does for all of them. Ask for it
 * every second or so: `*mine` says whether this connection has it now. It goes to another one when
 * this one is closed, is lost, or has not asked for MR_DB_DUTY_MS, so a process that is dead,
 * stopped or cut off does not keep it. A database without a server leaves its duty to whoever asks.
 * Not on a connection that only reads, since such a one is made anew unnoticed.
 */
enum { MR_DB_DUTY_MS = 4000 };
MR_CHECK enum mr_code mr_db_duty(struct mr_db *db, bool *mine, struct mr_err *err);

/* How an engine on a server stands, as far as it tells this user. */
struct mr_db_server {
	const char *engine;
	const char *version;     /* or NULL: the engine is in this process, and the rest is 0 */
	bool is_standby;         /* it can only be read */
	int64_t connections;     /* of everybody, to all its databases */
	int64_t connections_max; /* as many as it lets in */
	int64_t standbys;        /* that follow it */
	bool has_lag;            /* `lag_ms` is known */
	int64_t lag_ms;          /* of a standby itself, or of the slowest that follows */
	int64_t notices_percent; /* of the room for notices that is in use */
	int64_t round_trip_us;   /* how long this question took */
};
MR_CHECK enum mr_code mr_db_server(struct mr_db *db, struct mr_arena *arena,
	struct mr_db_server *out, struct mr_err *err);

/*
 * Does another process have the database open? `*pid` is then one that has. Also for a file that is
 * damaged. Not while this process has it open: SQLite's locks of this process would be lost.
 */
bool mr_db_is_open_elsewhere(const char *path, long *pid);

/* Problems a full check of the file's structure and its foreign keys finds; at most 100. Slow. */
MR_CHECK enum mr_code mr_db_check(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err);

/* Rewrite the file, so that nothing removed is left in it. Not in a transaction. Slow. */
MR_CHECK enum mr_code mr_db_compact(struct mr_db *db, struct mr_err *err);

/*
 * Copy the database as it is at one moment into a new file (mode 0600; an empty one may be there).
 * Whoever uses a database with a write-ahead log, in any process, goes on meanwhile; writers of one
 * without wait. Not in a transaction. The copy is not synced.
 */
MR_CHECK enum mr_code mr_db_copy(struct mr_db *db, const char *path, struct mr_err *err);
/*
 * The same into a database without a name, in the directory for temporary files, that is gone when
 * it is closed: to try on it what may fail. `db` stays as it is.
 */
MR_CHECK enum mr_code mr_db_copy_aside(struct mr_db *db, struct mr_db **out, struct mr_err *err);

/*
 * Full-text search over columns of a table. The index holds no text of its own: it follows the
 * table because its owner calls add and remove, in the same transaction. Words are folded: case and
 * diacritics do not matter. The texts here are constants of the program: plain lower-case names.
 */
enum { MR_DB_SEARCH_COLUMNS = 8 };

struct mr_db_search {
	const char *name;           /* of the index */
	const char *table;          /* whose rows are found */
	const char *id;             /* its integer primary key */
	const char *const *columns; /* texts, NULL-terminated */
	const double *weights;      /* how much a hit in each column counts; NULL is 1 each */
	/* Beginnings of these lengths are found without looking at each word that begins so; each
	 * length costs as much at an insertion as the words themselves. NULL is 2 to 6. */
	const char *beginnings;
};

/* Make the index, empty, unless it is there. Call rebuild when the table has rows already. */
MR_CHECK enum mr_code mr_db_search_create(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
/* After the row was inserted or changed. Never twice for a row without a remove between. In a
 * queue's job belongs into `after`: SQLite writes the index out at every savepoint. */
MR_CHECK enum mr_code mr_db_search_add(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, struct mr_err *err);
/* The same for who has the row's texts at hand, in the order of the columns: an engine on a server
 * need not be asked for them. */
MR_CHECK enum mr_code mr_db_search_add_texts(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, const char *const *texts, struct mr_err *err);
/* Before an added row is changed or deleted: its words are read from the table once more. */
MR_CHECK enum mr_code mr_db_search_remove(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, struct mr_err *err);
/* Make the index anew from the table. */
MR_CHECK enum mr_code mr_db_search_rebuild(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
/*
 * Make sure that the index holds no word of a removed row: SQLite before 3.42 keeps them until
 * their part of the index is next rewritten. For redaction; mr_db_compact() then clears the file.
 * Slow.
 */
MR_CHECK enum mr_code mr_db_search_purge(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
/* Does the index agree with the table? MR_EFORMAT when it does not: rebuild it. Slow. */
MR_CHECK enum mr_code mr_db_search_check(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);

/*
 * What to look for is built left to right in a buffer (maximum MR_DB_MATCH_BYTES), quoted terms and
 * words between them, so that user text can never be taken for syntax:
 *
 *	mr_db_search_quote(db, search, &match, NULL, "full-text", false);
 *	mr_db_search_word(db, &match, MR_DB_SEARCH_AND);
 *	mr_db_search_quote(db, search, &match, "subject", "migrat", true);
 *
 * A term of several words is a phrase. A term without any (punctuation only) matches nothing, so
 *with AND the whole finds nothing: leave such terms out. NOT stands between two operands and binds
 * closest, then AND, then OR.
 */
enum mr_db_search_word {
	MR_DB_SEARCH_AND,
	MR_DB_SEARCH_OR,
	MR_DB_SEARCH_NOT,
	MR_DB_SEARCH_OPEN,
	MR_DB_SEARCH_CLOSE,
};

/* `column` NULL means any; `prefix` lets the last word go on. */
void mr_db_search_quote(struct mr_db *db, const struct mr_db_search *search, struct mr_buf *match,
	const char *column, const char *term, bool prefix);
void mr_db_search_word(struct mr_db *db, struct mr_buf *match, enum mr_db_search_word word);

struct mr_db_search_query {
	const char *match; /* as built above */
	/* An SQL condition on the table, called t, or NULL: "t.project_id = ?4". Its parameters
	 * begin at ?4, and the caller binds them before the first step. */
	const char *where;
	int64_t limit; /* > 0 */
	int64_t offset;
	bool newest_first; /* by id, which is much cheaper than by score; all scores are then 0 */
	/* Rank only so many of the newest that match, because ranking looks at each; 0: all. No
	 * less than offset and limit together. */
	int64_t among;
};

/*
 * A statement whose rows are (id, score), best first, the newer id first among equals; a score is
 * comparable within one query only. A malformed match is MR_EINVAL at the first step. Not to be
 * reset.
 */
MR_CHECK enum mr_code mr_db_search_prepare(struct mr_db *db, const struct mr_db_search *search,
	const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err);
