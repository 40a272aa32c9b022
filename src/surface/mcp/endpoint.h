/*
 * surface/mcp/endpoint.h - MCP over Streamable HTTP: POST, GET and DELETE on one path.
 *
 * A request that only asks is answered with JSON on the thread that read it. One that waits, or
 * speaks to the client before it answers (mr_mcp_is_long()), is answered with a stream and goes on
 * in a thread of its own. A client of the first generation that never introduced itself is served
 * too, request by request.
 */
#pragma once

#include "surface/http/server.h"
#include "surface/mcp/mcp.h"

enum { MR_MCP_LONG_CALLS = 256, MR_MCP_BATCH = 100, MR_MCP_ROUTES = 9 };

struct mr_mcp_endpoint;

/* `mcp` must outlive it. */
struct mr_mcp_endpoint *mr_mcp_endpoint_new(struct mr_mcp *mcp);
/* Before the server is stopped: end the sessions, tell long calls to end, and wait for them. */
void mr_mcp_endpoint_stop(struct mr_mcp_endpoint *endpoint);
/* After the server has stopped. NULL is fine. */
void mr_mcp_endpoint_free(struct mr_mcp_endpoint *endpoint);

/*
 * The routes of /mcp and /api, with and without a slash at the end, and of `path` when it is
 * another; at most MR_MCP_ROUTES. Returns how many.
 */
size_t mr_mcp_endpoint_routes(struct mr_mcp_endpoint *endpoint, struct mr_arena *arena,
	const char *path, struct mr_http_route *out);
