/*
 * surface/http/api.h - the operation table as HTTP routes, every tool as
 * POST /api/tools/{name}, and /metrics.
 *
 * Arguments come from the path, the query string and, with a method that has one, a JSON object as
 * body. An operation's result is the body of the answer; its contract chooses the status of an
 * error.
 */
#pragma once

#include "op/call.h"
#include "surface/http/server.h"

/* A route for every operation that has one, living in `arena`. */
const struct mr_http_route *mr_api_op_routes(struct mr_arena *arena,
	const struct mr_op_table *table, size_t *out_count);
/* The same, and those of the server itself. */
const struct mr_http_route *mr_api_routes(struct mr_arena *arena, const struct mr_op_table *table,
	size_t *out_count);
/* Counts requests; the server's `app` must be a struct mr_app. */
void mr_api_observe(void *app, const struct mr_http_finished *finished);
