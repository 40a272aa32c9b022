/*
 * tests/support/database.h - how tests of the parts look into a database, and change one behind the
 * back of the code they test.
 *
 * Only this file and the tests of src/data call the interface of data/db.h, so that tests need no
 * change for another engine. SQL in tests is that of data/db.h: what every engine understands. What
 * one engine says differently (its plans, its full-text index) has a function here. A failure of
 * any of these functions fails the test.
 */
#pragma once

#include "data/db.h"

#include "base/ctx.h"

/*
 * The URL of a database on the server that tests/support/postgres_server.py started for this test,
 * emptied now; NULL when there is none: then the test makes a file.
 */
const char *database_server(void);

/* The file must be closed before the engine's own files are looked at. */
struct mr_db *database_open(struct mr_ctx *cx, const struct mr_db_options *options);
/* For MR_CLEANUP; NULL inside is fine. */
void database_closep(struct mr_db **db);

/* One or more statements that change something. */
void database_exec(struct mr_ctx *cx, struct mr_db *db, const char *sql);
/* The same in a function that may be refused, or that has to report it. */
enum mr_code database_try(struct mr_ctx *cx, struct mr_db *db, const char *sql);
/* From here to the commit all changes are one. */
void database_begin(struct mr_ctx *cx, struct mr_db *db);
void database_commit(struct mr_ctx *cx, struct mr_db *db);
bool database_in_transaction(struct mr_db *db);

/* The first column of the first row; 0 or NULL when there is no row. */
int64_t database_int(struct mr_ctx *cx, struct mr_db *db, const char *sql);
const char *database_text(struct mr_ctx *cx, struct mr_db *db, const char *sql);
/* The first column of all rows, with `between` between them; NULL when there is no row. */
const char *database_list(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const char *between);

/* The steps in which the engine will run a statement, one a line. Their words are SQLite's: on
 * another engine the test ends here, and well. */
const char *database_plan(struct mr_ctx *cx, struct mr_db *db, const char *sql);

/* Full-text indexes: which rows have a word ("1,7", the highest first; NULL when none has), add a
 * row, make the index anew from its table, make sure that it agrees with the table. */
const char *database_found(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search,
	const char *word);
void database_index(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search,
	int64_t id);
void database_reindex(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search);
void database_check_index(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search);

/* Rewrite the file, so that nothing that was removed is left in it. */
void database_compact(struct mr_ctx *cx, struct mr_db *db);
