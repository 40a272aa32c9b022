/* tests/unit/team/test_team_freeze.c */
#include "team/freeze.h"

#include "base/fs.h"
#include "base/lock.h"
#include "files.h"
#include "team/layout.h"
#include "test.h"
#include "world.h"

#define DATABASE "root/storage.sqlite3"

static void archives_are_locked_until_its_end(void)
{
	struct mr_team_freeze *freeze MR_CLEANUP(mr_team_freeze_endp) = NULL;
	struct world world;

	world_open(&world);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/projects/alpha", 0700, &world.cx.err),
		world.cx.err);
	CHECK_OK(mr_team_freeze_begin(&world.cx, "root", DATABASE, "copy", &freeze), world.cx.err);
	CHECK(mr_lock_is_held(AT_FDCWD, "root/projects/alpha/" MR_TEAM_LOCK_FILE));
	CHECK(mr_fs_exists(AT_FDCWD, "copy"));
	CHECK(mr_team_freeze_has(freeze, "projects/alpha/messages/x.md"));
	/* A project that came later. */
	CHECK(!mr_team_freeze_has(freeze, "projects/beta"));
	CHECK(!mr_team_freeze_has(freeze, "projects/beta/x"));
	CHECK(!mr_team_freeze_has(freeze, "projects/alpha/" MR_TEAM_LOCK_FILE));
	CHECK(!mr_team_freeze_has(freeze, "storage.sqlite3-wal"));
	CHECK(mr_team_freeze_has(freeze, "projects"));
	CHECK(mr_team_freeze_has(freeze, "other"));
	mr_team_freeze_endp(&freeze);
	CHECK(!mr_lock_is_held(AT_FDCWD, "root/projects/alpha/" MR_TEAM_LOCK_FILE));
	world_close(&world);
}

static void an_old_copy_is_replaced(void)
{
	struct mr_team_freeze *freeze MR_CLEANUP(mr_team_freeze_endp) = NULL;
	struct world world;

	world_open(&world);
	files_put("copy", "what a killed backup left");
	CHECK_OK(mr_team_freeze_begin(&world.cx, "root", DATABASE, "copy", &freeze), world.cx.err);
	mr_team_freeze_endp(&freeze);
	world_close(&world);
}

static void a_database_must_be_there(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new(), .clock = mr_clock_system() };
	struct mr_team_freeze *freeze = NULL;

	files_enter();
	CHECK_ERR(mr_team_freeze_begin(&cx, "root", DATABASE, "copy", &freeze), cx.err,
		MR_ENOTFOUND, "there is no database " DATABASE);
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(archives_are_locked_until_its_end),
		TEST(an_old_copy_is_replaced),
		TEST(a_database_must_be_there),
	};

	return test_main(tests, MR_LEN(tests));
}
