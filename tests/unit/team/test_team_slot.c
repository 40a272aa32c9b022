/* tests/unit/team/test_team_slot.c */
#include "team/lease/slot.h"

#include "team/error.h"
#include "team/limits.h"
#include "team/store/watch.h"
#include "test.h"
#include "world.h"

#include <pthread.h>
#include <string.h>

static void set_up(struct world *world)
{
	struct mr_team_project project;

	world_open(world);
	project = world_project(world, "/path/to/backend");
	world_agent(world, &project, "GreenCastle");
	world_agent(world, &project, "RedFox");
	project = world_project(world, "/path/to/frontend");
	world_agent(world, &project, "BlueLake");
}

static enum mr_code try_acquire(struct world *world, const char *project, const char *agent,
	const char *name, int64_t ttl_s, int64_t wait_s)
{
	struct mr_team_slot slot;

	return mr_team_slot_acquire(&world->cx, world->team, project, agent, name, ttl_s, wait_s,
		&slot);
}

static struct mr_team_slot acquire(struct world *world, const char *project, const char *agent)
{
	struct mr_team_slot slot;

	CHECK_OK(mr_team_slot_acquire(&world->cx, world->team, project, agent, "main build", 60, 0,
			 &slot),
		world->cx.err);
	return slot;
}

static void one_holder_at_a_time(void)
{
	struct mr_team_slot slot, again;
	struct world world;

	set_up(&world);
	slot = acquire(&world, "backend", "greencastle");
	CHECK_STR(slot.agent, "GreenCastle");
	CHECK_STR(slot.slot_name, "main build");
	CHECK_INT(slot.created_ts, WORLD_NOW_US);
	CHECK_INT(slot.expires_ts, WORLD_NOW_US + 60 * 1000000);
	CHECK_INT(slot.released_ts, 0);
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "main build", 60, 0),
		MR_TEAM_RESERVATION_CONFLICT,
		"GreenCastle holds the build slot \"main build\" until 2026-03-11T04:16:00Z");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "holder")->text, "GreenCastle");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "expires_ts")->text,
		"2026-03-11T04:16:00.000000Z");
	CHECK_INT(mr_value_get(mr_team_fail_data(&world.cx.err), "slot_id")->integer, slot.id);
	/* Another name, another project: no matter. */
	CHECK_OK(try_acquire(&world, "backend", "RedFox", "docs", 60, 0), world.cx.err);
	acquire(&world, "frontend", "BlueLake");
	/* Who has it renews it. */
	world_later(&world, 30);
	again = acquire(&world, "backend", "GreenCastle");
	CHECK_INT(again.id, slot.id);
	CHECK_INT(again.expires_ts, WORLD_NOW_US + 90 * 1000000);
	CHECK_INT(world_count(&world, "archive_queue WHERE kind = 'slot'"), 4);
	world_close(&world);
}

static void what_has_expired_is_released_by_who_comes_next(void)
{
	struct mr_team_slot first, second;
	struct world world;

	set_up(&world);
	first = acquire(&world, "backend", "GreenCastle");
	world_later(&world, 60);
	second = acquire(&world, "backend", "RedFox");
	CHECK(second.id != first.id);
	CHECK_INT(world_int(&world, "SELECT released_ts FROM build_slots WHERE id = 1"),
		first.expires_ts);
	CHECK_INT(world_count(&world, "build_slots WHERE released_ts IS NULL"), 1);
	CHECK_STR(world_text(&world, "SELECT subject FROM archive_queue WHERE id = 2"),
		"build_slot: expired GreenCastle main build");
	world_close(&world);
}

static void only_the_holder_renews_and_releases(void)
{
	struct mr_team_slot slot, out;
	struct world world;

	set_up(&world);
	slot = acquire(&world, "backend", "GreenCastle");
	world_check_fail(&world,
		mr_team_slot_renew(&world.cx, world.team, "backend", "RedFox", slot.id, 60, &out),
		MR_TEAM_PERMISSION_DENIED,
		"build slot 1 (\"main build\") is held by GreenCastle, not by RedFox");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "holder")->text, "GreenCastle");
	world_check_fail(&world,
		mr_team_slot_release(&world.cx, world.team, "backend", "RedFox", slot.id, &out),
		MR_TEAM_PERMISSION_DENIED, "not by RedFox");
	world_check_fail(&world,
		mr_team_slot_release(&world.cx, world.team, "frontend", "BlueLake", slot.id, &out),
		MR_TEAM_NOT_FOUND, "project path-to-frontend has no build slot 1");
	world_check_fail(&world,
		mr_team_slot_renew(&world.cx, world.team, "backend", "GreenCastle", 77, 60, &out),
		MR_TEAM_NOT_FOUND, "has no build slot 77");

	world_later(&world, 10);
	CHECK_OK(mr_team_slot_renew(&world.cx, world.team, "backend", "GreenCastle", slot.id, 600,
			 &out),
		world.cx.err);
	CHECK_INT(out.expires_ts, WORLD_NOW_US + 610 * 1000000);
	CHECK_OK(mr_team_slot_release(&world.cx, world.team, "backend", "GreenCastle", slot.id,
			 &out),
		world.cx.err);
	CHECK_INT(out.released_ts, WORLD_NOW_US + 10 * 1000000);
	world_later(&world, 10);
	CHECK_OK(mr_team_slot_release(&world.cx, world.team, "backend", "GreenCastle", slot.id,
			 &out),
		world.cx.err);
	CHECK_INT(out.released_ts, WORLD_NOW_US + 10 * 1000000);
	world_check_fail(&world,
		mr_team_slot_renew(&world.cx, world.team, "backend", "GreenCastle", slot.id, 60,
			&out),
		MR_TEAM_NOT_FOUND, "is no longer held: acquire it again");
	acquire(&world, "backend", "RedFox");
	world_close(&world);
}

