/* tests/unit/team/test_team_gauge.c */
#include "team/gauge.h"

#include "test.h"
#include "world.h"

static void put_message(struct world *world, int project, const char *uid)
{
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"INSERT INTO messages (uid, project_id, sender_id, subject, created_ts,"
			" body_md) VALUES ('%s', %d, 1, 's', 1, 'b')",
			uid, project));
}

static void messages_are_counted_once(void)
{
	struct mr_team_tallies tallies;
	struct mr_team_project project;
	struct world world;
	int64_t seen = 0;

	world_open(&world);
	project = world_project(&world, "/backend");
	world_project(&world, "/frontend");
	world_agent(&world, &project, "BlueLake");
	CHECK_OK(mr_team_tally(&world.cx, world.team, &seen, &tallies), world.cx.err);
	CHECK_INT(tallies.len, 0);
	put_message(&world, 1, "a");
	put_message(&world, 2, "b");
	put_message(&world, 2, "c");
	CHECK_OK(mr_team_tally(&world.cx, world.team, &seen, &tallies), world.cx.err);
	CHECK_INT(tallies.len, 2);
	CHECK_STR(tallies.items[1].slug, "frontend");
	CHECK_INT(tallies.items[1].messages, 2);
	CHECK_INT(seen, 3);
	put_message(&world, 1, "d");
	CHECK_OK(mr_team_tally(&world.cx, world.team, &seen, &tallies), world.cx.err);
	CHECK_INT(tallies.len, 1);
	CHECK_STR(tallies.items[0].slug, "backend");
	CHECK_INT(tallies.items[0].messages, 1);
	world_close(&world);
}

static void only_leases_that_hold_are_counted(void)
{
	struct mr_team_project project;
	struct mr_team_gauges gauges;
	struct world world;

	world_open(&world);
	project = world_project(&world, "/backend");
	world_agent(&world, &project, "BlueLake");
	world_exec(&world,
		mr_arena_printf(world.cx.arena,
			"INSERT INTO file_reservations (project_id, agent_id, path_pattern,"
			" created_ts, expires_ts, released_ts) VALUES (1, 1, 'a', 1, %lld, NULL),"
			" (1, 1, 'b', 1, %lld, 1), (1, 1, 'c', 1, %lld, NULL)",
			(long long)WORLD_NOW_US + 60000000, (long long)WORLD_NOW_US + 60000000,
			(long long)WORLD_NOW_US));
	CHECK_OK(mr_team_gauges(&world.cx, world.team, &gauges), world.cx.err);
	CHECK_INT(gauges.reservations, 1);
	CHECK_INT(gauges.archive_pending, 0);
	CHECK_INT(gauges.busy, 0);
	world_later(&world, 61);
	CHECK_OK(mr_team_gauges(&world.cx, world.team, &gauges), world.cx.err);
	CHECK_INT(gauges.reservations, 0);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(messages_are_counted_once),
		TEST(only_leases_that_hold_are_counted),
	};

	return test_main(tests, MR_LEN(tests));
}
