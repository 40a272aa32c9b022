/* tests/unit/team/test_team_pulse.c */
#include "team/store/pulse.h"

#include "files.h"
#include "test.h"
#include "world.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_MS = 60000 };

#define DATABASE "root/storage.sqlite3"

static int64_t log_bytes(void)
{
	struct stat st;

	CHECK_INT(stat(DATABASE "-wal", &st), 0);
	return st.st_size;
}

static enum mr_code beat(struct world *world, int max_age_ms)
{
	return mr_team_pulse(&world->cx, world->team, max_age_ms, LONG_MS);
}

static void writes_to_the_disk(void)
{
	struct world world;
	int64_t before;

	world_open(&world);
	before = log_bytes();
	CHECK_OK(beat(&world, 0), world.cx.err);
	CHECK(log_bytes() > before);
	world_close(&world);
}

/* Whoever asks often is told what is known already. */
static void writes_once_for_many(void)
{
	struct world world;
	int64_t before;

	world_open(&world);
	CHECK_OK(beat(&world, LONG_MS), world.cx.err);
	before = log_bytes();
	for (int i = 0; i < 100; i++)
		CHECK_OK(beat(&world, LONG_MS), world.cx.err);
	CHECK_INT(log_bytes(), before);
	CHECK_OK(beat(&world, 0), world.cx.err);
	CHECK(log_bytes() > before);
	world_close(&world);
}

/* A file that may not grow is like a full disk, and needs no root. */
static void says_that_nothing_can_be_written_until_it_can(void)
{
	struct rlimit before, small;
	struct world world;

	signal(SIGXFSZ, SIG_IGN);
	world_open(&world);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = (rlim_t)log_bytes();
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
	CHECK_INT(beat(&world, 0), MR_EIO);
	CHECK(strstr(world.cx.err.msg, "database root/storage.sqlite3: "));
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	CHECK_OK(beat(&world, 0), world.cx.err);
	world_close(&world);
}

static void says_that_the_database_is_gone_until_it_is_back(void)
{
	struct world world;
	enum mr_code rc = MR_EBUSY;

	world_open(&world);
	CHECK_INT(rename(DATABASE, "root/away"), 0);
	CHECK_INT(beat(&world, 0), MR_EBUSY);
	CHECK_STR(world.cx.err.msg,
		"database root/storage.sqlite3 was deleted or moved away: put it back, or run "
		"`mailroom team rebuild`");
	CHECK_INT(rename("root/away", DATABASE), 0);
	for (int i = 0; rc == MR_EBUSY && i < 3000; i++) {
		usleep(10000);
		rc = beat(&world, 0);
	}
	CHECK_OK(rc, world.cx.err);
	world_close(&world);
}

/* A writer that is held, as by a disk that does not answer. */
struct held {
	struct world *world;
	sem_t entered, let_go;
};

static enum mr_code hold(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct held *held = arg;

	(void)cx;
	(void)db;
	sem_post(&held->entered);
	sem_wait(&held->let_go);
	return MR_OK;
}

static void *hold_writer(void *arg)
{
	struct held *held = arg;
	struct mr_ctx cx = held->world->cx;

	cx.arena = mr_arena_new();
	CHECK_OK(mr_team_write(&cx, held->world->team, hold, NULL, held), cx.err);
	mr_arena_free(cx.arena);
	return NULL;
}

static void does_not_hang_with_the_disk(void)
{
	struct world world;
	struct held held = { .world = &world };
	pthread_t thread;

	world_open(&world);
	sem_init(&held.entered, 0, 0);
	sem_init(&held.let_go, 0, 0);
	CHECK_INT(pthread_create(&thread, NULL, hold_writer, &held), 0);
	sem_wait(&held.entered);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(mr_team_pulse(&world.cx, world.team, 0, 10), MR_ETIMEOUT);
		CHECK_STR(world.cx.err.msg,
			"database root/storage.sqlite3: a write did not end within 10 ms: does its "
			"disk answer, or is another program writing?");
	}
	sem_post(&held.let_go);
	CHECK_OK(beat(&world, 0), world.cx.err);
	pthread_join(thread, NULL);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(writes_to_the_disk),
		TEST(writes_once_for_many),
		TEST(says_that_nothing_can_be_written_until_it_can),
		TEST(says_that_the_database_is_gone_until_it_is_back),
		TEST(does_not_hang_with_the_disk),
	};
	return test_main(tests, MR_LEN(tests));
}
