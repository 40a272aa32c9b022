/*
 * surface/http/worker.c - The thread pool for handlers that may block, which grows while its
 * threads are waiting or stuck.
 */
#include "surface/http/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
	/* When no queued job was taken for so long, all threads are taken to be stuck. */
	STUCK_MS = 20,
	/* An extra thread ends after so long without a job: the next burst often follows soon. */
	LINGER_MS = 2000,
};

struct mr_http_worker {
	struct mr_http_worker_config config;
	mr_http_worker_run *run;
	pthread_mutex_t lock;   /* guards what follows */
	pthread_cond_t wanted;  /* a job may begin, or the pool is stopping */
	pthread_cond_t lacking; /* for the foreman: jobs are queued, or the pool is stopping */
	pthread_cond_t left;    /* an extra thread has ended */
	bool stopping;
	void **jobs; /* a ring */
	unsigned first;
	unsigned len;
	unsigned idle;
	bool called;      /* a thread was called and has not come yet; it calls the next */
	unsigned busy;    /* threads that run a job */
	unsigned paused;  /* of these */
	unsigned extra;   /* so many more may be busy, because others are stuck */
	unsigned came;    /* extra threads that are running */
	unsigned waiting; /* jobs */
	uint64_t taken;   /* jobs ever */
	bool has_foreman;
	bool foreman_looks; /* it is looking already, and need not be woken */
	pthread_t foreman;
	unsigned threads_len;
	pthread_t threads[];
};

static struct timespec after_ms(unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return until;
}

/* Under the lock: may another job begin? More at once would only compete for the processors. */
static bool may_begin(const struct mr_http_worker *pool)
{
	return pool->len > 0 && pool->busy < pool->config.threads + pool->paused + pool->extra;
}

/* Under the lock: must a queued job wait until another one ends? */
static bool is_lacking(const struct mr_http_worker *pool)
{
	return pool->len > pool->idle ||
		pool->len + pool->busy > pool->config.threads + pool->paused + pool->extra;
}

/* Under the lock. */
static void call_foreman(struct mr_http_worker *pool)
{
	if (!pool->foreman_looks && is_lacking(pool))
		pthread_cond_signal(&pool->lacking);
}

static void *help_out(void *arg);

/* Under the lock: wake or start a thread for the next job; true when the caller must signal.
 * Without another thread the job waits a little longer. */
static bool calls_one(struct mr_http_worker *pool)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (!may_begin(pool) || pool->called)
		return false;
	if (pool->idle > 0) {
		pool->called = true;
		return true;
	}
	if (pool->came == pool->config.more || pool->stopping)
		return false;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, help_out, pool) == 0) {
		pool->came++;
		pool->called = true;
	}
	pthread_attr_destroy(&attr);
	return false;
}

/* Release the lock, then wake the thread that was called: the first thing it needs is the lock. */
static void unlock(struct mr_http_worker *pool, bool wake)
{
	pthread_mutex_unlock(&pool->lock);
	if (wake)
		pthread_cond_signal(&pool->wanted);
}

/* Under the lock, which is let go of meanwhile. */
static void run_next(struct mr_http_worker *pool)
{
	void *job = pool->jobs[pool->first];

	pool->first = (pool->first + 1) % pool->config.queue;
	pool->len--;
	pool->taken++;
	pool->busy++;
	unlock(pool, calls_one(pool));
	pool->run(job);
	pthread_mutex_lock(&pool->lock);
	pool->busy--;
	if (pool->len == 0)
		pool->extra = 0;
}

/* Under the lock. False: nothing came by then (NULL: it waits for ever), or the end did. */
static bool await_job(struct mr_http_worker *pool, const struct timespec *until)
{
	int rc = 0;

	pool->idle++;
	while (!may_begin(pool) && !(pool->stopping && pool->len == 0) && rc != ETIMEDOUT) {
		rc = until ? pthread_cond_timedwait(&pool->wanted, &pool->lock, until)
			   : pthread_cond_wait(&pool->wanted, &pool->lock);
		pool->called = false;
	}
	pool->idle--;
	return may_begin(pool);
}

