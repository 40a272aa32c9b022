/*
 * surface/http/wait.c - Lets a handler that waits for the disk or for another client release its
 * place in the worker pool meanwhile.
 */
#include "surface/http/wait.h"

#include "surface/http/deadlines.h"
#include "surface/http/drain.h"
#include "surface/http/worker.h"

static void pause_work(void *workers, bool begins)
{
	mr_http_worker_pause(workers, begins);
}

void mr_http_wait_lend(const struct mr_http_request *req, struct mr_ctx *cx)
{
	cx->pause = pause_work;
	cx->pause_arg = req->workers;
}

bool mr_http_wait_begin(const struct mr_http_request *req)
{
	return mr_http_worker_wait(req->workers);
}

void mr_http_wait_end(const struct mr_http_request *req)
{
	mr_http_worker_wait_done(req->workers);
}

bool mr_http_wait_is_stopping(void *arg)
{
	const struct mr_http_request *req = arg;

	return atomic_load(&req->traffic->stopping);
}

bool mr_http_wait_is_over(void *arg)
{
	const struct mr_http_request *req = arg;

	return mr_http_wait_is_stopping(arg) || mr_http_deadlines_has_left(req->fd);
}
