/*
 * op/mailbox/gateway_parts.h - what runs beside the routes of a gateway, in threads of its own.
 *
 * There is one place where such a part starts and stops: mr_gateway_parts_start() and
 * mr_gateway_parts_stop(), called by `mailroom gateway` for its agent and by `mailroom serve` for
 * all agents.
 */
#pragma once

#include "op/call.h"

struct mr_gateway_parts;

/*
 * Before the server listens, so that its handlers find the parts in app->gateway_parts. Without
 * app->gateway: of `mailroom serve`, for every agent of the registry. `app` lives until
 * mr_gateway_parts_stop().
 */
MR_CHECK enum mr_code mr_gateway_parts_start(const struct mr_app *app,
	struct mr_gateway_parts **out, struct mr_err *err);
/* Before the server stops: threads end, and handlers that wait for them return. NULL is fine. */
void mr_gateway_parts_stop(struct mr_gateway_parts *parts);
