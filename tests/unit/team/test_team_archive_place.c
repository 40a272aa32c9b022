/*
 * tests/unit/team/test_team_archive_place.c - which storage root keeps the archive; also covers
 * team/archive/archive_place_sql.c, team/archive/archive_take.c, team/archive/rebuild_refill.c,
 * team/attachment_sql.c
 */
#include "team/archive/archive_place.h"

#include "base/fs.h"
#include "database.h"
#include "team/archive/archive.h"
#include "team/archive/archive_take.h"
#include "team/attachment_sql.h"
#include "team/open.h"
#include "team/store/duty.h"
#include "test.h"
#include "world.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A second machine: the same database, and a storage root of its own. */
static struct mr_team *open_other(struct world *world)
{
	struct mr_team_config config = world->config;
	struct mr_team *team = NULL;

	config.storage_root = "other";
	CHECK_OK(mr_team_open(&world->cx, &config, &team), world->cx.err);
	return team;
}

static struct mr_team_place find(struct world *world, struct mr_team *team)
{
	struct mr_team_place place;

	CHECK_OK(mr_team_place_find(&world->cx, team, &place), world->cx.err);
	return place;
}

static bool take(struct world *world, struct mr_team *team, bool by_force)
{
	bool here = false;

	CHECK_OK(mr_team_place_take(&world->cx, team, by_force, &here), world->cx.err);
	return here;
}

static void drain(struct world *world, struct mr_team *team)
{
	CHECK_OK(mr_team_archive_drain(&world->cx, team, 5000, true), world->cx.err);
}

static void queue_profile(struct world *world)
{
	world_exec(world,
		"INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, tool,"
		" data, created_ts) SELECT project_id, 'profile', id, name, name, 'agent: profile',"
		" '', '', 1 FROM agents");
}

static void a_file_has_its_archive_beside_it(void)
{
	struct world world;
	struct mr_team_place place;

	world_open(&world);
	place = find(&world, world.team);
	CHECK(place.is_here && place.is_whole);
	CHECK(take(&world, world.team, true));
	CHECK(mr_team_duty_is_mine(world.team));
	if (!world.config.database)
		CHECK_INT(world_count(&world, "archive_places"), 0);
	world_close(&world);
}

static void one_of_two_roots_keeps_it(void)
{
	struct world world;
	struct mr_team *other;
	struct mr_team_project project;

	world_open(&world);
	if (!world.config.database) {
		world_close(&world);
		return;
	}
	project = world_project(&world, "/srv/x");
	world_agent(&world, &project, "GreenCastle");
	queue_profile(&world);
	CHECK(take(&world, world.team, false));
	/* All that there ever was is still queued: nothing is queued a second time. */
	CHECK_INT(world_count(&world, "archive_queue"), 1);
	drain(&world, world.team);
	CHECK_INT(world_count(&world, "archive_queue"), 0);

	other = open_other(&world);
	CHECK(!find(&world, other).is_here);
	CHECK(mr_str_ends(find(&world, other).name, ":root"));
	CHECK(!take(&world, other, false));
	queue_profile(&world);
	drain(&world, other);
	CHECK_INT(world_count(&world, "archive_queue"), 1);

	CHECK(take(&world, other, true));
	CHECK(find(&world, other).is_here && find(&world, other).is_whole);
	CHECK(!find(&world, world.team).is_here);
	drain(&world, other);
	CHECK_INT(world_count(&world, "archive_queue"), 0);
	CHECK(mr_team_archive_has_commits(&world.cx, "other", project.slug));
	mr_team_close(other, 0);
	world_close(&world);
}

static enum mr_code check_place(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	return mr_team_place_check(cx, arg, db);
}

