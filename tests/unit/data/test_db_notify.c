/* tests/unit/data/test_db_notify.c - notices between connections and processes, and who has a
 * database open. */
#include "data/db.h"
#include "files.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mr_err err;

static struct mr_db *open_db(void)
{
	struct mr_db_options options = { .path = "db", .create = true };
	struct mr_db *db = NULL;

	CHECK_OK(mr_db_open(&options, &db, &err), err);
	return db;
}

static struct mr_db_listener *listen_to(const char *path)
{
	struct mr_db_listener *listener = NULL;

	CHECK_OK(mr_db_listen(path, &listener, &err), err);
	return listener;
}

/* Has a notice come? The descriptor and the drain say the same. */
static bool heard(struct mr_db_listener *listener, int timeout_ms)
{
	struct pollfd fd = { .fd = mr_db_listener_fd(listener), .events = POLLIN };
	bool readable = poll(&fd, 1, timeout_ms) == 1;

	CHECK_INT(mr_db_listener_drain(listener), readable);
	CHECK(poll(&fd, 1, 0) == 0);
	return readable;
}

static void exec(struct mr_db *db, const char *sql)
{
	CHECK_OK(mr_db_exec(db, sql, &err), err);
}

static void begin(struct mr_db *db)
{
	CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
}

static void a_notice_is_heard_once_by_each_listener(void)
{
	struct mr_db_listener *one, *two, *other;
	struct mr_db *db;

	files_enter();
	db = open_db();
	one = listen_to("db");
	two = listen_to("db");
	other = listen_to("other");
	CHECK(!heard(one, 0));
	mr_db_notify(db);
	mr_db_notify(db);
	CHECK(heard(one, 10000));
	CHECK(heard(two, 10000));
	CHECK(!heard(one, 0));
	CHECK(!heard(other, 0));
	exec(db, "CREATE TABLE t(a)"); /* a change alone is no notice */
	CHECK(!heard(one, 0));
	mr_db_listener_close(&one);
	mr_db_listener_close(&two);
	mr_db_listener_close(&other);
	CHECK(one == NULL);
	mr_db_listener_close(&one);
	mr_db_close(db);
}

static void a_transaction_is_told_when_it_is_committed(void)
{
	struct mr_db_listener *listener;
	struct mr_db *db;

	files_enter();
	db = open_db();
	exec(db, "CREATE TABLE t(a PRIMARY KEY)");
	listener = listen_to("db");
	begin(db);
	exec(db, "INSERT INTO t VALUES(1)");
	mr_db_notify(db);
	CHECK(!heard(listener, 0));
	CHECK_OK(mr_db_commit(db, &err), err);
	CHECK(heard(listener, 10000));

	begin(db);
	mr_db_notify(db);
	mr_db_rollback(db);
	CHECK(!heard(listener, 0));
	/* What was rolled back is not told by the next commit either. */
	begin(db);
	exec(db, "INSERT INTO t VALUES(2)");
	CHECK_OK(mr_db_commit(db, &err), err);
	CHECK(!heard(listener, 0));
	mr_db_listener_close(&listener);
	mr_db_close(db);
}

static void a_commit_that_fails_tells_nobody(void)
{
	struct mr_db_listener *listener;
	struct mr_db *db;

	files_enter();
	db = open_db();
	exec(db,
		"CREATE TABLE p(id PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id) "
		"DEFERRABLE INITIALLY DEFERRED)");
	listener = listen_to("db");
	begin(db);
	exec(db, "INSERT INTO c VALUES(1)");
	mr_db_notify(db);
	CHECK_INT(mr_db_commit(db, &err), MR_ECONFLICT);
	mr_db_rollback(db);
	CHECK(!heard(listener, 0));
	mr_db_listener_close(&listener);
	mr_db_close(db);
}

