/* tests/unit/team/test_team_probe.c */
#include "team/probe.h"

#include "files.h"
#include "test.h"
#include "world.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mr_team_health probe(struct world *world)
{
	struct mr_team_health health;

	mr_team_probe(&world->cx, world->team, &health);
	return health;
}

static void a_good_place_is_well(void)
{
	struct mr_team_health health;
	struct world world;

	world_open(&world);
	world_project(&world, "/backend");
	health = probe(&world);
	CHECK_STR(mr_team_status_name(health.status), "ok");
	CHECK_INT(health.problems.len, 0);
	CHECK_INT(health.projects, 1);
	CHECK_INT(health.archive_pending, 0);
	world_close(&world);
}

static void an_archive_that_is_late_is_told(void)
{
	struct mr_team_health health;
	struct world world;

	world_open(&world);
	world_project(&world, "/backend");
	world_exec(&world,
		mr_arena_printf(world.cx.arena,
			"INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject,"
			" tool, created_ts) VALUES (1, 'profile', 1, '', '', 's', '', %lld)",
			(long long)WORLD_NOW_US));
	world_later(&world, 300);
	CHECK_STR(mr_team_status_name(probe(&world).status), "ok");
	world_later(&world, 1);
	health = probe(&world);
	CHECK_STR(mr_team_status_name(health.status), "degraded");
	CHECK_INT(health.archive_pending, 1);
	CHECK_STR(health.problems.items[0],
		"the archive is 301 s behind; `mailroom team check` says why");
	world_close(&world);
}

static void an_archive_that_is_gone_is_told(void)
{
	struct mr_team_health health;
	struct world world;

	world_open(&world);
	CHECK_INT(rmdir("root/projects"), 0);
	health = probe(&world);
	CHECK_STR(mr_team_status_name(health.status), "degraded");
	CHECK(strstr(health.problems.items[0], "the archive cannot be written: root/projects"));
	world_close(&world);
}

static void a_database_that_cannot_be_read_is_an_error(void)
{
	struct mr_team_health health;
	struct world world;

	world_open(&world);
	world_exec(&world, "ALTER TABLE archive_queue RENAME TO gone");
	health = probe(&world);
	CHECK_STR(mr_team_status_name(health.status), "error");
	CHECK(strstr(health.problems.items[0], "archive_queue"));
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_good_place_is_well),
		TEST(an_archive_that_is_late_is_told),
		TEST(an_archive_that_is_gone_is_told),
		TEST(a_database_that_cannot_be_read_is_an_error),
	};

	return test_main(tests, MR_LEN(tests));
}