static void *work(void *arg)
{
	struct mr_http_worker *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (await_job(pool, NULL))
		run_next(pool);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void *help_out(void *arg)
{
	struct mr_http_worker *pool = arg;
	struct timespec until = after_ms(LINGER_MS);

	pthread_mutex_lock(&pool->lock);
	pool->called = false;
	while (await_job(pool, &until)) {
		run_next(pool);
		until = after_ms(LINGER_MS);
	}
	pool->came--;
	pthread_cond_broadcast(&pool->left);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Under the lock: sleep for STUCK_MS, or until the pool stops. */
static void wait_a_moment(struct mr_http_worker *pool)
{
	struct timespec until = after_ms(STUCK_MS);

	while (!pool->stopping && pthread_cond_timedwait(&pool->lacking, &pool->lock, &until) == 0)
		;
}

/* Under the lock: let every queued job begin, as far as extra threads are allowed. */
static void call_help(struct mr_http_worker *pool)
{
	unsigned more = pool->config.more - pool->extra;

	pool->extra += pool->len < more ? pool->len : more;
	if (calls_one(pool))
		pthread_cond_signal(&pool->wanted);
}

/* The foreman's thread: starts extra threads when jobs are queued and none is taken. */
static void *look(void *arg)
{
	struct mr_http_worker *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stopping) {
		uint64_t before = pool->taken;

		pool->foreman_looks = pool->len > 0 && is_lacking(pool);
		if (!pool->foreman_looks) {
			pthread_cond_wait(&pool->lacking, &pool->lock);
			continue;
		}
		wait_a_moment(pool);
		if (!pool->stopping && pool->taken == before)
			call_help(pool);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}
static enum mr_code start_threads(struct mr_http_worker *pool, struct mr_err *err)
{
	int rc = 0;

	while (!rc && pool->threads_len < pool->config.threads) {
		rc = pthread_create(&pool->threads[pool->threads_len], NULL, work, pool);
		pool->threads_len += !rc;
	}
	if (!rc && pool->config.more) {
		rc = pthread_create(&pool->foreman, NULL, look, pool);
		pool->has_foreman = !rc;
	}
	return rc ? mr_err_os(err, rc, "cannot start a worker thread") : MR_OK;
}

enum mr_code mr_http_worker_start(const struct mr_http_worker_config *config,
	mr_http_worker_run *run, struct mr_http_worker **out, struct mr_err *err)
{
	struct mr_http_worker *pool =
		calloc(1, sizeof(*pool) + config->threads * sizeof(pool->threads[0]));
	pthread_condattr_t attr;
	enum mr_code rc;

	if (!pool || !(pool->jobs = calloc(config->queue, sizeof(*pool->jobs)))) {
		free(pool);
		return mr_err_set(err, MR_ELIMIT, "no memory for %u workers", config->threads);
	}
	pool->config = *config;
	pool->run = run;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->wanted, &attr);
	pthread_cond_init(&pool->lacking, &attr);
	pthread_cond_init(&pool->left, NULL);
	pthread_condattr_destroy(&attr);
	rc = start_threads(pool, err);
	if (rc) {
		mr_http_worker_stop(pool, run);
		mr_http_worker_free(pool);
		return rc;
	}
	*out = pool;
	return MR_OK;
}

bool mr_http_worker_submit(struct mr_http_worker *pool, void *job)
{
	bool fits, wake = false;

	pthread_mutex_lock(&pool->lock);
	fits = !pool->stopping && pool->len < pool->config.queue;
	if (fits) {
		pool->jobs[(pool->first + pool->len++) % pool->config.queue] = job;
		wake = calls_one(pool);
		call_foreman(pool);
	}
	unlock(pool, wake);
	return fits;
}

/* Under the lock, which it lets go of. */
static void give_place(struct mr_http_worker *pool)
{
	pool->paused++;
	unlock(pool, calls_one(pool));
}

static void take_place(struct mr_http_worker *pool)
{
	pool->paused--;
	call_foreman(pool);
	unlock(pool, false);
}

void mr_http_worker_pause(struct mr_http_worker *pool, bool begins)
{
	pthread_mutex_lock(&pool->lock);
	(begins ? give_place : take_place)(pool);
}

bool mr_http_worker_wait(struct mr_http_worker *pool)
{
	pthread_mutex_lock(&pool->lock);
	if (pool->waiting == pool->config.waits) {
		unlock(pool, false);
		return false;
	}
	pool->waiting++;
	give_place(pool);
	return true;
}

void mr_http_worker_wait_done(struct mr_http_worker *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->waiting--;
	take_place(pool);
}

void mr_http_worker_stop(struct mr_http_worker *pool, mr_http_worker_run *drop)
{
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	for (; pool->len; pool->len--) {
		drop(pool->jobs[pool->first]);
		pool->first = (pool->first + 1) % pool->config.queue;
	}
	pthread_cond_broadcast(&pool->wanted);
	pthread_cond_broadcast(&pool->lacking);
	pthread_mutex_unlock(&pool->lock);
	if (pool->has_foreman)
		pthread_join(pool->foreman, NULL);
	pool->has_foreman = false;
	while (pool->threads_len)
		pthread_join(pool->threads[--pool->threads_len], NULL);
	pthread_mutex_lock(&pool->lock);
	while (pool->came)
		pthread_cond_wait(&pool->left, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void mr_http_worker_free(struct mr_http_worker *pool)
{
	if (!pool)
		return;
	pthread_cond_destroy(&pool->left);
	pthread_cond_destroy(&pool->lacking);
	pthread_cond_destroy(&pool->wanted);
	pthread_mutex_destroy(&pool->lock);
	free(pool->jobs);
	free(pool);
}
