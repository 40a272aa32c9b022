/*
 * data/db_sqlite_private.h - what the files of the SQLite driver that call SQLite share; nothing
 * else includes sqlite3.h.
 *
 *   db_sqlite.c        connections, statements, copies
 *   db_sqlite_error.c  SQLite's errors as ours
 *   db_sqlite_place.c  the files that are open: still the same, and the log not too long
 *   db_sqlite_score.c  the ranking of what a search finds
 */
#pragma once

#include "data/db_driver.h"
#include "data/db_sqlite.h"
#include "data/db_sqlite_file.h"

#include <sqlite3.h>

enum { MR_DB_SQLITE_SHOWN_SQL = 100 }; /* bytes of a statement in an error */

struct mr_db_sqlite_db {
	struct mr_db base;
	sqlite3 *handle;
	int waited_us;   /* for the lock we are waiting for */
	int patience_ms; /* for locks, instead of the busy timeout; 0: that */
	bool has_score;
	int bell; /* see db_sqlite_bell.h; -1 until it is first rung */
	/* For db_sqlite_place.c: what was open in the beginning, and what was seen last. */
	const char *log_path, *shm_path;
	struct mr_db_sqlite_file log, shm;
	unsigned char page_size[2]; /* as the header has it */
	uint32_t counter, pages;    /* the header's change counter and size of the file */
	bool damaged;               /* found when writing */
	/* The same, for the log. */
	int64_t log_bytes; /* after the last commit */
	int64_t trim_at;   /* try when there are so many */
};

/* --- db_sqlite_error.c --- */

/*
 * Turn the connection's last error into ours, at once: the next call replaces it. `sql` may be
 * NULL; it is shown where the statement itself is wrong, and never holds a user's text.
 */
enum mr_code mr_db_sqlite_fail(const struct mr_db_options *options, sqlite3 *handle,
	const char *sql, struct mr_err *err);
/* For SQLITE_BUSY and SQLITE_LOCKED in `code`. */
enum mr_code mr_db_sqlite_fail_busy(int code, const char *path, struct mr_err *err);

/* --- db_sqlite_place.c --- */

/* Remember what is open, once SQLite has opened all of it. */
void mr_db_sqlite_note_files(struct mr_db_sqlite_db *self, struct mr_arena *arena);
/* These three are functions of the driver. */
enum mr_code mr_db_sqlite_still_there(struct mr_db *db, struct mr_err *err);
void mr_db_sqlite_keep_log(struct mr_db *db);
void mr_db_sqlite_trim_log(struct mr_db *db);
