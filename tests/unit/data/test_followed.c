/* tests/unit/data/test_followed.c - only what ends a change is told of. */
#include "data/followed.h"

#include "base/fs_watch_dirs.h"
#include "base/str.h"
#include "data/db.h"
#include "files.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char here[4096];

static const char *in_here(struct mr_arena *arena, const char *name)
{
	return mr_arena_printf(arena, "%s/%s", here, name);
}

static struct mr_followed *begin(size_t max)
{
	struct mr_followed *follow = NULL;
	struct mr_err err;

	files_enter();
	CHECK(getcwd(here, sizeof(here)));
	CHECK_OK(mr_followed_open(max, &follow, &err), err);
	CHECK(!mr_followed_drain(follow));
	return follow;
}

static void open_and_close(const char *name, int flags)
{
	int fd = open(name, flags, 0644);

	CHECK(fd >= 0 && close(fd) == 0);
}

static void the_end_of_a_writer_is_told(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_followed *follow = begin(8);

	mr_followed_add(follow, in_here(arena, "lock"), false);
	mr_followed_add(follow, "from/here/lock", false);
	open_and_close("lock", O_RDWR | O_CREAT);
	CHECK(mr_followed_drain(follow));
	CHECK(mkdir("from", 0755) == 0 && mr_followed_drain(follow));
	open_and_close("lock", O_RDONLY);
	open_and_close("other", O_RDWR | O_CREAT);
	CHECK(!mr_followed_drain(follow));
	/* Twice is once. */
	mr_followed_add(follow, in_here(arena, "lock"), false);
	open_and_close("lock", O_WRONLY);
	CHECK(mr_followed_drain(follow) && !mr_followed_drain(follow));
	mr_followed_close(&follow);
	CHECK(!follow);
}

static struct mr_db *open_db(const char *path, enum mr_db_journal journal, bool read_only)
{
	const struct mr_db_options options = { .path = path,
		.create = !read_only,
		.read_only = read_only,
		.journal = journal,
		.repair_hint = "" };
	struct mr_db *db = NULL;
	struct mr_err err;

	CHECK_OK(mr_db_open(&options, &db, &err), err);
	return db;
}

static void run(struct mr_db *db, const char *sql)
{
	struct mr_err err;

	CHECK_OK(mr_db_exec(db, sql, &err), err);
}

/* Whatever the journal: a commit is told of, and a reader is not. */
static void commits_are_told(void)
{
	static const enum mr_db_journal journals[] = { MR_DB_JOURNAL_DELETE, MR_DB_JOURNAL_WAL };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_followed *follow = begin(8);

	for (size_t i = 0; i < MR_LEN(journals); i++) {
		const char *path = in_here(arena, i ? "wal.sqlite" : "delete.sqlite");
		struct mr_db *writer, *reader;

		mr_followed_add(follow, path, true);
		writer = open_db(path, journals[i], false);
		run(writer, "CREATE TABLE t(a)");
		CHECK(mr_followed_drain(follow));
		reader = open_db(path, journals[i], true);
		run(reader, "SELECT * FROM t");
		CHECK(!mr_followed_drain(follow));
		run(writer, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT");
		CHECK(mr_followed_drain(follow));
		run(reader, "SELECT * FROM t");
		mr_db_close(reader);
		CHECK(!mr_followed_drain(follow));
		mr_db_close(writer);
	}
	mr_followed_close(&follow);
}

static void names_beside_a_database_are_told_apart(void)
{
	static const struct {
		const char *name;
		unsigned what;
		bool is_commit;
	} cases[] = {
		{ "a.sqlite", MR_FS_WATCH_ARRIVED, true },
		{ "a.sqlite", MR_FS_WATCH_TOUCHED, true },
		{ "a.sqlite", MR_FS_WATCH_WRITTEN | MR_FS_WATCH_CLOSED, false },
		{ "a.sqlite-journal", MR_FS_WATCH_REMOVED, true },
		{ "a.sqlite-journal", MR_FS_WATCH_CLOSED, true },
		{ "a.sqlite-journal", MR_FS_WATCH_WRITTEN | MR_FS_WATCH_ARRIVED, false },
		{ "a.sqlite-wal", MR_FS_WATCH_WRITTEN, true },
		{ "a.sqlite-wal", MR_FS_WATCH_REMOVED | MR_FS_WATCH_ARRIVED, false },
		{ "a.sqlite-shm", MR_FS_WATCH_WRITTEN, false },
		{ "b.sqlite-wal", MR_FS_WATCH_WRITTEN, false },
		{ "", MR_FS_WATCH_TOUCHED, false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_INT(mr_followed_is_commit("a.sqlite", cases[i].name, cases[i].what),
			cases[i].is_commit);
}

/* What is not there yet is told of when it comes, and followed by whoever reads it then. */
static void directories_that_come_and_go(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_followed *follow = begin(8);
	const char *path = in_here(arena, "a/b/lock");

	mr_followed_add(follow, path, false);
	CHECK(mkdir("ab", 0755) == 0 && !mr_followed_drain(follow));
	CHECK(mkdir("a", 0755) == 0 && mr_followed_drain(follow));
	CHECK(mkdir("a/b", 0755) == 0 && !mr_followed_drain(follow));
	mr_followed_add(follow, path, false);
	open_and_close("a/b/lock", O_RDWR | O_CREAT);
	CHECK(mr_followed_drain(follow));
	CHECK(unlink("a/b/lock") == 0 && rmdir("a/b") == 0 && mr_followed_drain(follow));
	CHECK(mkdir("a/b", 0755) == 0 && !mr_followed_drain(follow));
	mr_followed_add(follow, path, false);
	open_and_close("a/b/lock", O_RDWR | O_CREAT);
	CHECK(mr_followed_drain(follow));
	mr_followed_close(&follow);
}

static void the_newest_are_followed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_followed *follow = begin(2);

	mr_followed_add(follow, in_here(arena, "one"), false);
	mr_followed_add(follow, in_here(arena, "two"), false);
	mr_followed_add(follow, in_here(arena, "one"), false);
	mr_followed_add(follow, in_here(arena, "three"), false);
	open_and_close("two", O_RDWR | O_CREAT);
	CHECK(!mr_followed_drain(follow));
	open_and_close("one", O_RDWR | O_CREAT);
	CHECK(mr_followed_drain(follow));
	open_and_close("three", O_RDWR | O_CREAT);
	CHECK(mr_followed_drain(follow));
	mr_followed_close(&follow);
}

int main(void)
{
	static const struct test tests[] = { TEST(the_end_of_a_writer_is_told),
		TEST(commits_are_told), TEST(names_beside_a_database_are_told_apart),
		TEST(directories_that_come_and_go), TEST(the_newest_are_followed) };

	return test_main(tests, MR_LEN(tests));
}
