/*
 * data/db_sqlite.h - SQLite, the embedded engine: one file, with a write-ahead log or a rollback
 * journal.
 *
 * A commit is durable (synchronous=FULL), removed rows are overwritten where that costs nothing
 * (secure_delete=FAST), foreign keys are enforced, the file's schema is not trusted to call
 * functions with side effects, and texts never go to temporary files.
 */
#pragma once

#include "data/db.h"

extern const struct mr_db_driver mr_db_sqlite;

/* The rest is for db_sqlite_search.c. */

/* From now on an SQL error of this statement is reported as the caller's (MR_EINVAL), not ours. */
void mr_db_sqlite_mark_search(struct mr_stmt *stmt);
/* The function that ranks, called with the name of the index and the weights of its columns; made
 * when it is first needed on a connection. */
#define MR_DB_SQLITE_SCORE "mailroom_score"
enum mr_code mr_db_sqlite_add_score(struct mr_db *db, struct mr_err *err);
/* Does FTS5 know the option that erases the words of removed rows at once (3.42)? */
bool mr_db_sqlite_can_erase_words(void);