static void who_was_replaced_takes_no_rows(void)
{
	struct world world;
	struct mr_team *other;

	world_open(&world);
	if (!world.config.database) {
		world_close(&world);
		return;
	}
	other = open_other(&world);
	CHECK(take(&world, world.team, true) && take(&world, other, true));
	CHECK(mr_team_write(&world.cx, world.team, check_place, NULL, world.team) == MR_EBUSY);
	CHECK(strstr(world.cx.err.msg, ":other now"));
	CHECK_OK(mr_team_write(&world.cx, other, check_place, NULL, other), world.cx.err);
	mr_team_close(other, 0);
	world_close(&world);
}

static void what_was_removed_is_removed_there_too(void)
{
	struct world world;
	struct mr_team *other;
	struct mr_team_project project;

	world_open(&world);
	if (!world.config.database) {
		world_close(&world);
		return;
	}
	other = open_other(&world);
	project = world_project(&world, "/srv/x");
	world_agent(&world, &project, "GreenCastle");
	queue_profile(&world);
	CHECK(take(&world, other, true));
	drain(&world, other);
	CHECK(mr_fs_exists(AT_FDCWD,
		mr_arena_printf(world.cx.arena, "other/projects/%s/agents/GreenCastle/profile.json",
			project.slug)));
	CHECK(take(&world, world.team, true));
	drain(&world, world.team);
	world_exec(&world, "DELETE FROM agents");
	world_exec(&world,
		"INSERT INTO archive_removals (project_id, kind, ref, name, agent, subject, tool,"
		" data, created_ts) SELECT id, 'removed', 0, '', '', 'agent: delete', '',"
		" '[\"agents/GreenCastle/profile.json\"]', 1 FROM projects");
	CHECK(take(&world, other, true));
	drain(&world, other);
	CHECK(!mr_fs_exists(AT_FDCWD,
		mr_arena_printf(world.cx.arena, "other/projects/%s/agents/GreenCastle/profile.json",
			project.slug)));
	mr_team_close(other, 0);
	world_close(&world);
}

static void a_spoiled_id_is_said(void)
{
	struct world world;
	struct mr_team_place place;

	world_open(&world);
	if (!world.config.database) {
		world_close(&world);
		return;
	}
	CHECK_OK(mr_fs_write(AT_FDCWD, "root/archive.id", mr_bytes_text("what?\n"), MR_FS_REPLACE,
			 0600, &world.cx.err),
		world.cx.err);
	CHECK(mr_team_place_find(&world.cx, world.team, &place) == MR_EFORMAT);
	CHECK_STR(world.cx.err.msg,
		"root/archive.id should hold 32 hexadecimal digits: delete it, and the archive "
		"here is compared with the whole database");
	world_close(&world);
}

static void attachments_are_for_all_machines(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_bytes got;
	int dir = -1;

	world_open(&world);
	project = world_project(&world, "/srv/x");
	CHECK_OK(mr_team_attachment_keep(&world.cx, world.team, project.id, "attachments/a/b.txt",
			 mr_bytes_of("a\0b", 3)),
		world.cx.err);
	CHECK_INT(world_count(&world, "attachment_files"), world.config.database != NULL);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "root", &dir, &world.cx.err), world.cx.err);
	mr_team_attachment_fetch(&world.cx, world.team, project.id, dir, "attachments/a/b.txt");
	mr_team_attachment_fetch(&world.cx, world.team, project.id, dir, "attachments/a/c.txt");
	CHECK(!mr_fs_exists(dir, "attachments/a/c.txt"));
	if (world.config.database) {
		CHECK_OK(mr_fs_read(world.cx.arena, dir, "attachments/a/b.txt", 100, &got,
				 &world.cx.err),
			world.cx.err);
		CHECK_INT(got.len, 3);
		CHECK(memcmp(got.data, "a\0b", 3) == 0);
	}
	mr_fs_closep(&dir);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_file_has_its_archive_beside_it),
		TEST(one_of_two_roots_keeps_it),
		TEST(who_was_replaced_takes_no_rows),
		TEST(what_was_removed_is_removed_there_too),
		TEST(a_spoiled_id_is_said),
		TEST(attachments_are_for_all_machines),
	};

	return test_main(tests, MR_LEN(tests));
}
