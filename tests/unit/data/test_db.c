/* tests/unit/data/test_db.c - also covers data/db_sqlite.c */
#include "data/db.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", test_dir(), name);
	return path;
}

static struct mr_db *open_with(struct mr_db_options options)
{
	struct mr_db *db = NULL;
	struct mr_err err;

	if (!options.path)
		options.path = path_of("db");
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	return db;
}

static struct mr_db *open_new(const char *schema)
{
	struct mr_db *db = open_with((struct mr_db_options){ .create = true });
	struct mr_err err;

	CHECK_OK(mr_db_exec(db, schema, &err), err);
	return db;
}

static void exec(struct mr_db *db, const char *sql)
{
	struct mr_err err;

	CHECK_OK(mr_db_exec(db, sql, &err), err);
}

static struct mr_stmt *prepare(struct mr_db *db, const char *sql)
{
	struct mr_stmt *stmt = NULL;
	struct mr_err err;

	CHECK_OK(mr_db_prepare(db, sql, &stmt, &err), err);
	return stmt;
}

/* The one number a query gives. */
static int64_t number(struct mr_db *db, const char *sql)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = prepare(db, sql);
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK(row);
	return mr_stmt_int(stmt, 0);
}

/* The message names a path in the test's directory between these two. */
static void check_msg(const struct mr_err *err, const char *before, const char *after)
{
	char want[600];

	snprintf(want, sizeof(want), "%s%s/%s", before, test_dir(), after);
	CHECK_STR(err->msg, want);
}

/* Opening fails with this code and message. */
static void check_refused(struct mr_db_options options, enum mr_code code, const char *before,
	const char *after)
{
	struct mr_db *db = NULL;
	struct mr_err err;

	CHECK_INT(mr_db_open(&options, &db, &err), code);
	CHECK(!db);
	check_msg(&err, before, after);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	CHECK_INT(stat(path_of(name), &st), 0);
	return st.st_mode & 0777;
}

static void makes_private_files(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;

	umask(0);
	db = open_new("CREATE TABLE t(a)");
	CHECK_STR(mr_db_path(db), path_of("db"));
	CHECK_INT(mode_of("db"), 0600);
	CHECK_INT(mode_of("db-wal"), 0600);
	CHECK_INT(mode_of("db-shm"), 0600);
}

static void sets_the_connection_up(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = prepare(db, "PRAGMA journal_mode");
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK_STR(mr_stmt_text(stmt, 0, arena), "wal");
	CHECK_INT(number(db, "PRAGMA foreign_keys"), 1);
	CHECK_INT(number(db, "PRAGMA synchronous"), 2);
	CHECK_INT(number(db, "PRAGMA secure_delete"), 2);
	CHECK_INT(number(db, "PRAGMA trusted_schema"), 0);
	CHECK_INT(number(db, "PRAGMA cell_size_check"), 1);
	CHECK_INT(number(db, "PRAGMA query_only"), 0);
}

static void honours_options(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_with((struct mr_db_options){
		.create = true,
		.journal = MR_DB_JOURNAL_DELETE,
		.sync = MR_DB_SYNC_NORMAL,
		.no_foreign_keys = true,
	});
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = prepare(db, "PRAGMA journal_mode");
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK_STR(mr_stmt_text(stmt, 0, arena), "delete");
	CHECK_INT(number(db, "PRAGMA foreign_keys"), 0);
	CHECK_INT(number(db, "PRAGMA synchronous"), 1);
}

static void leaves_existing_files_their_mode(void)
{
	int fd = open(path_of("db"), O_CREAT | O_WRONLY, 0640);
	struct mr_db *db;

	close(fd);
	db = open_new("CREATE TABLE t(a)");
	CHECK_INT(mode_of("db"), 0640);
	mr_db_close(db);
}

