/* surface/mcp/answer.h - requests in, answers out: what a transport calls. */
#pragma once

#include "surface/mcp/mcp.h"

/*
 * Work on a request and put the whole JSON-RPC response into `out`, which is empty.
 * `ex->call.cx.arena` holds all that it needs. Returns the HTTP status the second generation wants
 * for it (200, 400, 404).
 */
int mr_mcp_answer(struct mr_mcp_exchange *ex, const struct mr_rpc *request, struct mr_buf *out);

/*
 * May this request wait for another client, or send messages to its client before it answers? Then
 * it gets a thread, a stream and a channel of its own.
 */
bool mr_mcp_is_long(const struct mr_mcp *mcp, const struct mr_mcp_client *client,
	const struct mr_rpc *request);

/* The options as they are set. */
struct mr_mcp_options mr_mcp_options_of(void);
