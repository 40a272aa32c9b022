/* base/errand.c - a few threads that run functions for many others, which wait meanwhile. */
#include "base/errand.h"

#include "base/oom.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>

/* On the stack of the thread that waits. */
struct errand {
	STAILQ_ENTRY(errand) link;
	void (*fn)(void *arg);
	void *arg;
	bool is_done;
	pthread_cond_t done;
};

struct mr_errands {
	pthread_mutex_t lock;
	pthread_cond_t work; /* an errand is there, or the end */
	STAILQ_HEAD(, errand) waiting;
	bool is_over;
	unsigned most, idle, len;
	pthread_t threads[];
};

static void *run_thread(void *arg)
{
	struct mr_errands *errands = arg;
	struct errand *next;

	pthread_mutex_lock(&errands->lock);
	while (!errands->is_over) {
		next = STAILQ_FIRST(&errands->waiting);
		if (!next) {
			errands->idle++;
			pthread_cond_wait(&errands->work, &errands->lock);
			errands->idle--;
			continue;
		}
		STAILQ_REMOVE_HEAD(&errands->waiting, link);
		pthread_mutex_unlock(&errands->lock);
		next->fn(next->arg);
		pthread_mutex_lock(&errands->lock);
		next->is_done = true;
		pthread_cond_signal(&next->done);
	}
	pthread_mutex_unlock(&errands->lock);
	return NULL;
}

struct mr_errands *mr_errands_new(unsigned most)
{
	struct mr_errands *errands =
		calloc(1, sizeof(*errands) + most * sizeof(errands->threads[0]));

	if (!errands)
		mr_oom(sizeof(*errands));
	errands->most = most;
	pthread_mutex_init(&errands->lock, NULL);
	pthread_cond_init(&errands->work, NULL);
	STAILQ_INIT(&errands->waiting);
	return errands;
}

/* Under the lock: is there a thread, now or soon, that will take it? */
static bool has_thread(struct mr_errands *errands)
{
	if (errands->idle == 0 && errands->len < errands->most &&
		pthread_create(&errands->threads[errands->len], NULL, run_thread, errands) == 0)
		errands->len++;
	return errands->len > 0;
}

void mr_errands_run(struct mr_errands *errands, void (*fn)(void *arg), void *arg)
{
	struct errand own = { .fn = fn, .arg = arg };

	pthread_mutex_lock(&errands->lock);
	if (!has_thread(errands)) {
		pthread_mutex_unlock(&errands->lock);
		fn(arg);
		return;
	}
	pthread_cond_init(&own.done, NULL);
	STAILQ_INSERT_TAIL(&errands->waiting, &own, link);
	pthread_cond_signal(&errands->work);
	while (!own.is_done)
		pthread_cond_wait(&own.done, &errands->lock);
	pthread_mutex_unlock(&errands->lock);
	pthread_cond_destroy(&own.done);
}

void mr_errands_free(struct mr_errands *errands)
{
	if (!errands)
		return;
	pthread_mutex_lock(&errands->lock);
	errands->is_over = true;
	pthread_cond_broadcast(&errands->work);
	pthread_mutex_unlock(&errands->lock);
	for (unsigned i = 0; i < errands->len; i++)
		pthread_join(errands->threads[i], NULL);
	pthread_cond_destroy(&errands->work);
	pthread_mutex_destroy(&errands->lock);
	free(errands);
}
