/* tests/support/database.c */
#include "database.h"

#include "test.h"
#include "text/database_url.h"

#include <stdlib.h>

const char *database_server(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db_options options = { .path = getenv("MAILROOM_TEST_POSTGRES") };
	struct mr_err err;

	if (!options.path)
		return NULL;
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	CHECK_OK(mr_db_exec(db, "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public", &err),
		err);
	return options.path;
}

struct mr_db *database_open(struct mr_ctx *cx, const struct mr_db_options *options)
{
	struct mr_db *db = NULL;

	CHECK_OK(mr_db_open(options, &db, &cx->err), cx->err);
	return db;
}

void database_closep(struct mr_db **db)
{
	mr_db_closep(db);
}

void database_exec(struct mr_ctx *cx, struct mr_db *db, const char *sql)
{
	CHECK_OK(mr_db_exec(db, sql, &cx->err), cx->err);
}

enum mr_code database_try(struct mr_ctx *cx, struct mr_db *db, const char *sql)
{
	return mr_db_exec(db, sql, &cx->err);
}

void database_begin(struct mr_ctx *cx, struct mr_db *db)
{
	CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err), cx->err);
}

void database_commit(struct mr_ctx *cx, struct mr_db *db)
{
	CHECK_OK(mr_db_commit(db, &cx->err), cx->err);
}

bool database_in_transaction(struct mr_db *db)
{
	return mr_db_in_transaction(db);
}

/* The first column of the first row, as a number and as a text. */
static void first_row(struct mr_ctx *cx, struct mr_db *db, const char *sql, int64_t *number,
	const char **text)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;

	CHECK_OK(mr_db_prepare(db, sql, &stmt, &cx->err), cx->err);
	CHECK_OK(mr_stmt_step(stmt, &row, &cx->err), cx->err);
	*number = row ? mr_stmt_int(stmt, 0) : 0;
	*text = row ? mr_stmt_text(stmt, 0, cx->arena) : NULL;
}

int64_t database_int(struct mr_ctx *cx, struct mr_db *db, const char *sql)
{
	const char *text;
	int64_t number;

	first_row(cx, db, sql, &number, &text);
	return number;
}

const char *database_text(struct mr_ctx *cx, struct mr_db *db, const char *sql)
{
	const char *text;
	int64_t number;

	first_row(cx, db, sql, &number, &text);
	return text;
}

/* One column of all rows of a statement. */
static const char *join(struct mr_ctx *cx, struct mr_stmt *stmt, int column, const char *between)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *before = "";
	bool row = true;

	mr_buf_init(&buf, 16 << 20);
	for (;;) {
		const char *text;

		CHECK_OK(mr_stmt_step(stmt, &row, &cx->err), cx->err);
		if (!row)
			break;
		text = mr_stmt_text(stmt, column, cx->arena);
		mr_buf_puts(&buf, before);
		mr_buf_puts(&buf, text ? text : "NULL");
		before = between;
	}
	return before == between ? mr_arena_strdup(cx->arena, mr_buf_text(&buf)) : NULL;
}

const char *database_list(struct mr_ctx *cx, struct mr_db *db, const char *sql, const char *between)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;

	CHECK_OK(mr_db_prepare(db, sql, &stmt, &cx->err), cx->err);
	return join(cx, stmt, 0, between);
}

const char *database_plan(struct mr_ctx *cx, struct mr_db *db, const char *sql)
{
	enum { DETAIL = 3 };
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	const char *plan;

	/* Another engine says it in other words: the rest of the test is not for it. */
	if (mr_database_url_is(mr_db_path(db)))
		exit(0);
	CHECK_OK(mr_db_prepare(db, mr_arena_printf(cx->arena, "EXPLAIN QUERY PLAN %s", sql), &stmt,
			 &cx->err),
		cx->err);
	plan = join(cx, stmt, DETAIL, "\n");
	CHECK(plan != NULL);
	return plan;
}

const char *database_found(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search,
	const char *word)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	mr_db_search_quote(db, search, &match, NULL, word, false);
	CHECK_OK(mr_db_search_prepare(db, search,
			 &(struct mr_db_search_query){ .match = mr_buf_text(&match),
				 .limit = 1000,
				 .newest_first = true },
			 &stmt, &cx->err),
		cx->err);
	return join(cx, stmt, 0, ",");
}

void database_index(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search,
	int64_t id)
{
	CHECK_OK(mr_db_search_add(db, search, id, &cx->err), cx->err);
}

void database_reindex(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search)
{
	CHECK_OK(mr_db_search_rebuild(db, search, &cx->err), cx->err);
}

void database_check_index(struct mr_ctx *cx, struct mr_db *db, const struct mr_db_search *search)
{
	CHECK_OK(mr_db_search_check(db, search, &cx->err), cx->err);
}

void database_compact(struct mr_ctx *cx, struct mr_db *db)
{
	CHECK_OK(mr_db_compact(db, &cx->err), cx->err);
}
