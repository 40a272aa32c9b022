/* tests/unit/team/test_team_reservation_race.c - leases are compared outside the change that grants
 * them, and nobody who asks at the same time is missed. */
#include "files.h"
#include "team/error.h"
#include "team/lease/reservation.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG "points"

struct scene {
	struct world world;
	struct mr_team_project project;
	const char *meanwhile; /* what BlueLake asks for before GreenCastle's change runs */
	size_t times;          /* how often it still does */
};

static void set_up(struct scene *s)
{
	*s = (struct scene){ 0 };
	/* The points of base/crash.h that are passed; before there are threads. */
	setenv("MAILROOM_CRASH_LOG", LOG, 1);
	world_open(&s->world);
	s->project = world_project(&s->world, "/path/to/backend");
	world_agent(&s->world, &s->project, "GreenCastle");
	world_agent(&s->world, &s->project, "BlueLake");
}

/* How often a point was passed; -1 in a build without them. */
static int passed(const char *name)
{
	FILE *log = fopen(LOG, "r");
	char line[160];
	int count = 0;

	if (!log)
		return -1;
	while (fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		count += strcmp(line, name) == 0;
	}
	fclose(log);
	return count;
}

/* In an ordinary build there are no points, and nothing can be said about them. */
static void check_passed(const char *name, int want)
{
	int count = passed(name);

	if (count >= 0)
		CHECK_INT(count, want);
}

static enum mr_code ask(struct scene *s, struct mr_ctx *cx, const char *agent, const char *path,
	struct mr_team_reserved *out)
{
	const char *paths[] = { path };
	struct mr_team_reserve request = { .project_key = "backend",
		.agent_name = agent,
		.paths = { paths, 1 },
		.ttl_s = 3600,
		.exclusive = true,
		.reason = "work" };

	return mr_team_reserve(cx, s->world.team, &request, out);
}

static struct mr_team_reserved take(struct scene *s, const char *agent, const char *path)
{
	struct mr_team_reserved out;

	CHECK_OK(ask(s, &s->world.cx, agent, path, &out), s->world.cx.err);
	return out;
}

/* BlueLake's request is granted after GreenCastle has compared, and before its change. */
static void come_between(void *arg, bool begins)
{
	struct scene *s = arg;
	struct mr_ctx *cx = &s->world.cx;

	if (!begins || s->times == 0)
		return;
	s->times--;
	cx->pause = NULL;
	CHECK_INT(take(s, "BlueLake", s->meanwhile).granted.len, 1);
	cx->pause = come_between;
}

static struct mr_team_reserved take_while(struct scene *s, const char *path, const char *meanwhile,
	size_t times)
{
	struct mr_team_reserved out;

	s->meanwhile = meanwhile;
	s->times = times;
	s->world.cx.pause = come_between;
	s->world.cx.pause_arg = s;
	out = take(s, "GreenCastle", path);
	s->world.cx.pause = NULL;
	CHECK_INT(s->times, 0);
	return out;
}

static void the_writer_compares_nothing_that_was_compared_before(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	take(&s, "BlueLake", "src/*.c");
	take(&s, "BlueLake", "src/**/*.h");
	take(&s, "BlueLake", "docs/**");
	got = take(&s, "GreenCastle", "src/a*");
	CHECK_INT(got.conflicts.len, 1);
	CHECK_INT(got.conflicts.items[0].holders.len, 2);
	CHECK_STR(got.conflicts.items[0].holders.items[0].path_pattern, "src/*.c");
	CHECK_STR(got.conflicts.items[0].holders.items[1].path_pattern, "src/**/*.h");
	check_passed("reservation.compared", 0);
	world_close(&s.world);
}

static void who_comes_between_is_seen(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	take(&s, "BlueLake", "src/b/*");
	got = take_while(&s, "src/**", "src/a/*", 1);
	CHECK_INT(got.granted.len, 1);
	CHECK_INT(got.conflicts.len, 1);
	CHECK_INT(got.conflicts.items[0].holders.len, 2);
	CHECK_STR(got.conflicts.items[0].holders.items[0].path_pattern, "src/b/*");
	CHECK_STR(got.conflicts.items[0].holders.items[1].path_pattern, "src/a/*");
	check_passed("reservation.compared", 1);
	/* And who comes between elsewhere is in nobody's way. */
	CHECK_INT(take_while(&s, "docs/x", "src/c/*", 1).conflicts.len, 0);
	check_passed("reservation.compared", 1);
	world_close(&s.world);
}

static void release_between(void *arg, bool begins)
{
	struct scene *s = arg;
	struct mr_ctx *cx = &s->world.cx;
	struct mr_team_lease_filter all = { .project_key = "backend", .agent_name = "BlueLake" };
	int64_t released, when;

	if (!begins)
		return;
	cx->pause = NULL;
	CHECK_OK(mr_team_release(cx, s->world.team, &all, &released, &when), cx->err);
	CHECK_INT(released, 1);
}

static void who_goes_between_is_not_in_the_way(void)
{
	struct scene s;

	set_up(&s);
	take(&s, "BlueLake", "src/a");
	s.world.cx.pause = release_between;
	s.world.cx.pause_arg = &s;
	CHECK_INT(take(&s, "GreenCastle", "src/**").conflicts.len, 0);
	CHECK_INT(world_count(&s.world, "file_reservations WHERE released_ts IS NULL"), 1);
	world_close(&s.world);
}

