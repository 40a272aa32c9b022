/*
 * surface/http/worker.h - threads that run what may block, fed by a bounded queue.
 *
 * Some threads are always there. When all of them have been busy for a moment and jobs wait, more
 * come, and leave again when nothing waits: so a job waits for others' work only when very many
 * are slow at once. Those that do nothing but wait say so, and only so many may.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_http_worker;

/* One job; runs on one of the threads. */
typedef void mr_http_worker_run(void *job);

struct mr_http_worker_config {
	unsigned threads; /* that stay */
	unsigned more;    /* that come when these are all busy */
	unsigned waits;   /* jobs that may wait at once (mr_http_worker_wait) */
	unsigned queue;   /* jobs without a thread */
};

MR_CHECK enum mr_code mr_http_worker_start(const struct mr_http_worker_config *config,
	mr_http_worker_run *run, struct mr_http_worker **out, struct mr_err *err);

/* False when the queue is full or the pool is stopping. Never blocks. */
bool mr_http_worker_submit(struct mr_http_worker *pool, void *job);

/* From a job that is about to wait for somebody else. False when too many do already; else it says
 * when it does not any more. */
bool mr_http_worker_wait(struct mr_http_worker *pool);
void mr_http_worker_wait_done(struct mr_http_worker *pool);

/*
 * Take no more jobs, give those that have not begun to `drop`, wait for those that have, however
 * long they take. A second call does nothing.
 */
void mr_http_worker_stop(struct mr_http_worker *pool, mr_http_worker_run *drop);
/* After stop; NULL is fine. */
void mr_http_worker_free(struct mr_http_worker *pool);
