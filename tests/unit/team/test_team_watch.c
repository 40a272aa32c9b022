/* tests/unit/team/test_team_watch.c */
#include "team/store/watch.h"

#include "mail.h"
#include "team/open.h"
#include "test.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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

enum { WAITERS = 300 };

struct waiter {
	struct mr_team *team;
	const struct mr_clock *clock;
	pthread_t thread;
	atomic_uint *ready;
	bool changed;
};

static void *wait_there(void *arg)
{
	struct waiter *w = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = w->clock };
	struct mr_team_watch *watch = NULL;

	CHECK_OK(mr_team_watch_open(&cx, w->team, &watch), cx.err);
	atomic_fetch_add(w->ready, 1);
	CHECK_OK(mr_team_watch_wait(&cx, watch, 60000, &w->changed), cx.err);
	mr_team_watch_close(&watch);
	return NULL;
}

/* More than the kernel lets one user watch by default, all woken by one change. */
static void many_wait_at_the_price_of_one(void)
{
	static struct waiter waiters[WAITERS];
	struct world world;
	atomic_uint ready = 0;

	set_scene(&world);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i] = (struct waiter){ .team = world.team,
			.clock = world.cx.clock,
			.ready = &ready };
		CHECK(pthread_create(&waiters[i].thread, NULL, wait_there, &waiters[i]) == 0);
	}
	while (ready < WAITERS)
		sched_yield();
	mr_team_watch_ring(world.team);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(waiters[i].thread, NULL);
		CHECK(waiters[i].changed);
	}
	world_close(&world);
}

/* The one who listens leaves first: somebody else takes his place. */
static void a_listener_that_leaves_is_replaced(void)
{
	struct world world;
	struct mr_team_watch *first = NULL, *second = NULL;
	atomic_uint ready = 0;
	struct waiter waiter;

	set_scene(&world);
	CHECK_OK(mr_team_watch_open(&world.cx, world.team, &first), world.cx.err);
	CHECK_OK(mr_team_watch_open(&world.cx, world.team, &second), world.cx.err);
	waiter = (struct waiter){ .team = world.team, .clock = world.cx.clock, .ready = &ready };
	CHECK(!waited(&world, first, 20));
	CHECK(pthread_create(&waiter.thread, NULL, wait_there, &waiter) == 0);
	while (!ready)
		sched_yield();
	CHECK(!waited(&world, first, 20));
	mr_team_watch_close(&first);
	mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	pthread_join(waiter.thread, NULL);
	CHECK(waiter.changed);
	/* What another heard for him is not lost. */
	CHECK(waited(&world, second, 0));
	CHECK(!waited(&world, second, 0));
	mr_team_watch_close(&second);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_change_wakes),
		TEST(another_process_wakes),
		TEST(many_wait_at_the_price_of_one),
		TEST(a_listener_that_leaves_is_replaced),
	};

	return test_main(tests, MR_LEN(tests));
}