static void says_what_is_missing(void)
{
	char path[300];

	check_refused((struct mr_db_options){ .path = path_of("none") }, MR_ENOTFOUND,
		"cannot open database ", "none: No such file or directory");
	check_refused((struct mr_db_options){ .path = path_of("none"),
			      .read_only = true,
			      .create = true },
		MR_ENOTFOUND, "cannot open database ", "none: No such file or directory");
	snprintf(path, sizeof(path), "%s/no/db", test_dir());
	check_refused((struct mr_db_options){ .path = path, .create = true }, MR_ENOTFOUND,
		"cannot create database ", "no/db: No such file or directory");
	CHECK_INT(mkdir(path_of("folder"), 0700), 0);
	check_refused((struct mr_db_options){ .path = path_of("folder") }, MR_EIO,
		"cannot open database ", "folder [SQLite 14]: Is a directory");
}

static void refuses_special_names(void)
{
	static const char *const names[] = { "", ":memory:" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_db_options options = { .path = names[i], .create = true };
		struct mr_db *db = NULL;
		struct mr_err err;
		char want[64];

		CHECK_INT(mr_db_open(&options, &db, &err), MR_EINVAL);
		snprintf(want, sizeof(want), "\"%s\" cannot name a database", names[i]);
		CHECK_STR(err.msg, want);
	}
}

/* A long path is cut at its beginning, so that the reason is always readable. */
static void shows_the_end_of_long_paths(void)
{
	struct mr_db_options options = { 0 };
	struct mr_db *db = NULL;
	struct mr_err err;
	char path[1000];

	snprintf(path, sizeof(path), "/%0400d/db", 7);
	options.path = path;
	CHECK_INT(mr_db_open(&options, &db, &err), MR_EIO);
	CHECK(strncmp(err.msg, "cannot open database ...0000", 28) == 0);
	CHECK(strstr(err.msg, "0007/db: File name too long"));
}

static void keeps_values(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a, b, c, d, e, f, g)");
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *in MR_CLEANUP(mr_stmt_done) =
		prepare(db, "INSERT INTO t VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
	struct mr_stmt *out MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_bytes bytes;
	struct mr_err err;
	bool row = false;

	mr_stmt_bind_int(in, 1, INT64_MIN);
	mr_stmt_bind_real(in, 2, 0.1);
	mr_stmt_bind_text(in, 3, "gr\xc3\xbc\xc3\x9f");
	mr_stmt_bind_text(in, 4, "");
	mr_stmt_bind_bytes(in, 5, mr_bytes_of("a\0b", 3));
	mr_stmt_bind_bytes(in, 6, mr_bytes_of("", 0));
	mr_stmt_bind_text(in, 7, NULL);
	CHECK_OK(mr_stmt_run(in, &err), err);

	out = prepare(db, "SELECT * FROM t");
	CHECK_OK(mr_stmt_step(out, &row, &err), err);
	CHECK(row);
	CHECK(mr_stmt_int(out, 0) == INT64_MIN);
	CHECK(mr_stmt_real(out, 1) == 0.1);
	CHECK_STR(mr_stmt_text(out, 2, arena), "gr\xc3\xbc\xc3\x9f");
	CHECK_STR(mr_stmt_peek(out, 2), "gr\xc3\xbc\xc3\x9f");
	CHECK_INT(mr_stmt_len(out, 2), 6);
	CHECK_STR(mr_stmt_text(out, 3, arena), "");
	CHECK(!mr_stmt_is_null(out, 3));
	bytes = mr_stmt_bytes(out, 4, arena);
	CHECK(bytes.len == 3 && memcmp(bytes.data, "a\0b", 3) == 0);
	bytes = mr_stmt_bytes(out, 5, arena);
	CHECK(bytes.len == 0 && bytes.data && !mr_stmt_is_null(out, 5));
	CHECK(mr_stmt_is_null(out, 6));
	CHECK_STR(mr_stmt_text(out, 6, arena), NULL);
	CHECK_STR(mr_stmt_peek(out, 6), NULL);
	CHECK(!mr_stmt_bytes(out, 6, arena).data);
	CHECK_INT(mr_stmt_int(out, 6), 0);
}

static void binds_null(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) =
		prepare(db, "SELECT ?1 IS NULL, ?2 IS NULL");
	struct mr_err err;
	bool row = false;

	mr_stmt_bind_null(stmt, 1);
	mr_stmt_bind_bytes(stmt, 2, mr_bytes_of(NULL, 0));
	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK_INT(mr_stmt_int(stmt, 0) + mr_stmt_int(stmt, 1), 2);
}

