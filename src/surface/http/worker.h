/*
 * surface/http/worker.h - threads that run what may block, fed by a bounded queue.
 *
 * As many jobs run at once as there are threads that stay. A job that waits, for the disk or for
 * another client, gives its place to the next. When all threads have been busy for a moment and
 * jobs are queued, extra threads are started; they end when there is nothing to do. So a job waits
 * for other jobs only when very many are slow at once.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_http_worker;

/* One job; runs on one of the threads. */
typedef void mr_http_worker_run(void *job);

struct mr_http_worker_config {
	unsigned threads; /* that stay */
	unsigned more;    /* extra threads, started while others wait or are slow */
	unsigned waits;   /* jobs that may wait at once (mr_http_worker_wait) */
	unsigned queue;   /* jobs without a thread */
};

MR_CHECK enum mr_code mr_http_worker_start(const struct mr_http_worker_config *config,
	mr_http_worker_run *run, struct mr_http_worker **out, struct mr_err *err);

/* False when the queue is full or the pool is stopping. Never blocks. */
bool mr_http_worker_submit(struct mr_http_worker *pool, void *job);

/* From a job: it begins, or (false) ends, a short wait such as for a commit. */
void mr_http_worker_pause(struct mr_http_worker *pool, bool begins);

/* From a job that is about to wait for another client, perhaps for long. False when too many
 * jobs wait already; otherwise call mr_http_worker_wait_done() afterwards. */
bool mr_http_worker_wait(struct mr_http_worker *pool);
void mr_http_worker_wait_done(struct mr_http_worker *pool);

/*
 * Take no more jobs, give those that have not begun to `drop`, wait for those that have, however
 * long they take. A second call does nothing.
 */
void mr_http_worker_stop(struct mr_http_worker *pool, mr_http_worker_run *drop);
/* After stop; NULL is fine. */
void mr_http_worker_free(struct mr_http_worker *pool);
