/* tests/unit/team/test_team_database.c - the database is deleted, overwritten, replaced while it is
 * in use. */
#include "team/store/root.h"

#include "database.h"
#include "files.h"
#include "team/archive/archive.h"
#include "team/archive/rebuild.h"
#include "team/open.h"
#include "test.h"
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE "root/storage.sqlite3"

static enum mr_code insert(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	(void)arg;
	return database_try(cx, db,
		"INSERT INTO products (product_uid, name, name_fold, created_at)"
		" SELECT 'p' || count(*), 'P' || count(*), 'p' || count(*), 1 FROM products");
}

static enum mr_code write_one(struct world *world)
{
	return mr_team_write(&world->cx, world->team, insert, NULL, NULL);
}

/* Until it works, which is at the next attempt: they are rare. */
static void write_again(struct world *world)
{
	enum mr_code rc = write_one(world);

	for (int i = 0; rc == MR_EBUSY && i < 3000; i++) {
		usleep(10000);
		rc = write_one(world);
	}
	CHECK_OK(rc, world->cx.err);
}

/* The last thing that was found is told until the next attempt. */
static void wait_for_text(struct world *world, const char *text)
{
	for (int i = 0; i < 3000; i++) {
		CHECK_INT(write_one(world), MR_EBUSY);
		if (mr_str_eq(world->cx.err.msg, text))
			return;
		usleep(10000);
	}
	CHECK_STR(world->cx.err.msg, text);
}

static void check_refused(struct world *world, const char *text)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

	CHECK_INT(write_one(world), MR_EBUSY);
	CHECK_STR(world->cx.err.msg, text);
	CHECK_INT(mr_team_read(&world->cx, world->team, &reader), MR_EBUSY);
	CHECK_STR(world->cx.err.msg, text);
}

static int64_t products(struct world *world)
{
	return world_count(world, "products");
}

static void open_with_two(struct world *world)
{
	world_open(world);
	CHECK_OK(write_one(world), world->cx.err);
	CHECK_OK(write_one(world), world->cx.err);
	CHECK_INT(products(world), 2);
}

/* A whole database beside it, which has as many products. */
static void make_other(struct world *world, const char *path, int64_t count)
{
	struct mr_team_config config = world->config;
	struct mr_team *team = NULL;

	config.database = path;
	CHECK_OK(mr_team_open(&world->cx, &config, &team), world->cx.err);
	for (int64_t i = 0; i < count; i++)
		CHECK_OK(mr_team_write(&world->cx, team, insert, NULL, NULL), world->cx.err);
	mr_team_close(team, 0);
}

static void a_deleted_one_takes_nothing(void)
{
	struct world world;

	open_with_two(&world);
	CHECK_INT(unlink(DATABASE), 0);
	check_refused(&world,
		"database root/storage.sqlite3 was deleted or moved away: put it back, or run "
		"`mailroom team rebuild`");
	/* Nobody makes an empty one in its place. */
	CHECK(access(DATABASE, F_OK) != 0);
	world_close(&world);
	CHECK(access(DATABASE, F_OK) != 0);
}

static void one_that_comes_back_has_all(void)
{
	struct world world;

	open_with_two(&world);
	CHECK_INT(rename(DATABASE, "root/away"), 0);
	CHECK_INT(write_one(&world), MR_EBUSY);
	CHECK_INT(rename("root/away", DATABASE), 0);
	write_again(&world);
	CHECK_INT(products(&world), 3);
	world_reopen(&world);
	CHECK_INT(products(&world), 3);
	world_close(&world);
}

/* A reader finds out by itself, and brings the writer along. */
static void readers_follow_a_new_one(void)
{
	struct world world;

	open_with_two(&world);
	make_other(&world, "root/other", 5);
	CHECK_INT(rename("root/other", DATABASE), 0);
	unlink(DATABASE "-wal");
	unlink(DATABASE "-shm");
	for (int i = 0; products(&world) != 5; i++) {
		CHECK(i < 3000);
		usleep(10000);
	}
	write_again(&world);
	CHECK_INT(products(&world), 6);
	world_close(&world);
}

/* The connection that somebody still reads with is of the old one, and the last of its kind. */
static void waits_for_who_still_reads(void)
{
	struct mr_team_reader reader = { 0 };
	struct world world;

	open_with_two(&world);
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	make_other(&world, "root/other", 5);
	CHECK_INT(rename("root/other", DATABASE), 0);
	unlink(DATABASE "-wal");
	unlink(DATABASE "-shm");
	CHECK_INT(write_one(&world), MR_EBUSY);
	CHECK_STR(world.cx.err.msg,
		"another file has taken the place of database root/storage.sqlite3: put the right "
		"one back, or run `mailroom team rebuild`");
	mr_team_read_done(&reader);
	write_again(&world);
	CHECK_INT(products(&world), 6);
	world_close(&world);
}