static void ends_and_begins_anew(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = prepare(db, "SELECT ?1");
	struct mr_err err;

	for (int round = 0; round < 2; round++) {
		bool row = false;

		mr_stmt_bind_int(stmt, 1, round + 7);
		CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
		CHECK(row && mr_stmt_int(stmt, 0) == round + 7);
		for (int i = 0; i < 3; i++) {
			CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
			CHECK(!row);
		}
		mr_stmt_reset(stmt);
	}
}

static void forgets_what_was_bound(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_stmt *stmt = prepare(db, "SELECT ?1");
	struct mr_err err;
	bool row = false;

	mr_stmt_bind_text(stmt, 1, "secret");
	mr_stmt_bind_int(stmt, 2, 1);
	CHECK_INT(mr_stmt_step(stmt, &row, &err), MR_EINTERNAL);
	mr_stmt_done(&stmt);
	CHECK(!stmt);
	mr_stmt_done(&stmt);
	stmt = prepare(db, "SELECT ?1");
	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK(mr_stmt_is_null(stmt, 0));
	mr_stmt_done(&stmt);
}

static void reports_a_bad_bind_at_the_step(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = prepare(db, "INSERT INTO t VALUES(?1)");
	struct mr_err err;

	mr_stmt_bind_int(stmt, 2, 1);
	mr_stmt_bind_int(stmt, 1, 1);
	CHECK_INT(mr_stmt_run(stmt, &err), MR_EINTERNAL);
	CHECK_STR(err.msg, "cannot bind ?2 [SQLite 25] in \"INSERT INTO t VALUES(?1)\"");
	mr_stmt_reset(stmt);
	/* Never read: it is refused by its length. */
	mr_stmt_bind_bytes(stmt, 1, mr_bytes_of("x", (size_t)MR_DB_VALUE_BYTES + 1));
	CHECK_INT(mr_stmt_run(stmt, &err), MR_ELIMIT);
	check_msg(&err, "database ", "db: the value of ?1 is longer than 268435456 bytes");
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 0);
}

static void never_shares_a_statement_in_use(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_stmt *first = prepare(db, "SELECT 1");
	struct mr_stmt *second = prepare(db, "SELECT 1");
	struct mr_stmt *again;

	CHECK(first != second);
	again = second;
	mr_stmt_done(&second);
	second = prepare(db, "SELECT 1");
	CHECK(second == again);
	mr_stmt_done(&first);
	mr_stmt_done(&second);
}

/* More texts than the cache holds, used in turn and nested: correct, if not fast. */
static void bounds_its_cache(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_with((struct mr_db_options){ .create = true, .statements = 2 });
	struct mr_stmt *held[5];
	char sql[32];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5; i++) {
			snprintf(sql, sizeof(sql), "SELECT %d", i);
			CHECK_INT(number(db, sql), i);
			held[i] = prepare(db, sql);
		}
		for (int i = 0; i < 5; i++)
			mr_stmt_done(&held[i]);
	}
}

static void says_what_is_wrong_with_sql(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	static const struct {
		const char *sql;
		const char *why;
	} cases[] = {
		{ "SELECT 1; SELECT 2", "not exactly one statement: \"SELECT 1; SELECT 2\"" },
		{ "", "not exactly one statement: \"\"" },
	};
	char *longest = malloc(MR_DB_SQL_BYTES + 2);
	struct mr_stmt *stmt = NULL;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_db_prepare(db, cases[i].sql, &stmt, &err), MR_EINTERNAL);
		CHECK_STR(err.msg, cases[i].why);
	}
	CHECK_INT(mr_db_prepare(db, "SELECT b FROM t", &stmt, &err), MR_EINTERNAL);
	check_msg(&err, "database ", "db: no such column: b [SQLite 1] in \"SELECT b FROM t\"");
	/* What stands in double quotes is a name, never a text. */
	CHECK_INT(mr_db_run(db, "SELECT \"text\"", &err), MR_EINTERNAL);
	CHECK_INT(mr_db_exec(db, "INSERT INTO t VALUES(1); NONSENSE", &err), MR_EINTERNAL);
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
	memset(longest, ' ', MR_DB_SQL_BYTES + 1);
	longest[MR_DB_SQL_BYTES + 1] = '\0';
	CHECK_INT(mr_db_exec(db, longest, &err), MR_ELIMIT);
	check_msg(&err, "database ", "db: more than 1048576 bytes of statements");
	CHECK_INT(mr_db_prepare(db, longest, &stmt, &err), MR_ELIMIT);
	check_msg(&err, "database ", "db: a value or statement is too long [SQLite 18]");
	CHECK(!stmt);
	free(longest);
}