/* The listener sees what it was woken for. */
static void another_process_is_heard(void)
{
	struct mr_db_listener *listener;
	struct mr_stmt *stmt = NULL;
	struct mr_db *db;
	int status = 1;
	bool row = false;
	pid_t child;

	files_enter();
	db = open_db();
	exec(db, "CREATE TABLE t(a)");
	mr_db_close(db);
	listener = listen_to("db");
	child = fork();
	if (child == 0) {
		db = open_db();
		begin(db);
		exec(db, "INSERT INTO t VALUES(7)");
		mr_db_notify(db);
		CHECK_OK(mr_db_commit(db, &err), err);
		mr_db_close(db);
		_exit(0);
	}
	CHECK(child > 0);
	CHECK(heard(listener, -1));
	db = open_db();
	CHECK_OK(mr_db_prepare(db, "SELECT a FROM t", &stmt, &err), err);
	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	CHECK(row);
	mr_stmt_done(&stmt);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	mr_db_listener_close(&listener);
	mr_db_close(db);
}

/* Earlier versions, which may be running, set the times of this file and watch it. */
static void the_bell_is_a_file_beside_the_database(void)
{
	static const struct timespec past[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct mr_db_listener *listener;
	struct stat st;
	struct mr_db *db;

	files_enter();
	db = open_db();
	mr_db_notify(db);
	CHECK(stat("db.bell", &st) == 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	listener = listen_to("db");
	CHECK(utimensat(AT_FDCWD, "db.bell", past, 0) == 0);
	CHECK(heard(listener, 10000));
	mr_db_notify(db);
	CHECK(stat("db.bell", &st) == 0);
	CHECK(st.st_mtim.tv_sec > 1);
	mr_db_listener_close(&listener);
	mr_db_close(db);
}

static void a_bell_that_cannot_be_made_is_named(void)
{
	struct mr_db_listener *listener = NULL;

	files_enter();
	CHECK_INT(mr_db_listen("none/db", &listener, &err), MR_ENOTFOUND);
	CHECK(strstr(err.msg, "cannot watch none/db.bell"));
	CHECK(listener == NULL);
}

/* A notice that cannot be sent does not fail the change it is about. */
static void a_bell_that_cannot_be_rung_harms_nobody(void)
{
	struct mr_db *db;

	files_enter();
	CHECK(symlink("elsewhere", "db.bell") == 0);
	db = open_db();
	begin(db);
	exec(db, "CREATE TABLE t(a)");
	mr_db_notify(db);
	CHECK_OK(mr_db_commit(db, &err), err);
	CHECK(access("elsewhere", F_OK) != 0);
	mr_db_close(db);
}

static void who_has_it_open_is_known(void)
{
	int ready[2], done[2], status = 1;
	struct mr_db *db;
	long pid = 0;
	char byte;
	pid_t child;

	files_enter();
	CHECK(!mr_db_is_open_elsewhere("db", &pid));
	db = open_db();
	exec(db, "CREATE TABLE t(a)");
	mr_db_close(db);
	CHECK(!mr_db_is_open_elsewhere("db", &pid));
	CHECK(pipe(ready) == 0 && pipe(done) == 0);
	child = fork();
	if (child == 0) {
		close(done[1]);
		db = open_db();
		if (write(ready[1], "x", 1) != 1 || read(done[0], &byte, 1) < 0)
			_exit(1);
		mr_db_close(db);
		_exit(0);
	}
	CHECK(child > 0);
	close(done[0]);
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK(mr_db_is_open_elsewhere("db", &pid));
	CHECK_INT(pid, child);
	close(done[1]);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	CHECK(!mr_db_is_open_elsewhere("db", &pid));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_notice_is_heard_once_by_each_listener),
		TEST(a_transaction_is_told_when_it_is_committed),
		TEST(a_commit_that_fails_tells_nobody),
		TEST(another_process_is_heard),
		TEST(the_bell_is_a_file_beside_the_database),
		TEST(a_bell_that_cannot_be_made_is_named),
		TEST(a_bell_that_cannot_be_rung_harms_nobody),
		TEST(who_has_it_open_is_known),
	};

	return test_main(tests, MR_LEN(tests));
}
