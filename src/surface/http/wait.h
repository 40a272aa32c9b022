/*
 * surface/http/wait.h - handlers that wait, on the worker thread they run on, for the disk or for
 * somebody else: meanwhile others have their place.
 */
#pragma once

#include "base/ctx.h"
#include "surface/http/request.h"

/* While `cx` waits for the disk, others may work. */
void mr_http_wait_lend(const struct mr_http_request *req, struct mr_ctx *cx);

/*
 * For a handler that is about to wait for somebody else. False when so many do that there would be
 * too few threads for the others: then it is to be refused (503). Else it looks every second or so
 * whether the answer is still wanted, and says when it does not wait any more.
 */
bool mr_http_wait_begin(const struct mr_http_request *req);
void mr_http_wait_end(const struct mr_http_request *req);
/* Of a struct mr_http_request: has the client hung up, or does the server stop? */
bool mr_http_wait_is_over(void *req);
