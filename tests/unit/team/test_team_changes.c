/* tests/unit/team/test_team_changes.c */
#include "team/store/changes.h"

#include "mail.h"
#include "test.h"
#include "world.h"

#include <string.h>

static void only_what_is_new_is_looked_at(void)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct world world;
	struct mr_team_project backend;
	struct mr_team_agent green, red;
	struct mr_team_changes news;

	world_open(&world);
	backend = world_project(&world, "/path/to/backend");
	green = world_agent(&world, &backend, "GreenCastle");
	red = world_agent(&world, &backend, "RedCat");
	for (int i = 0; i < 3; i++)
		mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	mail_from(&world, "backend", "RedCat", "GreenCastle", "y");
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_changes_after(&world.cx, reader.db, 1, 2, &news), world.cx.err);
	CHECK_INT(news.len, 2);
	CHECK_INT(news.items[0].id, 2);
	CHECK_INT(news.items[0].project_id, backend.id);
	CHECK_INT(news.items[0].reached_count, 1);
	CHECK_INT(news.items[0].reached[0].agent_id, red.id);
	CHECK_INT(news.items[0].reached[0].project_id, backend.id);
	CHECK(!news.items[0].reached[0].is_blind);
	CHECK_OK(mr_team_changes_after(&world.cx, reader.db, 3, 10, &news), world.cx.err);
	CHECK_INT(news.len, 1);
	CHECK_INT(news.items[0].reached[0].agent_id, green.id);
	CHECK_OK(mr_team_changes_after(&world.cx, reader.db, 4, 10, &news), world.cx.err);
	CHECK_INT(news.len, 0);
	mr_team_read_done(&reader);
	world_close(&world);
}

static int64_t leases(struct world *world, int64_t project_id)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t number = 0;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_changes_leases(&world->cx, reader.db, project_id, &number), world->cx.err);
	return number;
}

static int64_t members(struct world *world)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t number = 0;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_changes_members(&world->cx, reader.db, &number), world->cx.err);
	return number;
}

static void numbers_change_with_what_they_stand_for(void)
{
	struct world world;
	struct mr_team_project backend, frontend;
	int64_t before, other, people;

	world_open(&world);
	people = members(&world);
	backend = world_project(&world, "/path/to/backend");
	frontend = world_project(&world, "/path/to/frontend");
	CHECK(members(&world) != people);
	people = members(&world);
	world_agent(&world, &backend, "GreenCastle");
	CHECK(members(&world) != people);
	people = members(&world);
	before = leases(&world, backend.id);
	other = leases(&world, frontend.id);
	world_exec(&world,
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, created_ts,"
		" expires_ts) VALUES (1, 1, 'a', 5, 100)");
	CHECK(leases(&world, backend.id) != before);
	before = leases(&world, backend.id);
	world_exec(&world, "UPDATE file_reservations SET expires_ts = 200");
	CHECK(leases(&world, backend.id) != before);
	before = leases(&world, backend.id);
	world_exec(&world, "UPDATE file_reservations SET released_ts = 150");
	CHECK(leases(&world, backend.id) != before);
	CHECK_INT(leases(&world, frontend.id), other);
	CHECK_INT(members(&world), people);
	world_exec(&world, "UPDATE agents SET is_active = 0");
	CHECK(members(&world) != people);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(only_what_is_new_is_looked_at),
		TEST(numbers_change_with_what_they_stand_for),
	};

	return test_main(tests, MR_LEN(tests));
}
