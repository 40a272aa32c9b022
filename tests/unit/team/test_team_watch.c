/* tests/unit/team/test_team_watch.c */
#include "team/watch.h"

#include "mail.h"
#include "test.h"
#include "world.h"

#include <sys/wait.h>
#include <unistd.h>

static bool waited(struct world *world, struct mr_team_watch *watch, int timeout_ms)
{
	bool changed = false;

	CHECK_OK(mr_team_watch_wait(&world->cx, watch, timeout_ms, &changed), world->cx.err);
	return changed;
}

static void set_scene(struct world *world)
{
	struct mr_team_project backend;

	world_open(world);
	backend = world_project(world, "/path/to/backend");
	world_agent(world, &backend, "GreenCastle");
	world_agent(world, &backend, "RedCat");
}

static void a_change_wakes(void)
{
	struct world world;
	struct mr_team_watch *watch = NULL;

	set_scene(&world);
	CHECK_OK(mr_team_watch_open(&world.cx, world.team, &watch), world.cx.err);
	CHECK(!waited(&world, watch, 0));
	mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	CHECK(waited(&world, watch, 10000));
	CHECK(!waited(&world, watch, 0));
	mail_inbox(&world, "backend", "RedCat"); /* looking is no change */
	CHECK(!waited(&world, watch, 0));
	mr_team_watch_close(&watch);
	world_close(&world);
}

/* Whoever is woken sees what he was woken for: the bell rings after the change is there. */
static void another_process_wakes(void)
{
	struct world world;
	struct mr_team_watch *watch = NULL;
	pid_t child;
	int status = 1;

	set_scene(&world);
	mr_team_closep(&world.team);
	child = fork();
	if (child == 0) {
		CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
		CHECK_OK(mr_team_watch_open(&world.cx, world.team, &watch), world.cx.err);
		while (mail_inbox(&world, "backend", "RedCat").len == 0)
			waited(&world, watch, -1);
		mr_team_watch_close(&watch);
		world_close(&world);
		_exit(0);
	}
	CHECK(child > 0);
	CHECK_OK(mr_team_open(&world.cx, &world.config, &world.team), world.cx.err);
	mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_change_wakes),
		TEST(another_process_wakes),
	};

	return test_main(tests, MR_LEN(tests));
}