static void rubbish_is_not_used(void)
{
	struct world world;
	int fd;

	open_with_two(&world);
	fd = open(DATABASE, O_WRONLY | O_CLOEXEC);
	CHECK_INT(pwrite(fd, "rubbish", 7, 0), 7);
	check_refused(&world,
		"database root/storage.sqlite3 was overwritten by another program; run `mailroom "
		"team rebuild`");
	/* The log was kept: with the first bytes back, nothing is missing. */
	CHECK_INT(pwrite(fd, "SQLite ", 7, 0), 7);
	write_again(&world);
	CHECK_INT(products(&world), 3);
	world_close(&world);
}

static void a_damaged_one_is_not_used(void)
{
	char rubbish[4096];
	struct world world;
	int fd;

	open_with_two(&world);
	make_other(&world, "root/other", 500);
	memset(rubbish, 0xab, sizeof(rubbish));
	fd = open("root/other", O_RDWR | O_CLOEXEC);
	CHECK_INT(pwrite(fd, rubbish, sizeof(rubbish), 8192), (ssize_t)sizeof(rubbish));
	CHECK_INT(rename("root/other", DATABASE), 0);
	unlink(DATABASE "-wal");
	unlink(DATABASE "-shm");
	CHECK_INT(write_one(&world), MR_EBUSY);
	CHECK(strstr(world.cx.err.msg, "database root/storage.sqlite3 is damaged ("));
	CHECK(strstr(world.cx.err.msg, "); run `mailroom team rebuild`"));
	world_close(&world);
}

static void an_empty_or_foreign_one_is_not_used(void)
{
	struct mr_db_options options = { .path = "root/foreign", .create = true };
	struct mr_db *db = NULL;
	struct world world;
	struct stat st;

	open_with_two(&world);
	files_put("root/empty", "");
	CHECK_INT(rename("root/empty", DATABASE), 0);
	unlink(DATABASE "-wal");
	unlink(DATABASE "-shm");
	check_refused(&world,
		"database root/storage.sqlite3 was cut off by another program; run `mailroom team "
		"rebuild`");
	CHECK_INT(stat(DATABASE, &st), 0);
	CHECK_INT(st.st_size, 0);
	db = database_open(&world.cx, &options);
	database_exec(&world.cx, db, "CREATE TABLE t (a BIGINT)");
	database_closep(&db);
	CHECK_INT(rename("root/foreign", DATABASE), 0);
	wait_for_text(&world,
		"root/storage.sqlite3 is not a database of Mailroom: put the right one back, or "
		"run "
		"`mailroom team rebuild`");
	world_close(&world);
}

/* What is named needs no stop of the program that uses the database. */
static void check_rebuilt(bool log_stays)
{
	struct mr_team_rebuilt counts;
	struct world world;

	open_with_two(&world);
	world_project(&world, "/backend");
	CHECK_OK(mr_team_archive_drain(&world.cx, world.team, 60000, true), world.cx.err);
	CHECK_INT(mr_team_rebuild_database(&world.cx, &world.config, 0, &counts), MR_EBUSY);
	CHECK_INT(unlink(DATABASE), 0);
	CHECK(log_stays || (unlink(DATABASE "-wal") == 0 && unlink(DATABASE "-shm") == 0));
	CHECK_INT(write_one(&world), MR_EBUSY);
	CHECK_OK(mr_team_rebuild_database(&world.cx, &world.config, 0, &counts), world.cx.err);
	write_again(&world);
	CHECK_INT(products(&world), 1);
	/* And nobody rebuilds it now. */
	CHECK_INT(mr_team_rebuild_database(&world.cx, &world.config, 0, &counts), MR_EBUSY);
	world_close(&world);
}

static void a_rebuilt_one_is_used(void)
{
	check_rebuilt(false);
}

/* Or SQLite would copy what it says into the new database. */
static void the_log_of_a_deleted_one_is_not_used(void)
{
	check_rebuilt(true);
}

/* A server goes on running while a newer program opens its database. */
static void one_that_a_newer_program_changed_is_only_read(void)
{
	struct world world;

	open_with_two(&world);
	world_exec(&world, "INSERT INTO schema_version VALUES (999, 'of the future', 1)");
	CHECK_INT(write_one(&world), MR_ECONFLICT);
	CHECK(strstr(world.cx.err.msg,
		"a newer mailroom has changed database root/storage.sqlite3 (its schema is version "
		"999, this program knows "));
	CHECK(strstr(world.cx.err.msg, "stop it, and start the newer one"));
	CHECK_INT(products(&world), 2);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_deleted_one_takes_nothing),
		TEST(one_that_comes_back_has_all),
		TEST(readers_follow_a_new_one),
		TEST(waits_for_who_still_reads),
		TEST(rubbish_is_not_used),
		TEST(a_damaged_one_is_not_used),
		TEST(an_empty_or_foreign_one_is_not_used),
		TEST(a_rebuilt_one_is_used),
		TEST(the_log_of_a_deleted_one_is_not_used),
		TEST(one_that_a_newer_program_changed_is_only_read),
	};
	return test_main(tests, MR_LEN(tests));
}
