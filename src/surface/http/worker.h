/*
 * surface/http/worker.h - threads that run what may block, fed by a bounded queue.
 *
 * As many jobs run at once as there are threads that stay. One that waits, for the disk or for
 * somebody else, gives its place to the next. When all have been busy for a moment and jobs wait,
 * more may run. The threads for these come when they are needed, and leave when nothing is to be
 * done: so a job waits for others' work only when very many are slow at once.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_http_worker;

/* One job; runs on one of the threads. */
typedef void mr_http_worker_run(void *job);

struct mr_http_worker_config {
	unsigned threads; /* that stay */
	unsigned more;    /* that come for those who wait, or are slow */
	unsigned waits;   /* jobs that may wait at once (mr_http_worker_wait) */
	unsigned queue;   /* jobs without a thread */
};

MR_CHECK enum mr_code mr_http_worker_start(const struct mr_http_worker_config *config,
	mr_http_worker_run *run, struct mr_http_worker **out, struct mr_err *err);

/* False when the queue is full or the pool is stopping. Never blocks. */
bool mr_http_worker_submit(struct mr_http_worker *pool, void *job);

/* From a job: it begins to wait for what will not take long, as a commit; or it goes on. */
void mr_http_worker_pause(struct mr_http_worker *pool, bool begins);

/* From a job that is about to wait for somebody else, perhaps for long. False when too many do
 * already; else it says when it does not any more. */
bool mr_http_worker_wait(struct mr_http_worker *pool);
void mr_http_worker_wait_done(struct mr_http_worker *pool);

/*
 * Take no more jobs, give those that have not begun to `drop`, wait for those that have, however
 * long they take. A second call does nothing.
 */
void mr_http_worker_stop(struct mr_http_worker *pool, mr_http_worker_run *drop);
/* After stop; NULL is fine. */
void mr_http_worker_free(struct mr_http_worker *pool);
