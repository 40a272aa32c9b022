/*
 * surface/http/worker.h - threads that run what may block, fed by a bounded queue.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_http_worker;

/* One job; runs on one of the threads. */
typedef void mr_http_worker_run(void *job);

/* Start `threads` threads; at most `queue` jobs wait for one of them. */
MR_CHECK enum mr_code mr_http_worker_start(unsigned threads, unsigned queue,
	mr_http_worker_run *run, struct mr_http_worker **out, struct mr_err *err);

/* False when the queue is full or the pool is stopping. Never blocks. */
bool mr_http_worker_submit(struct mr_http_worker *pool, void *job);

/*
 * Take no more jobs, give those that have not begun to `drop`, wait for those that have, however
 * long they take. A second call does nothing.
 */
void mr_http_worker_stop(struct mr_http_worker *pool, mr_http_worker_run *drop);
/* After stop; NULL is fine. */
void mr_http_worker_free(struct mr_http_worker *pool);
