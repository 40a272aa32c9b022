/* tests/unit/surface/test_worker.c */
#include "surface/http/worker.h"

#include "test.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned entered, left, dropped;
static bool is_open;

static void wait_at_gate(void *job)
{
	(void)job;
	pthread_mutex_lock(&lock);
	entered++;
	pthread_cond_broadcast(&changed);
	while (!is_open)
		pthread_cond_wait(&changed, &lock);
	left++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_for(const unsigned *counter, unsigned want)
{
	pthread_mutex_lock(&lock);
	while (*counter < want)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&lock);
	is_open = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* The last of two lets those go that have begun. */
static void drop(void *job)
{
	(void)job;
	if (++dropped == 2)
		open_gate();
}

static struct mr_http_worker *start(unsigned threads, unsigned more, unsigned queue)
{
	struct mr_http_worker_config config = { threads, more, .waits = 2, .queue = queue };
	struct mr_http_worker *pool;
	struct mr_err err;

	CHECK_OK(mr_http_worker_start(&config, wait_at_gate, &pool, &err), err);
	return pool;
}

static void stop(struct mr_http_worker *pool)
{
	mr_http_worker_stop(pool, drop);
	mr_http_worker_stop(pool, drop);
	mr_http_worker_free(pool);
	mr_http_worker_free(NULL);
}

/* Those that are stuck hold up nobody, until all who may come have come. */
static void others_come_when_all_are_busy(void)
{
	struct mr_http_worker *pool = start(2, 3, 8);

	for (unsigned i = 0; i < 5; i++) {
		CHECK(mr_http_worker_submit(pool, &lock));
		wait_for(&entered, i + 1);
	}
	for (unsigned i = 0; i < 8; i++)
		CHECK(mr_http_worker_submit(pool, &lock));
	CHECK(!mr_http_worker_submit(pool, &lock));
	CHECK_INT(entered, 5);
	open_gate();
	wait_for(&left, 13);
	/* And again, after they have left. */
	is_open = false;
	for (unsigned i = 0; i < 5; i++)
		CHECK(mr_http_worker_submit(pool, &lock));
	wait_for(&entered, 18);
	open_gate();
	stop(pool);
	CHECK_INT(left, 18);
	CHECK_INT(dropped, 0);
}

static void what_has_not_begun_is_dropped(void)
{
	struct mr_http_worker *pool = start(1, 0, 2);

	CHECK(mr_http_worker_submit(pool, &lock));
	wait_for(&entered, 1);
	CHECK(mr_http_worker_submit(pool, &lock));
	CHECK(mr_http_worker_submit(pool, &lock));
	CHECK(!mr_http_worker_submit(pool, &lock));
	stop(pool);
	CHECK_INT(left, 1);
	CHECK_INT(dropped, 2);
}

/* Enter, and be paused at the gate. */
static struct mr_http_worker *pausing;

static void pause_at_gate(void *job)
{
	mr_http_worker_pause(pausing, true);
	wait_at_gate(job);
	mr_http_worker_pause(pausing, false);
}

/* Until there is no thread more. */
static void who_is_paused_gives_its_place(void)
{
	struct mr_http_worker_config config = { 1, 3, .waits = 2, .queue = 8 };
	struct mr_err err;

	CHECK_OK(mr_http_worker_start(&config, pause_at_gate, &pausing, &err), err);
	for (unsigned i = 0; i < 6; i++)
		CHECK(mr_http_worker_submit(pausing, &lock));
	wait_for(&entered, 4);
	CHECK_INT(entered, 4);
	open_gate();
	wait_for(&left, 6);
	/* They have stayed, or come again. */
	is_open = false;
	for (unsigned i = 0; i < 4; i++)
		CHECK(mr_http_worker_submit(pausing, &lock));
	wait_for(&entered, 10);
	open_gate();
	stop(pausing);
	CHECK_INT(left, 10);
	CHECK_INT(dropped, 0);
}

static void so_many_may_wait(void)
{
	struct mr_http_worker *pool = start(1, 0, 2);

	CHECK(mr_http_worker_wait(pool));
	CHECK(mr_http_worker_wait(pool));
	CHECK(!mr_http_worker_wait(pool));
	mr_http_worker_wait_done(pool);
	CHECK(mr_http_worker_wait(pool));
	stop(pool);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(others_come_when_all_are_busy),
		TEST(what_has_not_begun_is_dropped),
		TEST(who_is_paused_gives_its_place),
		TEST(so_many_may_wait),
	};

	return test_main(tests, MR_LEN(tests));
}
