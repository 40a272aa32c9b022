/* tests/unit/data/test_db_place.c - data/db_sqlite.c: a database that is changed from outside while
 * it is open, and the size of its log. */
#include "data/db.h"
#include "files.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20, WRITES = 600 };

static struct mr_db *open_with(struct mr_db_options options)
{
	struct mr_db *db = NULL;
	struct mr_err err;

	options.path = "db";
	options.repair_hint = "call for help";
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	return db;
}

static void exec(struct mr_db *db, const char *sql)
{
	struct mr_err err;

	CHECK_OK(mr_db_exec(db, sql, &err), err);
}

static struct mr_db *open_filled(void)
{
	struct mr_db *db;

	files_enter();
	db = open_with((struct mr_db_options){ .create = true });
	exec(db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
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

static void check_says(struct mr_db *db, enum mr_code code, const char *text)
{
	struct mr_err err;

	CHECK_ERR(mr_db_still_there(db, &err), err, code, text);
}

static void check_there(struct mr_db *db)
{
	struct mr_err err;

	CHECK_OK(mr_db_still_there(db, &err), err);
}

static void copy(const char *from, const char *to, int flags)
{
	static char bytes[64 * 1024];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	ssize_t len;

	CHECK(in >= 0 && out >= 0);
	while ((len = read(in, bytes, sizeof(bytes))) > 0)
		CHECK_INT(write(out, bytes, (size_t)len), len);
	/* Closing would drop the locks that this process has on a database. */
}

static void is_there_while_nobody_touches_it(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	struct mr_db *reader MR_CLEANUP(mr_db_closep) =
		open_with((struct mr_db_options){ .read_only = true });

	for (int i = 0; i < 50; i++) {
		exec(db, "INSERT INTO t VALUES(zeroblob(5000))");
		check_there(db);
		check_there(reader);
	}
	exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
	check_there(db);
	check_there(reader);
}

static void notices_that_it_was_deleted(void)
{
	struct mr_db *db = open_filled();

	CHECK_INT(rename("db", "away"), 0);
	check_says(db, MR_EIO,
		"database db was deleted or moved away (No such file or directory): put it back, "
		"or "
		"call for help");
	CHECK_INT(rename("away", "db"), 0);
	check_there(db);
	CHECK_INT(unlink("db"), 0);
	/* This is why: SQLite has no objection. */
	exec(db, "INSERT INTO t VALUES(2)");
	check_says(db, MR_EIO,
		"database db was deleted or moved away (No such file or directory): put it back, "
		"or "
		"call for help");
	mr_db_abandon(db);
}

static void notices_that_it_was_replaced(void)
{
	struct mr_db *db = open_filled();

	copy("db", "other", O_EXCL);
	CHECK_INT(rename("other", "db"), 0);
	check_says(db, MR_EIO,
		"another file has taken the place of database db: put the right one back, or call "
		"for help");
	mr_db_abandon(db);
}

static void notices_that_its_log_is_gone(void)
{
	static const char *const names[] = { "db-wal", "db-shm" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_db *db = open_filled();

		CHECK_INT(unlink(names[i]), 0);
		check_says(db, MR_EIO,
			"the log of database db (-wal or -shm beside it) was deleted or replaced; "
			"if "
			"mail is missing, call for help");
		files_put(names[i], "");
		CHECK(mr_db_still_there(db, &(struct mr_err){ 0 }) == MR_EIO);
		mr_db_abandon(db);
		unlink("db");
		unlink("db-wal");
		unlink("db-shm");
	}
}

static void notices_that_it_was_overwritten(void)
{
	struct mr_db *db = open_filled();
	struct mr_db *reader = open_with((struct mr_db_options){ .read_only = true });
	int fd = open("db", O_WRONLY | O_CLOEXEC);

	CHECK_INT(pwrite(fd, "rubbish", 7, 0), 7);
	check_says(db, MR_EFORMAT, "database db was overwritten by another program; call for help");
	check_says(reader, MR_EFORMAT,
		"database db was overwritten by another program; call for help");
	CHECK_INT(pwrite(fd, "SQLite ", 7, 0), 7);
	check_there(db);
	CHECK_INT(ftruncate(fd, 50), 0);
	check_says(db, MR_EFORMAT, "database db was cut off by another program; call for help");
	mr_db_abandon(reader);
	mr_db_abandon(db);
}

static void notices_an_older_copy(void)
{
	struct mr_db *db = open_filled();

	exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
	copy("db", "backup", O_EXCL);
	exec(db, "INSERT INTO t VALUES(zeroblob(100000)); PRAGMA wal_checkpoint(TRUNCATE)");
	check_there(db);
	copy("backup", "db", O_TRUNC);
	check_says(db, MR_EFORMAT,
		"database db was overwritten with an older copy by another program; call for help");
	mr_db_abandon(db);
}

static void notices_what_it_found_damaged(void)
{
	struct mr_db *db = open_filled();
	char rubbish[4096];
	struct mr_err err;
	int fd;

	exec(db, "INSERT INTO t VALUES(zeroblob(100000)); PRAGMA wal_checkpoint(TRUNCATE)");
	mr_db_close(db);
	memset(rubbish, 0xab, sizeof(rubbish));
	fd = open("db", O_WRONLY | O_CLOEXEC);
	CHECK_INT(pwrite(fd, rubbish, sizeof(rubbish), 4096), (ssize_t)sizeof(rubbish));
	db = open_with((struct mr_db_options){ 0 });
	check_there(db);
	CHECK_INT(mr_db_run(db, "INSERT INTO t VALUES(3)", &err), MR_EFORMAT);
	check_says(db, MR_EFORMAT, "database db is damaged; call for help");
	mr_db_abandon(db);
}

/* The one that is put back needs its log. */
static void abandons_without_a_trace(void)
{
	struct mr_db *db = open_filled();
	struct stat st;

	mr_db_abandon(db);
	CHECK_INT(stat("db-wal", &st), 0);
	CHECK(st.st_size > 0);
	db = open_with((struct mr_db_options){ 0 });
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
	mr_db_close(db);
	CHECK(stat("db-wal", &st) != 0);
}

/* The log is all there is of the last changes, and only this connection has it. */
static void saves_a_deleted_log(void)
{
	struct mr_db *db = open_filled();

	CHECK_INT(unlink("db-wal"), 0);
	CHECK_INT(unlink("db-shm"), 0);
	mr_db_abandon(db);
	db = open_with((struct mr_db_options){ 0 });
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
	mr_db_close(db);
}

static void touches_the_disk(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	struct stat before, after;
	struct mr_err err;

	for (int i = 0; i < 3; i++) {
		CHECK_INT(stat("db-wal", &before), 0);
		CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
		CHECK_OK(mr_db_touch(db, &err), err);
		CHECK_OK(mr_db_commit(db, &err), err);
		CHECK_INT(stat("db-wal", &after), 0);
		CHECK(after.st_size > before.st_size);
	}
	CHECK_INT(number(db, "SELECT count(*) FROM t"), 1);
}

static int64_t log_bytes(void)
{
	struct stat st;

	return stat("db-wal", &st) == 0 ? st.st_size : 0;
}

static void keeps_its_log_small(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	int64_t largest = 0;

	files_enter();
	db = open_with((struct mr_db_options){ .create = true, .max_log_bytes = MIB });
	exec(db, "CREATE TABLE t(a)");
	for (int i = 0; i < WRITES; i++) {
		exec(db, "INSERT INTO t VALUES(zeroblob(10000))");
		mr_db_trim_log(db);
		largest = log_bytes() > largest ? log_bytes() : largest;
	}
	CHECK(largest > 0 && largest < MIB);
	CHECK_INT(number(db, "SELECT count(*) FROM t"), WRITES);
}

/* A reader that stays holds the log up, but nobody for long; when it leaves, the log is cut. */
static void gets_over_a_reader_that_stays(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db *reader MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_err err;

	files_enter();
	db = open_with((struct mr_db_options){ .create = true, .max_log_bytes = MIB });
	exec(db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
	reader = open_with((struct mr_db_options){ .read_only = true });
	CHECK_OK(mr_db_begin(reader, MR_DB_DEFERRED, &err), err);
	CHECK_INT(number(reader, "SELECT count(*) FROM t"), 1);
	for (int i = 0; i < WRITES / 4; i++) {
		exec(db, "INSERT INTO t VALUES(zeroblob(10000))");
		mr_db_trim_log(db);
	}
	CHECK(log_bytes() > MIB);
	CHECK_INT(number(reader, "SELECT count(*) FROM t"), 1);
	mr_db_rollback(reader);
	for (int i = 0; i < WRITES / 4; i++) {
		exec(db, "INSERT INTO t VALUES(zeroblob(10000))");
		mr_db_trim_log(db);
	}
	CHECK(log_bytes() < MIB);
	CHECK_INT(number(reader, "SELECT count(*) FROM t"), 1 + WRITES / 4 * 2);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(is_there_while_nobody_touches_it),
		TEST(notices_that_it_was_deleted),
		TEST(notices_that_it_was_replaced),
		TEST(notices_that_its_log_is_gone),
		TEST(notices_that_it_was_overwritten),
		TEST(notices_an_older_copy),
		TEST(notices_what_it_found_damaged),
		TEST(abandons_without_a_trace),
		TEST(saves_a_deleted_log),
		TEST(touches_the_disk),
		TEST(keeps_its_log_small),
		TEST(gets_over_a_reader_that_stays),
	};
	return test_main(tests, MR_LEN(tests));
}
