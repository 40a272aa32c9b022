/* tests/unit/team/test_team_root.c */
#include "team/store/root.h"

#include "database.h"
#include "files.h"
#include "team/error.h"
#include "team/open.h"
#include "test.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void makes_what_is_missing(void)
{
	struct world world;
	struct stat st;

	world_open(&world);
	CHECK_STR(mr_team_database(world.team), "root/storage.sqlite3");
	CHECK(stat("root/projects", &st) == 0 && S_ISDIR(st.st_mode));
	CHECK_INT(st.st_mode & 0777, 0700);
	CHECK(stat("root/storage.sqlite3", &st) == 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(world_count(&world, "projects"), 0);
	world_close(&world);
}

static void keeps_what_was_written(void)
{
	struct world world;
	struct mr_team_project project;

	world_open(&world);
	project = world_project(&world, "/path/to/backend");
	world_agent(&world, &project, "GreenCastle");
	world_reopen(&world);
	CHECK_STR(world_text(&world, "SELECT name FROM agents"), "GreenCastle");
	CHECK_STR(world_text(&world, "SELECT slug FROM projects"), "path-to-backend");
	world_close(&world);
}

/* Whoever copies the file has it all. */
static void closing_leaves_one_file(void)
{
	struct world world;

	world_open(&world);
	world_project(&world, "/path/to/backend");
	CHECK_INT(world_count(&world, "projects"), 1);
	mr_team_closep(&world.team);
	CHECK(access("root/storage.sqlite3", F_OK) == 0);
	CHECK(access("root/storage.sqlite3-wal", F_OK) != 0);
	mr_arena_free(world.cx.arena);
}

static enum mr_code half_and_fail(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	enum mr_code rc = database_try(cx, db,
		"INSERT INTO products (product_uid, name, name_fold, created_at)"
		" VALUES ('p', 'P', 'p', 1)");

	(void)arg;
	return rc ? rc : mr_team_fail(cx, MR_TEAM_NAME_TAKEN, "it is taken");
}

static void a_change_that_fails_leaves_nothing(void)
{
	struct world world;

	world_open(&world);
	world_check_fail(&world, mr_team_write(&world.cx, world.team, half_and_fail, NULL, NULL),
		MR_TEAM_NAME_TAKEN, "it is taken");
	CHECK_INT(world_count(&world, "products"), 0);
	world_close(&world);
}

static void a_damaged_database_names_the_way_out(void)
{
	struct world world;
	enum mr_code rc;

	world_open(&world);
	mr_team_closep(&world.team);
	files_put("root/storage.sqlite3",
		"this is not a database, whatever its name may say ......");
	rc = mr_team_open(&world.cx, &world.config, &world.team);
	CHECK_INT(rc, MR_EFORMAT);
	CHECK(strstr(world.cx.err.msg, "root/storage.sqlite3"));
	CHECK(strstr(world.cx.err.msg, "run `mailroom team rebuild`"));
	mr_arena_free(world.cx.arena);
}

static void data_of_errors_grows(void)
{
	struct world world;
	struct mr_texts names = { (const char *[]){ "GreenCastle", "BlueLake", NULL }, 2 };
	struct mr_texts near;
	const struct mr_value *data;

	world_open(&world);
	mr_team_refuse(&world.cx, "cc", "cc must be a list");
	mr_team_fail_int(&world.cx, "count", 3);
	mr_team_fail_texts(&world.cx, "candidates", &names);
	data = mr_team_fail_data(&world.cx.err);
	CHECK_INT(data->map.len, 3);
	CHECK_STR(mr_value_get(data, "argument")->text, "cc");
	CHECK_INT(mr_value_get(data, "count")->integer, 3);
	CHECK_STR(mr_value_get(data, "candidates")->list.items[1].text, "BlueLake");
	mr_team_fail(&world.cx, MR_TEAM_NOT_FOUND, "another");
	CHECK(!mr_team_fail_data(&world.cx.err));
	near = mr_team_nearest(world.cx.arena, "GreanCastle", &names);
	CHECK_INT(near.len, 1);
	CHECK_STR(near.items[0], "GreenCastle");
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_what_is_missing),
		TEST(keeps_what_was_written),
		TEST(closing_leaves_one_file),
		TEST(a_change_that_fails_leaves_nothing),
		TEST(a_damaged_database_names_the_way_out),
		TEST(data_of_errors_grows),
	};

	return test_main(tests, MR_LEN(tests));
}
