/* tests/unit/team/test_team_wait.c */
#include "team/store/wait.h"

#include "base/attr.h"
#include "team/store/watch.h"
#include "test.h"
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RINGS = 3000 };

/* A waiter that counts. */
struct counting {
	struct world *world;
	int looks, freed, enough;
	int asked, over_after; /* how often is_over was asked, and when it says yes */
	bool rings;            /* it rings whenever it is asked */
	enum mr_code rc;
};

static void count_freed(void *arg)
{
	++*(int *)arg;
}

static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct counting *c = arg;

	(void)team;
	/* What the look before allocated has gone, before this one begins. */
	CHECK_INT(c->freed, c->looks);
	c->looks++;
	mr_arena_defer(cx->arena, count_freed, &c->freed);
	mr_arena_alloc(cx->arena, 100000);
	*found = c->looks == c->enough;
	return c->rc ? mr_err_set(&cx->err, c->rc, "cannot look") : MR_OK;
}

static bool is_over(void *arg)
{
	struct counting *c = arg;

	if (c->rings)
		mr_team_watch_ring(c->world->team);
	return ++c->asked == c->over_after;
}

static enum mr_code wait_so(struct world *world, struct counting *c, struct mr_team_wait *wait,
	bool *found)
{
	c->world = world;
	world->cx.is_over = is_over;
	world->cx.is_over_arg = c;
	wait->look = look;
	wait->arg = c;
	return mr_team_wait(&world->cx, world->team, wait, found);
}

static void many_rings_take_the_memory_of_one(void)
{
	struct counting c = { .rings = true, .over_after = RINGS };
	struct mr_team_wait wait = { .timeout_ms = -1 };
	struct world world;
	size_t before;
	bool found = true;

	world_open(&world);
	before = mr_arena_size(world.cx.arena);
	CHECK_OK(wait_so(&world, &c, &wait, &found), world.cx.err);
	CHECK(!found);
	CHECK_INT(c.looks, RINGS);
	CHECK_INT(c.freed, RINGS - 1);
	CHECK(mr_arena_size(world.cx.arena) - before < 16384);
	world_close(&world);
	CHECK_INT(c.freed, RINGS);
}

/* What was found lives as long as the caller's arena. */
static void what_is_found_ends_it(void)
{
	struct counting c = { .rings = true, .enough = 3 };
	struct mr_team_wait wait = { .timeout_ms = -1 };
	struct world world;
	bool found = false;

	world_open(&world);
	CHECK_OK(wait_so(&world, &c, &wait, &found), world.cx.err);
	CHECK(found);
	CHECK_INT(c.looks, 3);
	CHECK_INT(c.asked, 2);
	CHECK_INT(c.freed, 2);
	world_close(&world);
}

static void no_time_is_one_look(void)
{
	struct counting c = { 0 };
	struct mr_team_wait wait = { .timeout_ms = 0 };
	struct world world;
	bool found = true;

	world_open(&world);
	CHECK_OK(wait_so(&world, &c, &wait, &found), world.cx.err);
	CHECK(!found);
	CHECK_INT(c.looks, 1);
	CHECK_INT(c.asked, 0);
	world_close(&world);
}

/* The machine's clock ends it, though the world's stands still. */
static void time_ends_it(void)
{
	struct counting c = { 0 };
	struct mr_team_wait wait = { .timeout_ms = 20 };
	struct world world;
	bool found = true;

	world_open(&world);
	CHECK_OK(wait_so(&world, &c, &wait, &found), world.cx.err);
	CHECK(!found);
	/* After the last look nobody was asked: it was late already. */
	CHECK_INT(c.asked, c.looks - 1);
	world_close(&world);
}

static void a_look_says_when_the_next_is_due(void)
{
	struct counting c = { .enough = 1 };
	struct mr_team_wait wait = { .timeout_ms = 0, .again_ms = 7 };
	struct world world;
	bool found;

	world_open(&world);
	CHECK_OK(wait_so(&world, &c, &wait, &found), world.cx.err);
	/* It is asked anew each time. */
	CHECK_INT(wait.again_ms, 0);
	world_close(&world);
}

static void a_look_that_fails_ends_it_or_is_logged(void)
{
	struct counting c = { .rings = true, .rc = MR_EIO, .over_after = 5 };
	struct mr_team_wait wait = { .timeout_ms = -1 };
	struct world world;
	bool found = true;

	world_open(&world);
	CHECK_INT(wait_so(&world, &c, &wait, &found), MR_EIO);
	CHECK_STR(world.cx.err.msg, "cannot look");
	CHECK_INT(c.looks, 1);
	c = (struct counting){ .rings = true, .rc = MR_EIO, .over_after = 5 };
	wait.failed_event = "look_failed";
	CHECK_OK(wait_so(&world, &c, &wait, &found), world.cx.err);
	CHECK(!found);
	CHECK_INT(c.looks, 5);
	world_close(&world);
}

struct other {
	struct world *world;
	atomic_bool changed;
};

static enum mr_code look_at_other(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct other *other = arg;

	(void)cx;
	(void)team;
	*found = atomic_load(&other->changed);
	return MR_OK;
}

static void *change(void *arg)
{
	struct other *other = arg;

	atomic_store(&other->changed, true);
	mr_team_watch_ring(other->world->team);
	return NULL;
}

/* Without end: only the other thread's ring can end it. */
static void another_thread_wakes(void)
{
	struct other other = { 0 };
	struct mr_team_wait wait = { .look = look_at_other, .arg = &other, .timeout_ms = -1 };
	struct world world;
	pthread_t thread;
	bool found = false;

	world_open(&world);
	other.world = &world;
	CHECK_INT(pthread_create(&thread, NULL, change, &other), 0);
	CHECK_OK(mr_team_wait(&world.cx, world.team, &wait, &found), world.cx.err);
	CHECK(found);
	pthread_join(thread, NULL);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(many_rings_take_the_memory_of_one),
		TEST(what_is_found_ends_it),
		TEST(no_time_is_one_look),
		TEST(time_ends_it),
		TEST(a_look_says_when_the_next_is_due),
		TEST(a_look_that_fails_ends_it_or_is_logged),
		TEST(another_thread_wakes),
	};

	return test_main(tests, MR_LEN(tests));
}
