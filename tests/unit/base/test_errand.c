/* tests/unit/base/test_errand.c */
#include "base/errand.h"
#include "base/str.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST = 2, ASKERS = 16, TIMES = 50 };

static struct {
	struct mr_errands *errands;
	atomic_int running, highest, done;
	pthread_t own[ASKERS];
} office;

static void work(void *arg)
{
	int now = atomic_fetch_add(&office.running, 1) + 1;
	int highest = atomic_load(&office.highest);

	while (now > highest && !atomic_compare_exchange_weak(&office.highest, &highest, now))
		;
	*(pthread_t *)arg = pthread_self();
	atomic_fetch_sub(&office.running, 1);
	atomic_fetch_add(&office.done, 1);
}

static void *ask(void *arg)
{
	pthread_t by = pthread_self();

	(void)arg;
	for (int i = 0; i < TIMES; i++) {
		mr_errands_run(office.errands, work, &by);
		CHECK(!pthread_equal(by, pthread_self()));
	}
	return NULL;
}

static void a_few_threads_do_the_work_of_many(void)
{
	office.errands = mr_errands_new(MOST);
	for (size_t i = 0; i < ASKERS; i++)
		CHECK_INT(pthread_create(&office.own[i], NULL, ask, NULL), 0);
	for (size_t i = 0; i < ASKERS; i++)
		pthread_join(office.own[i], NULL);
	mr_errands_free(office.errands);
	CHECK_INT(atomic_load(&office.done), ASKERS * TIMES);
	CHECK(atomic_load(&office.highest) <= MOST);
}

static void without_threads_it_is_done_here(void)
{
	pthread_t by;

	office.errands = mr_errands_new(0);
	mr_errands_run(office.errands, work, &by);
	CHECK(pthread_equal(by, pthread_self()));
	mr_errands_free(office.errands);
	mr_errands_free(NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_few_threads_do_the_work_of_many),
		TEST(without_threads_it_is_done_here),
	};

	return test_main(tests, MR_LEN(tests));
}