static void tells_constraints_apart(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_new("CREATE TABLE up(id INTEGER PRIMARY KEY);"
			 "CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT UNIQUE, n TEXT NOT NULL,"
			 " c INTEGER CHECK(c > 0), f INTEGER REFERENCES up(id)) STRICT;"
			 "INSERT INTO t VALUES(1, 'u', 'n', 1, NULL)");
	static const struct {
		const char *sql;
		enum mr_code code;
		const char *why;
	} cases[] = {
		{ "INSERT INTO t VALUES(1, 'v', 'n', 1, NULL)", MR_EEXISTS,
			"db: UNIQUE constraint failed: t.id [SQLite 1555]" },
		{ "INSERT INTO t VALUES(2, 'u', 'n', 1, NULL)", MR_EEXISTS,
			"db: UNIQUE constraint failed: t.u [SQLite 2067]" },
		{ "INSERT INTO t VALUES(2, 'v', NULL, 1, NULL)", MR_ECONFLICT,
			"db: NOT NULL constraint failed: t.n [SQLite 1299]" },
		{ "INSERT INTO t VALUES(2, 'v', 'n', 0, NULL)", MR_ECONFLICT,
			"db: CHECK constraint failed: c > 0 [SQLite 275]" },
		{ "INSERT INTO t VALUES(2, 'v', 'n', 1, 9)", MR_ECONFLICT,
			"db: FOREIGN KEY constraint failed [SQLite 787]" },
		{ "INSERT INTO t VALUES(2, 'v', 'n', 'x', NULL)", MR_ECONFLICT,
			"db: cannot store TEXT value in INTEGER column t.c [SQLite 3091]" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_err err;

		CHECK_INT(mr_db_run(db, cases[i].sql, &err), cases[i].code);
		check_msg(&err, "database ", cases[i].why);
	}
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
}

static void counts(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
	bool has = true;
	struct mr_err err;

	exec(db, "INSERT INTO t VALUES(41), (42)");
	CHECK_INT(mr_db_changes(db), 2);
	CHECK_OK(mr_db_has_table(db, "u", &has, &err), err);
	CHECK(!has);
	CHECK_OK(mr_db_has_table(db, "t", &has, &err), err);
	CHECK(has);
}

static void undoes(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_err err;

	mr_db_rollback(db);
	CHECK(!mr_db_in_transaction(db));
	CHECK_OK(mr_db_begin(db, MR_DB_DEFERRED, &err), err);
	exec(db, "INSERT INTO t VALUES(1)");
	mr_db_rollback(db);
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 0);

	CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
	CHECK(mr_db_in_transaction(db));
	exec(db, "INSERT INTO t VALUES(1)");
	CHECK_OK(mr_db_savepoint(db, &err), err);
	exec(db, "INSERT INTO t VALUES(2)");
	CHECK_OK(mr_db_savepoint(db, &err), err);
	exec(db, "INSERT INTO t VALUES(4)");
	CHECK_OK(mr_db_rollback_to(db, &err), err);
	CHECK_INT(number(db, "SELECT sum(a) FROM t"), 3);
	CHECK_OK(mr_db_release(db, &err), err);
	CHECK_OK(mr_db_commit(db, &err), err);
	CHECK_INT(number(db, "SELECT sum(a) FROM t"), 3);
	CHECK_INT(mr_db_commit(db, &err), MR_EINTERNAL);
	CHECK_INT(mr_db_release(db, &err), MR_EINTERNAL);
}

static void rolls_back_at_close(void)
{
	struct mr_db *db = open_new("CREATE TABLE t(a)");
	struct mr_err err;

	CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
	exec(db, "INSERT INTO t VALUES(1)");
	mr_db_close(db);
	db = open_with((struct mr_db_options){ .read_only = true });
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 0);
	mr_db_close(db);
	mr_db_close(NULL);
}

