/*
 * surface/http/wait.h - lets a handler that waits, for the disk or for another client, release its
 * place on the worker threads meanwhile.
 */
#pragma once

#include "base/ctx.h"
#include "surface/http/request.h"

/* While `cx` waits for the disk, another job may take this one's place. */
void mr_http_wait_lend(const struct mr_http_request *req, struct mr_ctx *cx);

/*
 * For a handler that is about to wait for another client. False when so many wait that too few
 * threads would be left: then answer 503. Otherwise call mr_http_wait_is_over() about every second
 * while waiting, and mr_http_wait_end() afterwards.
 */
bool mr_http_wait_begin(const struct mr_http_request *req);
void mr_http_wait_end(const struct mr_http_request *req);
/* Of a struct mr_http_request: has the client hung up, or does the server stop? */
bool mr_http_wait_is_over(void *req);
/* The latter alone: what was begun for a client that has gone is finished. */
bool mr_http_wait_is_stopping(void *req);
