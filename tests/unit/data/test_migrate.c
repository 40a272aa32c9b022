/* tests/unit/data/test_migrate.c */
#include "data/migrate.h"
#include "test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static enum mr_code fill(struct mr_db *db, struct mr_err *err)
{
	return mr_db_run(db, "INSERT INTO thing(name) VALUES('from code')", err);
}

static enum mr_code refuse(struct mr_db *db, struct mr_err *err)
{
	enum mr_code rc = mr_db_run(db, "INSERT INTO thing(name) VALUES('lost')", err);

	return rc ? rc : mr_err_set(err, MR_EINVAL, "no, thanks");
}

static const struct mr_migration steps[] = {
	{ .version = 1,
		.name = "things",
		.sql = "CREATE TABLE thing(name TEXT); INSERT INTO thing(name) VALUES('from "
		       "sql')" },
	{ .version = 2, .name = "fill", .run = fill },
	{ .version = 3, .name = "colour", .sql = "ALTER TABLE thing ADD COLUMN colour TEXT" },
};

static struct mr_db *open_db(bool read_only)
{
	struct mr_db_options options = { .create = true, .read_only = read_only };
	struct mr_db *db = NULL;
	struct mr_err err;
	char path[128];

	snprintf(path, sizeof(path), "%s/db", test_dir());
	options.path = path;
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	return db;
}

static int64_t number(struct mr_db *db, const char *sql)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_db_prepare(db, sql, &stmt, &err), err);
	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	return mr_stmt_int(stmt, 0);
}

static enum mr_code up(struct mr_db *db, const struct mr_migration *list, size_t count,
	int64_t now_us, struct mr_err *err)
{
	struct mr_clock_fixed fixed;

	mr_clock_fixed_init(&fixed, now_us);
	return mr_migrate_up(db, list, count, &fixed.clock, err);
}

/* `err` is "database DIR/db" followed by `rest`. */
static void check_msg(const struct mr_err *err, const char *rest)
{
	char want[512];

	snprintf(want, sizeof(want), "database %s/db%s", test_dir(), rest);
	CHECK_STR(err->msg, want);
}

static void applies_each_once(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_err err;

	CHECK_OK(up(db, steps, 2, 1000, &err), err);
	CHECK_INT(number(db, "SELECT count(*) FROM thing"), 2);
	CHECK_OK(up(db, steps, 3, 2000, &err), err);
	CHECK_OK(up(db, steps, 3, 3000, &err), err);
	CHECK_INT(number(db, "SELECT count(*) FROM thing WHERE colour IS NULL"), 2);
	CHECK_INT(number(db, "SELECT count(*) FROM schema_version"), 3);
	CHECK_INT(number(db, "SELECT applied_at FROM schema_version WHERE name = 'fill'"), 1000);
	CHECK_INT(number(db, "SELECT applied_at FROM schema_version WHERE version = 3"), 2000);
	CHECK(!mr_db_in_transaction(db));
}

static void only_looks_when_nothing_is_to_do(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_db *reader MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_err err;

	CHECK_OK(up(db, steps, 3, 1, &err), err);
	reader = open_db(true);
	CHECK_OK(up(reader, steps, 3, 1, &err), err);
	CHECK_OK(mr_migrate_check(reader, steps, 3, &err), err);
}

static void refuses_other_schemas(void)
{
	static const struct {
		const char *record; /* how schema_version was changed */
		size_t known;       /* how many steps the program has */
		const char *why;
	} cases[] = {
		{ "SELECT 1", 2,
			" was made by a newer mailroom (its schema is version 3, this program "
			"knows "
			"2); use that one" },
		{ "UPDATE schema_version SET name = 'filler' WHERE version = 2", 3,
			": schema version 2 is \"filler\" there and \"fill\" here; it belongs to "
			"another program" },
		{ "DELETE FROM schema_version WHERE version = 2", 3,
			": its record of schema versions has 3 where 2 should be; restore it from "
			"a "
			"backup" },
		{ "UPDATE schema_version SET version = 0 WHERE version = 1", 3,
			": its record of schema versions has 0 where 1 should be; restore it from "
			"a "
			"backup" },
	};
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_err err;

	CHECK_OK(up(db, steps, 3, 1, &err), err);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_OK(mr_db_savepoint(db, &err), err);
		CHECK_OK(mr_db_exec(db, cases[i].record, &err), err);
		CHECK_INT(up(db, steps, cases[i].known, 1, &err), MR_ECONFLICT);
		check_msg(&err, cases[i].why);
		CHECK_INT(mr_migrate_check(db, steps, cases[i].known, &err), MR_ECONFLICT);
		check_msg(&err, cases[i].why);
		CHECK_OK(mr_db_rollback_to(db, &err), err);
	}
}

static void tells_readers_that_it_is_old(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_err err;

	CHECK_INT(mr_migrate_check(db, steps, 3, &err), MR_ECONFLICT);
	check_msg(&err,
		" was made by an older mailroom (its schema is version 0, this program needs 3); "
		"open "
		"it for writing once");
	CHECK_OK(up(db, steps, 2, 1, &err), err);
	CHECK_INT(mr_migrate_check(db, steps, 3, &err), MR_ECONFLICT);
	CHECK_INT(number(db, "SELECT count(*) FROM schema_version"), 2);
}