/* A pattern of 64 alternatives with many stars: comparing two of them takes longer than a change
 * may take. Those that end alike overlap. */
#define COSTLY "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x"

static void what_is_costly_goes_outside_first(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	got = take_while(&s, COSTLY "a", COSTLY "b", 1);
	CHECK_INT(got.conflicts.len, 0);
	got = take_while(&s, COSTLY "b", COSTLY "b", 1);
	CHECK_INT(got.conflicts.len, 1);
	/* Both of BlueLake's; GreenCastle's own is in nobody's way. */
	CHECK_INT(got.conflicts.items[0].holders.len, 2);
	CHECK_INT(got.granted.len, 1);
	CHECK_INT(world_count(&s.world, "file_reservations WHERE agent_id = 1"), 2);
	/* Each of the two gave up once; the second time nothing was left to compare. */
	check_passed("reservation.compared", 2);
	world_close(&s.world);
}

/* Somebody always comes between: the last time it is compared inside, whatever it costs. */
static void nobody_is_put_off_for_ever(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	got = take_while(&s, COSTLY "a", COSTLY "a", MR_TEAM_OVERLAP_TRIES);
	CHECK_INT(got.conflicts.len, 1);
	CHECK_INT(got.conflicts.items[0].holders.len, MR_TEAM_OVERLAP_TRIES);
	CHECK_INT(got.granted.len, 1);
	CHECK_INT(world_count(&s.world, "file_reservations WHERE agent_id = 1"), 1);
	check_passed("reservation.compared", MR_TEAM_OVERLAP_TRIES);
	world_close(&s.world);
}

static void replace_between(void *arg, bool begins)
{
	struct scene *s = arg;
	struct mr_ctx *cx = &s->world.cx;
	struct mr_team_registration again = { .project_key = "/path/to/backend",
		.name = "GreenCastle",
		.program = "codex",
		.model = "gpt" };
	struct mr_team_deletion gone;
	struct mr_team_project project;
	struct mr_team_agent agent;

	if (!begins)
		return;
	cx->pause = NULL;
	CHECK_OK(mr_team_agent_delete(cx, s->world.team, "backend", "GreenCastle", true, &gone),
		cx->err);
	CHECK_OK(mr_team_agent_register(cx, s->world.team, &again, &project, &agent), cx->err);
}

static void who_was_replaced_reserves_nothing(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	s.world.cx.pause = replace_between;
	s.world.cx.pause_arg = &s;
	world_check_fail(&s.world, ask(&s, &s.world.cx, "GreenCastle", "src/**", &got),
		MR_TEAM_NOT_FOUND,
		"GreenCastle was deleted in the project path-to-backend while it asked for a "
		"lease");
	CHECK_INT(world_count(&s.world, "file_reservations"), 0);
	world_close(&s.world);
}

/* ---- many at once ---- */

enum { CROWD = 8, ROUNDS = 6 };

struct member {
	struct scene *scene;
	pthread_t thread;
	char name[32];
	struct {
		int64_t id;
		size_t holders;
	} got[ROUNDS];
	enum mr_code rc;
	struct mr_err err;
};

static void *reserve_some(void *arg)
{
	struct member *member = arg;
	struct mr_rand rand;
	struct mr_ctx cx = { .arena = mr_arena_new(),
		.clock = member->scene->world.cx.clock,
		.rand = &rand };

	mr_rand_seeded_init(&rand, 7);
	for (size_t i = 0; i < ROUNDS && !member->rc; i++) {
		struct mr_team_reserved out;

		member->rc = ask(member->scene, &cx, member->name,
			mr_arena_printf(cx.arena, "src/%zu/**/*.c", i), &out);
		if (member->rc)
			break;
		member->got[i].id = out.granted.items[0].id;
		member->got[i].holders = out.conflicts.len ? out.conflicts.items[0].holders.len : 0;
	}
	member->err = cx.err;
	mr_arena_free(cx.arena);
	return NULL;
}

/* All ask for the same in each round: each must have seen exactly those who were granted before. */
static void of_a_crowd_each_sees_all_before_it(void)
{
	static struct member crowd[CROWD];
	struct scene s;

	set_up(&s);
	for (size_t i = 0; i < CROWD; i++) {
		crowd[i].scene = &s;
		snprintf(crowd[i].name, sizeof(crowd[i].name), "Green%zu", i);
		world_agent(&s.world, &s.project, crowd[i].name);
	}
	for (size_t i = 0; i < CROWD; i++)
		CHECK_INT(pthread_create(&crowd[i].thread, NULL, reserve_some, &crowd[i]), 0);
	for (size_t i = 0; i < CROWD; i++)
		pthread_join(crowd[i].thread, NULL);
	for (size_t i = 0; i < CROWD; i++)
		CHECK_OK(crowd[i].rc, crowd[i].err);
	for (size_t round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < CROWD; i++) {
			size_t before = 0;

			for (size_t k = 0; k < CROWD; k++)
				before += crowd[k].got[round].id < crowd[i].got[round].id;
			CHECK_INT(crowd[i].got[round].holders, before);
		}
	}
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_writer_compares_nothing_that_was_compared_before),
		TEST(who_comes_between_is_seen),
		TEST(who_goes_between_is_not_in_the_way),
		TEST(what_is_costly_goes_outside_first),
		TEST(nobody_is_put_off_for_ever),
		TEST(who_was_replaced_reserves_nothing),
		TEST(of_a_crowd_each_sees_all_before_it),
	};

	return test_main(tests, MR_LEN(tests));
}
