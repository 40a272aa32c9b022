/* tests/unit/data/postgres.c */
#include "postgres.h"

#include "test.h"

#include <stdlib.h>

const char *postgres_url(void)
{
	const char *given = getenv("MAILROOM_TEST_POSTGRES");

	CHECK(given);
	return given;
}

struct mr_db *postgres_open(struct mr_db_options options)
{
	struct mr_db *db = NULL;
	struct mr_err err;

	options.path = postgres_url();
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	return db;
}

void postgres_exec(struct mr_db *db, const char *sql)
{
	struct mr_err err;

	CHECK_OK(mr_db_exec(db, sql, &err), err);
}

struct mr_db *postgres_open_new(const char *schema)
{
	struct mr_db *db = postgres_open((struct mr_db_options){ 0 });

	postgres_exec(db, "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public");
	postgres_exec(db, schema);
	return db;
}

struct mr_stmt *postgres_prepare(struct mr_db *db, const char *sql)
{
	struct mr_stmt *stmt = NULL;
	struct mr_err err;

	CHECK_OK(mr_db_prepare(db, sql, &stmt, &err), err);
	return stmt;
}

int64_t postgres_number(struct mr_db *db, const char *sql)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = postgres_prepare(db, sql);
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK(row);
	return mr_stmt_int(stmt, 0);
}