static void only_reads(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_new("CREATE TABLE t(a); INSERT INTO t VALUES(5)");
	struct mr_db *reader MR_CLEANUP(mr_db_closep) =
		open_with((struct mr_db_options){ .read_only = true });
	struct mr_err err;

	CHECK_INT(number(reader, "SELECT a FROM t"), 5);
	CHECK_INT(mr_db_exec(reader, "INSERT INTO t VALUES(6)", &err), MR_EPERM);
	check_msg(&err, "database ", "db was opened for reading only [SQLite 8]");
	exec(db, "INSERT INTO t VALUES(6)");
	CHECK_INT(number(reader, "SELECT sum(a) FROM t"), 11);
}

/* As an ordinary user: root may do anything. */
static void respects_permissions(void)
{
	bool root = geteuid() == 0;

	mr_db_close(open_new("CREATE TABLE t(a)"));
	if (root) {
		CHECK_INT(chmod(test_dir(), 0755), 0);
		CHECK_INT(seteuid(65534), 0);
	} else {
		CHECK_INT(chmod(path_of("db"), 0), 0);
	}
	check_refused((struct mr_db_options){ .path = path_of("db") }, MR_EPERM,
		"cannot open database ", "db [SQLite 14]: Permission denied");
	CHECK_INT(root ? seteuid(0) : 0, 0);
	CHECK_INT(chmod(path_of("db"), 0444), 0);
	CHECK_INT(root ? seteuid(65534) : 0, 0);
	check_refused((struct mr_db_options){ .path = path_of("db") }, MR_EPERM, "database ",
		"db may not be written; check who owns the file and its directory, and that the "
		"disk is mounted for writing");
	CHECK_INT(root ? seteuid(0) : 0, 0);
}

static void notices_that_its_file_was_removed(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_with(
		(struct mr_db_options){ .create = true, .journal = MR_DB_JOURNAL_DELETE });
	struct mr_err err;

	exec(db, "CREATE TABLE t(a)");
	CHECK_INT(unlink(path_of("db")), 0);
	CHECK_INT(mr_db_exec(db, "INSERT INTO t VALUES(1)", &err), MR_EIO);
	check_msg(&err, "database ",
		"db was moved or deleted while it was in use: put it back, or restore it from a "
		"backup [SQLite 1032]");
}

static void overwrite(const char *name, off_t at, size_t len)
{
	int fd = open(path_of(name), O_WRONLY);
	char garbage[4096];

	CHECK(fd >= 0);
	memset(garbage, 0xa5, sizeof(garbage));
	CHECK_INT(pwrite(fd, garbage, len, at), (ssize_t)len);
	close(fd);
}