static void what_makes_no_sense_is_refused(void)
{
	struct world world;
	char *longest;

	set_up(&world);
	longest = memset(mr_arena_alloc(world.cx.arena, MR_TEAM_SLOT_BYTES + 2), 'x',
		MR_TEAM_SLOT_BYTES + 1);
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "", 60, 0),
		MR_TEAM_INVALID_ARGUMENT, "slot_name is empty");
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", longest, 60, 0),
		MR_TEAM_INVALID_ARGUMENT, "slot_name is longer than 128 bytes");
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "a\nb", 60, 0),
		MR_TEAM_INVALID_ARGUMENT, "slot_name holds a control character");
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "a", 0, 0),
		MR_TEAM_INVALID_ARGUMENT, "ttl_seconds must be from 1 to 2592000");
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "a", INT64_MAX, 0),
		MR_TEAM_INVALID_ARGUMENT, "ttl_seconds must be");
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "a", 60, -1),
		MR_TEAM_INVALID_ARGUMENT, "wait_seconds must be from 0 to 3600");
	world_check_fail(&world, try_acquire(&world, "backend", "RedFox", "a", 60, INT64_MAX),
		MR_TEAM_INVALID_ARGUMENT, "wait_seconds must be");
	world_check_fail(&world, try_acquire(&world, "backend", "Nobody", "a", 60, 0),
		MR_TEAM_NOT_FOUND, "Nobody");
	world_close(&world);
}

struct rival {
	struct world *world;
	const char *agent;
	enum mr_code rc;
	struct mr_team_slot slot;
};

static void *compete(void *arg)
{
	struct rival *rival = arg;
	struct mr_ctx cx = rival->world->cx;

	cx.arena = mr_arena_new();
	rival->rc = mr_team_slot_acquire(&cx, rival->world->team, "backend", rival->agent,
		"main build", 60, 60, &rival->slot);
	mr_arena_free(cx.arena);
	return NULL;
}

static void who_waits_gets_it_when_it_is_free(void)
{
	struct rival rival;
	struct mr_team_slot held;
	struct world world;
	pthread_t thread;

	set_up(&world);
	held = acquire(&world, "backend", "GreenCastle");
	rival = (struct rival){ .world = &world, .agent = "RedFox", .rc = MR_EINTERNAL };
	CHECK(pthread_create(&thread, NULL, compete, &rival) == 0);
	CHECK_OK(mr_team_slot_release(&world.cx, world.team, "backend", "GreenCastle", held.id,
			 &held),
		world.cx.err);
	pthread_join(thread, NULL);
	CHECK_INT(rival.rc, MR_OK);
	CHECK(rival.slot.id != held.id);
	world_close(&world);
}

enum { RINGS = 500, BYTES = 64 << 10 };

struct ringer {
	struct mr_team *team;
	int rings; /* that are left */
};

/* Asked between a try and the sleep after it, so that each ring brings one try. */
static bool ring(void *arg)
{
	struct ringer *ringer = arg;

	mr_team_watch_ring(ringer->team);
	return ringer->rings-- == 0;
}

static void waiting_takes_no_memory_for_each_ring(void)
{
	struct ringer ringer = { .rings = RINGS };
	struct world world;
	size_t before;

	set_up(&world);
	acquire(&world, "backend", "GreenCastle");
	ringer.team = world.team;
	world.cx.is_over = ring;
	world.cx.is_over_arg = &ringer;
	before = mr_arena_size(world.cx.arena);
	world_check_fail(&world,
		try_acquire(&world, "backend", "RedFox", "main build", 60, MR_TEAM_SLOT_WAIT_MAX_S),
		MR_TEAM_RESERVATION_CONFLICT, "GreenCastle holds the build slot");
	CHECK_INT(ringer.rings, -1);
	CHECK(mr_arena_size(world.cx.arena) - before < BYTES);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(one_holder_at_a_time),
		TEST(what_has_expired_is_released_by_who_comes_next),
		TEST(only_the_holder_renews_and_releases),
		TEST(what_makes_no_sense_is_refused),
		TEST(who_waits_gets_it_when_it_is_free),
		TEST(waiting_takes_no_memory_for_each_ring),
	};

	return test_main(tests, MR_LEN(tests));
}
