/* surface/http/worker.c */
#include "surface/http/worker.h"

#include <pthread.h>
#include <stdlib.h>

struct mr_http_worker {
	pthread_mutex_t lock;
	pthread_cond_t wanted; /* a job waits, or the end has come */
	bool stopping;
	mr_http_worker_run *run;
	void **jobs; /* a ring */
	unsigned max;
	unsigned first;
	unsigned len;
	unsigned threads_len;
	pthread_t threads[];
};

static void *work(void *arg)
{
	struct mr_http_worker *pool = arg;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		void *job;

		while (pool->len == 0 && !pool->stopping)
			pthread_cond_wait(&pool->wanted, &pool->lock);
		if (pool->len == 0)
			break;
		job = pool->jobs[pool->first];
		pool->first = (pool->first + 1) % pool->max;
		pool->len--;
		pthread_mutex_unlock(&pool->lock);
		pool->run(job);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

enum mr_code mr_http_worker_start(unsigned threads, unsigned queue, mr_http_worker_run *run,
	struct mr_http_worker **out, struct mr_err *err)
{
	struct mr_http_worker *pool = calloc(1, sizeof(*pool) + threads * sizeof(pool->threads[0]));
	int rc;

	if (!pool || !(pool->jobs = calloc(queue, sizeof(*pool->jobs)))) {
		free(pool);
		return mr_err_set(err, MR_ELIMIT, "no memory for %u workers", threads);
	}
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wanted, NULL);
	pool->run = run;
	pool->max = queue;
	while (pool->threads_len < threads) {
		rc = pthread_create(&pool->threads[pool->threads_len], NULL, work, pool);
		if (rc) {
			mr_http_worker_stop(pool, run);
			mr_http_worker_free(pool);
			return mr_err_os(err, rc, "cannot start a worker thread");
		}
		pool->threads_len++;
	}
	*out = pool;
	return MR_OK;
}

bool mr_http_worker_submit(struct mr_http_worker *pool, void *job)
{
	bool fits;

	pthread_mutex_lock(&pool->lock);
	fits = !pool->stopping && pool->len < pool->max;
	if (fits) {
		pool->jobs[(pool->first + pool->len++) % pool->max] = job;
		pthread_cond_signal(&pool->wanted);
	}
	pthread_mutex_unlock(&pool->lock);
	return fits;
}

void mr_http_worker_stop(struct mr_http_worker *pool, mr_http_worker_run *drop)
{
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	for (; pool->len; pool->len--) {
		drop(pool->jobs[pool->first]);
		pool->first = (pool->first + 1) % pool->max;
	}
	pthread_cond_broadcast(&pool->wanted);
	pthread_mutex_unlock(&pool->lock);
	while (pool->threads_len)
		pthread_join(pool->threads[--pool->threads_len], NULL);
}

void mr_http_worker_free(struct mr_http_worker *pool)
{
	if (!pool)
		return;
	pthread_cond_destroy(&pool->wanted);
	pthread_mutex_destroy(&pool->lock);
	free(pool->jobs);
	free(pool);
}
