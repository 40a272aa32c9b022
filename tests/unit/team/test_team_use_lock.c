/* tests/unit/team/test_team_use_lock.c */
#include "team/store/use_lock.h"

#include "base/fs.h"
#include "team/open.h"
#include "test.h"
#include "world.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define DATABASE "root/storage.sqlite3"

static void a_rebuild_waits_for_all_users(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct world world;
	struct mr_team *second = NULL;

	world_open(&world);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &second), world.cx.err);
	CHECK_INT(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), MR_EBUSY);
	CHECK_STR(world.cx.err.msg, DATABASE " is open in other processes: stop them first");
	mr_team_closep(&second);
	mr_team_closep(&world.team);
	CHECK_OK(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), world.cx.err);
	mr_lock_release(&lock);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	world_close(&world);
}

static void one_that_does_not_wait_is_refused(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct world world;
	int user = -1;

	world_open(&world);
	mr_team_closep(&world.team);
	CHECK_OK(mr_team_use_lock_share(&world.cx, DATABASE, false, &user), world.cx.err);
	CHECK_INT(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), MR_EBUSY);
	mr_fs_closep(&user);
	CHECK_OK(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), world.cx.err);
	CHECK_INT(mr_team_use_lock_share(&world.cx, DATABASE, false, &user), MR_EBUSY);
	CHECK_STR(world.cx.err.msg, "database " DATABASE " is being rebuilt; try again later");
	CHECK_INT(user, -1);
	mr_lock_release(&lock);
	world_close(&world);
}

/* A lock file that was deleted is made again. */
static void the_lock_file_is_opened_anew(void)
{
	struct world world;
	struct mr_lock lock = MR_LOCK_INIT;
	int user = -1;

	world_open(&world);
	mr_team_closep(&world.team);
	CHECK_OK(mr_team_use_lock_share(&world.cx, DATABASE, false, &user), world.cx.err);
	CHECK(unlink(DATABASE ".bell") == 0);
	CHECK_OK(mr_team_use_lock_share(&world.cx, DATABASE, false, &user), world.cx.err);
	CHECK_INT(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), MR_EBUSY);
	mr_fs_closep(&user);
	CHECK_INT(mr_team_use_lock_share(&world.cx, "none/x", false, &user), MR_ENOTFOUND);
	CHECK_STR(world.cx.err.msg, "cannot open none/x.bell: No such file or directory");
	world_close(&world);
}

/* Earlier versions lock the bell, and may be running. */
static void an_earlier_version_is_respected(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct world world;
	int old;

	world_open(&world);
	old = open(DATABASE ".bell", O_WRONLY | O_CLOEXEC);
	CHECK(old >= 0);
	CHECK(flock(old, LOCK_EX | LOCK_NB) != 0); /* its rebuild sees this user */
	mr_team_closep(&world.team);
	CHECK(flock(old, LOCK_SH | LOCK_NB) == 0); /* and its server is seen by a rebuild */
	CHECK_INT(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), MR_EBUSY);
	CHECK(flock(old, LOCK_UN) == 0);
	CHECK_OK(mr_team_use_lock_alone(&world.cx, DATABASE, &lock), world.cx.err);
	CHECK(flock(old, LOCK_SH | LOCK_NB) != 0);
	mr_lock_release(&lock);
	close(old);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_rebuild_waits_for_all_users),
		TEST(one_that_does_not_wait_is_refused),
		TEST(the_lock_file_is_opened_anew),
		TEST(an_earlier_version_is_respected),
	};

	return test_main(tests, MR_LEN(tests));
}
