/* surface/mcp/endpoint.h - MCP over Streamable HTTP: POST, GET and DELETE on one path. */
#pragma once

#include "surface/http/server.h"
#include "surface/mcp/mcp.h"

struct mr_mcp_endpoint;

struct mr_mcp_endpoint *mr_mcp_endpoint_new(struct mr_mcp *mcp);
/* After the server has stopped. */
void mr_mcp_endpoint_free(struct mr_mcp_endpoint *endpoint);

enum { MR_MCP_ROUTES = 9 };
/* The routes of /mcp and /api, with and without a slash at the end, and of `path`. */
size_t mr_mcp_endpoint_routes(struct mr_mcp_endpoint *endpoint, struct mr_arena *arena,
	const char *path, struct mr_http_route *out, size_t max);
