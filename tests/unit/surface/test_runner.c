/* tests/unit/surface/test_runner.c */
#include "surface/mcp/runner.h"

#include "test.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int entered, left;
static bool is_open;

static void wait_at_gate(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	entered++;
	pthread_cond_broadcast(&changed);
	while (!is_open)
		pthread_cond_wait(&changed, &lock);
	left++;
	pthread_mutex_unlock(&lock);
}

static void places_are_given_back(void)
{
	struct mr_mcp_runner *runner = mr_mcp_runner_new(1);
	struct mr_err err;

	for (int i = 0; i < 3; i++) {
		CHECK_OK(mr_mcp_runner_enter(runner, &err), err);
		CHECK_INT(mr_mcp_runner_enter(runner, &err), MR_ELIMIT);
		mr_mcp_runner_leave(runner);
	}
	mr_mcp_runner_free(runner);
}

static void runs_as_many_as_it_may(void)
{
	struct mr_mcp_runner *runner = mr_mcp_runner_new(3);
	struct mr_err err;

	for (int i = 0; i < 3; i++) {
		CHECK_OK(mr_mcp_runner_enter(runner, &err), err);
		CHECK_OK(mr_mcp_runner_start(runner, wait_at_gate, NULL, &err), err);
	}
	pthread_mutex_lock(&lock);
	while (entered < 3)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	CHECK_INT(mr_mcp_runner_enter(runner, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "3 long calls are under way, which is the maximum");
	pthread_mutex_lock(&lock);
	is_open = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	mr_mcp_runner_stop(runner);
	CHECK_INT(left, 3);
	CHECK_INT(mr_mcp_runner_enter(runner, &err), MR_EBUSY);
	CHECK_STR(err.msg, "the server is stopping");
	mr_mcp_runner_free(runner);
	mr_mcp_runner_free(NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(runs_as_many_as_it_may),
		TEST(places_are_given_back),
	};

	return test_main(tests, MR_LEN(tests));
}