#define AS_IT_WAS                                                                                  \
	"; this was tried on a copy: the database is as it was (schema version 1), and the "       \
	"mailroom that made it can go on with it"

static void stays_before_a_step_that_fails(void)
{
	static const struct {
		struct mr_migration step;
		enum mr_code code;
		const char *why;
	} cases[] = {
		{ { .version = 2,
			  .name = "nonsense",
			  .sql = "INSERT INTO thing(name) VALUES('lost'); NONSENSE" },
			MR_EINTERNAL, NULL },
		{ { .version = 2, .name = "refuse", .run = refuse }, MR_EINVAL,
			": schema version 2 (refuse): no, thanks" AS_IT_WAS },
		{ { .version = 2, .name = "ends", .sql = "ROLLBACK" }, MR_EINTERNAL,
			": schema version 2 (ends): it ended its transaction" AS_IT_WAS },
	};
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_migration list[] = { steps[0], cases[i].step };
		struct mr_err err;

		CHECK_INT(up(db, list, 2, 1, &err), cases[i].code);
		if (cases[i].why)
			check_msg(&err, cases[i].why);
		CHECK(!mr_db_in_transaction(db));
		CHECK_INT(number(db, "SELECT count(*) FROM thing"), 1);
		CHECK_INT(number(db, "SELECT count(*) FROM schema_version"), 1);
	}
}

/* Also the steps before the one that fails are not done: the older program can go on. */
static void nothing_is_done_when_a_later_step_fails(void)
{
	static const struct mr_migration broken[] = {
		{ .version = 1,
			.name = "things",
			.sql = "CREATE TABLE thing(name TEXT); INSERT INTO thing(name) "
			       "VALUES('from sql')" },
		{ .version = 2, .name = "fill", .run = fill },
		{ .version = 3, .name = "refuse", .run = refuse },
	};
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_err err;
	int64_t changes;

	CHECK_OK(up(db, broken, 1, 1, &err), err);
	changes = mr_db_total_changes(db);
	CHECK_INT(up(db, broken, 3, 2, &err), MR_EINVAL);
	check_msg(&err, ": schema version 3 (refuse): no, thanks" AS_IT_WAS);
	CHECK_INT(mr_db_total_changes(db), changes);
	CHECK_INT(number(db, "SELECT count(*) FROM schema_version"), 1);
	CHECK_OK(mr_migrate_check(db, broken, 1, &err), err);
	CHECK_OK(up(db, steps, 3, 3, &err), err);
	CHECK_INT(number(db, "SELECT count(*) FROM thing"), 2);
}

static void a_copy_that_cannot_be_made_stops_it(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_db *other MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db_options options = { .journal = MR_DB_JOURNAL_DELETE, .busy_timeout_ms = -1 };
	struct mr_err err;
	char path[128];

	/* Somebody writes to a database whose readers have to wait for that. */
	mr_db_closep(&db);
	snprintf(path, sizeof(path), "%s/db", test_dir());
	options.path = path;
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	CHECK_OK(up(db, steps, 1, 1, &err), err);
	CHECK_OK(mr_db_open(&options, &other, &err), err);
	CHECK_OK(mr_db_exec(other, "BEGIN EXCLUSIVE", &err), err);
	CHECK_INT(mr_migrate_up(db, steps, 3, NULL, &err), MR_EBUSY);
	mr_db_rollback(other);
	CHECK_INT(number(db, "SELECT count(*) FROM schema_version"), 1);
}

static void refuses_a_list_with_gaps(void)
{
	const struct mr_migration gap[] = { steps[0], steps[2] };
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(false);
	struct mr_err err;

	CHECK_INT(up(db, gap, 2, 1, &err), MR_EINTERNAL);
	CHECK_STR(err.msg, "schema version 2 is missing or has no name");
	CHECK_INT(mr_migrate_check(db, gap, 2, &err), MR_EINTERNAL);
}

/* Several processes make and migrate one database at the same time. */
static void is_safe_among_processes(void)
{
	enum { PROCESSES = 6 };
	pid_t pids[PROCESSES];
	struct mr_db *db;
	int gate[2];

	test_dir();
	CHECK_INT(pipe(gate), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct mr_err err;
			char byte;

			close(gate[1]);
			CHECK_INT(read(gate[0], &byte, 1), 0);
			db = open_db(false);
			CHECK_OK(up(db, steps, 3, 1, &err), err);
			mr_db_close(db);
			_exit(0);
		}
	}
	close(gate[1]);
	for (int i = 0; i < PROCESSES; i++) {
		int status = -1;

		CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
		CHECK_INT(status, 0);
	}
	db = open_db(false);
	CHECK_INT(number(db, "SELECT count(*) FROM thing"), 2);
	CHECK_INT(number(db, "SELECT count(*) FROM schema_version"), 3);
	mr_db_close(db);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(applies_each_once),
		TEST(only_looks_when_nothing_is_to_do),
		TEST(refuses_other_schemas),
		TEST(tells_readers_that_it_is_old),
		TEST(stays_before_a_step_that_fails),
		TEST(nothing_is_done_when_a_later_step_fails),
		TEST(a_copy_that_cannot_be_made_stops_it),
		TEST(refuses_a_list_with_gaps),
		TEST(is_safe_among_processes),
	};
	return test_main(tests, MR_LEN(tests));
}