static void refuses_what_is_no_database(void)
{
	struct mr_db_options options = { .path = path_of("db"), .repair_hint = "run `x repair`" };
	int fd = open(options.path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	overwrite("db", 0, 4096);
	check_refused(options, MR_EFORMAT, "",
		"db is not a usable database (file is not a database [SQLite 26]); run `x repair`");
	options.read_only = true;
	options.repair_hint = NULL;
	check_refused(options, MR_EFORMAT, "",
		"db is not a usable database (file is not a database [SQLite 26]); restore it from "
		"a "
		"backup");
}

static void notices_a_damaged_page(void)
{
	struct mr_db *db = open_new("CREATE TABLE t(a); CREATE TABLE u(a)");
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts problems = { 0 };
	struct mr_err err;

	exec(db, "INSERT INTO t VALUES(1); INSERT INTO u VALUES(1)");
	CHECK_OK(mr_db_check(db, arena, &problems, &err), err);
	CHECK_INT(problems.len, 0);
	mr_db_close(db);
	overwrite("db", 4096, 4096);
	db = open_with((struct mr_db_options){ .repair_hint = "run `x repair`" });
	CHECK_INT(mr_db_exec(db, "SELECT * FROM t", &err), MR_EFORMAT);
	check_msg(&err, "",
		"db is not a usable database (database disk image is malformed [SQLite 11]); run "
		"`x "
		"repair`");
	CHECK_OK(mr_db_check(db, arena, &problems, &err), err);
	CHECK(problems.len > 0);
	CHECK_INT(number(db, "SELECT a FROM u"), 1);
	mr_db_close(db);
}

static void finds_dangling_keys(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_with((struct mr_db_options){ .create = true, .no_foreign_keys = true });
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts problems = { 0 };
	struct mr_err err;

	exec(db,
		"CREATE TABLE a(id INTEGER PRIMARY KEY);"
		"CREATE TABLE b(a INTEGER REFERENCES a(id)); INSERT INTO b VALUES(7)");
	CHECK_OK(mr_db_check(db, arena, &problems, &err), err);
	CHECK_INT(problems.len, 1);
	CHECK_STR(problems.items[0], "row 1 of b names a row of a that is not there");
}

/* A process that holds the database's write lock from when this returns until `*let_go` is closed.
 */
static pid_t hold_elsewhere(enum mr_db_journal journal, int *let_go)
{
	int ready[2], end[2];
	char byte = 0;
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(end) == 0);
	pid = fork();
	if (pid == 0) {
		struct mr_db *db = open_with((struct mr_db_options){ .journal = journal });
		struct mr_err err;

		close(end[1]);
		CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
		exec(db, "INSERT INTO t VALUES(1)");
		CHECK_INT(write(ready[1], "x", 1), 1);
		CHECK_INT(read(end[0], &byte, 1), 0);
		CHECK_OK(mr_db_commit(db, &err), err);
		mr_db_close(db);
		_exit(0);
	}
	close(end[0]);
	CHECK_INT(read(ready[0], &byte, 1), 1);
	*let_go = end[1];
	return pid;
}

static void check_child(pid_t pid)
{
	int status = -1;

	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static void waits_for_another_process(enum mr_db_journal journal)
{
	struct mr_db *db = open_with((struct mr_db_options){ .create = true, .journal = journal });
	static const int timeouts_ms[] = { -1, 20 };
	struct mr_err err;
	pid_t pid;
	int let_go;

	exec(db, "CREATE TABLE t(a)");
	mr_db_close(db);
	pid = hold_elsewhere(journal, &let_go);
	for (size_t i = 0; i < MR_LEN(timeouts_ms); i++) {
		db = open_with((struct mr_db_options){ .journal = journal,
			.busy_timeout_ms = timeouts_ms[i] });
		CHECK_INT(mr_db_begin(db, MR_DB_IMMEDIATE, &err), MR_EBUSY);
		check_msg(&err, "database ",
			"db is busy: another process is writing to it; try again [SQLite 5]");
		CHECK(!mr_db_in_transaction(db));
		CHECK_INT(number(db, "SELECT count(*) FROM t"), 0);
		mr_db_close(db);
	}
	/* With the usual patience we outwait it. */
	db = open_with((struct mr_db_options){ .journal = journal });
	close(let_go);
	CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
	mr_db_rollback(db);
	mr_db_close(db);
	check_child(pid);
}

static void waits_with_a_log(void)
{
	waits_for_another_process(MR_DB_JOURNAL_WAL);
}

static void waits_with_a_journal(void)
{
	waits_for_another_process(MR_DB_JOURNAL_DELETE);
}

static void changes_the_journal_only_alone(void)
{
	struct mr_db *db;
	struct mr_err err;

	db = open_with((struct mr_db_options){ .create = true, .journal = MR_DB_JOURNAL_DELETE });
	exec(db, "CREATE TABLE t(a)");
	CHECK_OK(mr_db_begin(db, MR_DB_DEFERRED, &err), err);
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 0);
	check_refused((struct mr_db_options){ .path = path_of("db"), .busy_timeout_ms = 20 },
		MR_EBUSY, "database ",
		"db is busy: another process is writing to it; try again [SQLite 5]");
	mr_db_rollback(db);
	mr_db_close(db);
	mr_db_close(open_with((struct mr_db_options){ 0 }));
}

