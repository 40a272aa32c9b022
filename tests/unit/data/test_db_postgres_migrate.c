/* tests/unit/data/test_db_postgres_migrate.c - data/migrate.h on a real PostgreSQL. */
#include "data/migrate.h"
#include "postgres.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum mr_code make_more(struct mr_db *db, struct mr_err *err)
{
	return mr_db_exec(db, "INSERT INTO t VALUES (1)", err);
}

static void schemas_grow_all_at_once(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = postgres_open_new("");
	static const struct mr_migration steps[] = {
		{ 1, "first", "CREATE TABLE t(id INTEGER PRIMARY KEY)", make_more },
		{ 2, "second", "CREATE TABLE u(id INTEGER PRIMARY KEY)", NULL },
		{ 3, "wrong", "CREATE TABLE u(id INTEGER PRIMARY KEY)", NULL },
	};
	struct mr_err err;
	bool has = true;

	CHECK_OK(mr_migrate_up(db, steps, 1, mr_clock_system(), &err), err);
	CHECK_INT(mr_migrate_up(db, steps, 3, mr_clock_system(), &err), MR_EINTERNAL);
	CHECK(strstr(err.msg, "schema version 3 (wrong)"));
	CHECK_OK(mr_db_has_table(db, "u", &has, &err), err);
	CHECK(!has);
	CHECK_OK(mr_migrate_up(db, steps, 2, mr_clock_system(), &err), err);
	CHECK_OK(mr_migrate_check(db, steps, 2, &err), err);
	CHECK_INT(mr_migrate_check(db, steps, 1, &err), MR_ECONFLICT);
	CHECK(strstr(err.msg, "was made by a newer mailroom"));
	CHECK_INT(postgres_number(db, "SELECT COUNT(*) FROM t"), 1);
}

/* --- many at once --- */

enum { PROGRAMS = 6 };

static const struct mr_migration two[] = {
	{ 1, "first", "CREATE TABLE t(id INTEGER PRIMARY KEY)", make_more },
	{ 2, "second", "CREATE TABLE u(id INTEGER PRIMARY KEY)", NULL },
};

static void *grow(void *arg)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db_options options = { .path = postgres_url(), .busy_timeout_ms = 60000 };
	struct mr_err err;

	(void)arg;
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	CHECK_OK(mr_migrate_up(db, two, MR_LEN(two), mr_clock_system(), &err), err);
	return NULL;
}

static void programs_that_grow_it_at_once_do_it_once(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = postgres_open_new("");
	pthread_t threads[PROGRAMS];

	for (int i = 0; i < PROGRAMS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, grow, NULL), 0);
	for (int i = 0; i < PROGRAMS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(postgres_number(db, "SELECT count(*) FROM t"), 1);
	CHECK_INT(postgres_number(db, "SELECT count(*) FROM schema_version"), 2);
}

/* --- killed --- */

static enum mr_code die(struct mr_db *db, struct mr_err *err)
{
	(void)db;
	(void)err;
	raise(SIGKILL);
	return MR_OK;
}

static void grow_and_die(void)
{
	static const struct mr_migration steps[] = {
		{ 1, "first", "CREATE TABLE t(id INTEGER PRIMARY KEY)", make_more },
		{ 2, "second", "CREATE TABLE u(id INTEGER PRIMARY KEY)", die },
	};
	struct mr_db *db = postgres_open((struct mr_db_options){ 0 });
	struct mr_err err;

	(void)!mr_migrate_up(db, steps, MR_LEN(steps), mr_clock_system(), &err);
	_exit(0);
}

static void one_that_was_killed_left_nothing(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = postgres_open_new("");
	struct mr_err err;
	bool is_empty = false;
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		grow_and_die();
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* The next waits until the server has noticed. */
	CHECK_OK(mr_db_is_empty(db, &is_empty, &err), err);
	CHECK(is_empty);
	CHECK_OK(mr_migrate_up(db, two, MR_LEN(two), mr_clock_system(), &err), err);
	CHECK_INT(postgres_number(db, "SELECT count(*) FROM t"), 1);
}

/* --- what there is --- */

static void tells_what_it_has(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = postgres_open_new(
		"CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT);"
		"CREATE TABLE s(b TEXT, a BIGINT, c BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID");
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db_columns columns;
	struct mr_texts tables;
	struct mr_err err;
	int64_t last = 7;

	CHECK_OK(mr_db_tables(db, arena, &tables, &err), err);
	CHECK_STR(mr_str_join(arena, &tables, ","), "s,t");
	CHECK_OK(mr_db_columns(db, "s", arena, &columns, &err), err);
	CHECK_INT(columns.len, 3);
	CHECK_STR(columns.items[0].name, "b");
	CHECK_INT(columns.items[0].type, MR_DB_TEXT);
	CHECK_INT(columns.items[1].type, MR_DB_NUMBER);
	CHECK_INT(columns.items[2].type, MR_DB_BYTES);
	CHECK_INT(columns.items[0].key, 2);
	CHECK_INT(columns.items[1].key, 1);
	CHECK_INT(columns.items[2].key, 0);
	CHECK_OK(mr_db_last_id(db, "t", &last, &err), err);
	CHECK_INT(last, 0);
	CHECK_OK(mr_db_set_last_id(db, "t", 41, &err), err);
	CHECK_OK(mr_db_last_id(db, "t", &last, &err), err);
	CHECK_INT(last, 41);
	CHECK_INT(postgres_number(db, "INSERT INTO t (a) VALUES ('x') RETURNING id"), 42);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(schemas_grow_all_at_once),
		TEST(programs_that_grow_it_at_once_do_it_once),
		TEST(one_that_was_killed_left_nothing),
		TEST(tells_what_it_has),
	};
	return test_main(tests, MR_LEN(tests));
}