static void cannot_write_on_an_old_state(void)
{
	struct mr_db *a MR_CLEANUP(mr_db_closep) = open_new("CREATE TABLE t(a)");
	struct mr_db *b MR_CLEANUP(mr_db_closep) = open_with((struct mr_db_options){ 0 });
	struct mr_err err;

	CHECK_OK(mr_db_begin(a, MR_DB_DEFERRED, &err), err);
	CHECK_INT(number(a, "SELECT count(*) FROM t"), 0);
	exec(b, "INSERT INTO t VALUES(1)");
	CHECK_INT(mr_db_exec(a, "INSERT INTO t VALUES(2)", &err), MR_EBUSY);
	check_msg(&err, "database ",
		"db is busy: another process wrote to it since this transaction began to read; "
		"start "
		"it again [SQLite 517]");
	mr_db_rollback(a);
	exec(a, "INSERT INTO t VALUES(2)");
	CHECK_INT(number(b, "SELECT sum(a) FROM t"), 3);
}

static void is_locked_by_its_own_statement(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_new("CREATE TABLE t(a); INSERT INTO t VALUES(1)");
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = prepare(db, "SELECT * FROM t");
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK_INT(mr_db_exec(db, "DROP TABLE t", &err), MR_EBUSY);
	check_msg(&err, "database ",
		"db is busy: another statement of this connection is still at work [SQLite 6]");
}

static void says_that_the_disk_is_full(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_new("CREATE TABLE t(a); PRAGMA max_page_count=4");
	struct mr_err err;

	CHECK_INT(mr_db_exec(db, "INSERT INTO t VALUES(zeroblob(100000))", &err), MR_EIO);
	check_msg(&err, "database ", "db: disk full: free some space and try again [SQLite 13]");
	exec(db, "INSERT INTO t VALUES(1)");
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
}

/* What another connection has not committed is not in the copy, and does not delay it. */
static void a_copy_is_of_one_moment(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) =
		open_new("CREATE TABLE kept(x TEXT); INSERT INTO kept(x) VALUES('a')");
	struct mr_db *writer MR_CLEANUP(mr_db_closep) = open_with((struct mr_db_options){ 0 });
	struct mr_db *copy MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db *aside MR_CLEANUP(mr_db_closep) = NULL;
	static const char count[] = "SELECT count(*) FROM kept";
	struct mr_err err;

	exec(writer, "BEGIN IMMEDIATE; INSERT INTO kept(x) VALUES('b')");
	CHECK_OK(mr_db_copy(db, path_of("copy"), &err), err);
	CHECK_INT(mode_of("copy"), 0600);
	CHECK_OK(mr_db_copy_aside(db, &aside, &err), err);
	CHECK_OK(mr_db_commit(writer, &err), err);
	copy = open_with((struct mr_db_options){ .path = path_of("copy") });
	CHECK_INT(number(copy, count), 1);
	CHECK_INT(number(aside, count), 1);
	exec(aside, "DELETE FROM kept");
	CHECK_INT(number(aside, count), 0);
	CHECK_INT(number(db, count), 2);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_private_files),
		TEST(a_copy_is_of_one_moment),
		TEST(sets_the_connection_up),
		TEST(honours_options),
		TEST(leaves_existing_files_their_mode),
		TEST(says_what_is_missing),
		TEST(refuses_special_names),
		TEST(shows_the_end_of_long_paths),
		TEST(keeps_values),
		TEST(binds_null),
		TEST(ends_and_begins_anew),
		TEST(forgets_what_was_bound),
		TEST(reports_a_bad_bind_at_the_step),
		TEST(never_shares_a_statement_in_use),
		TEST(bounds_its_cache),
		TEST(says_what_is_wrong_with_sql),
		TEST(tells_constraints_apart),
		TEST(counts),
		TEST(undoes),
		TEST(rolls_back_at_close),
		TEST(only_reads),
		TEST(respects_permissions),
		TEST(notices_that_its_file_was_removed),
		TEST(refuses_what_is_no_database),
		TEST(notices_a_damaged_page),
		TEST(finds_dangling_keys),
		TEST(waits_with_a_log),
		TEST(waits_with_a_journal),
		TEST(changes_the_journal_only_alone),
		TEST(cannot_write_on_an_old_state),
		TEST(is_locked_by_its_own_statement),
		TEST(says_that_the_disk_is_full),
	};
	return test_main(tests, MR_LEN(tests));
}
