/*
 * surface/mcp/wanted.h - subscriptions/listen without its transport: the filter a client of the
 * second generation sends, and the messages it gets.
 */
#pragma once

#include "surface/mcp/hub.h"
#include "surface/mcp/mcp.h"

enum { MR_MCP_WANTED_BYTES = 64 << 10 }; /* of a message that tells of one change */

/* The filter among the request's params; NULL, with the refusal set, when there is none. */
const struct mr_value *mr_mcp_wanted_filter(struct mr_mcp_exchange *ex);
/* Subscribe the listener to all that is wanted and served, and write the message that says what
 * that is. `id` is the request's. */
void mr_mcp_wanted_begin(struct mr_mcp_exchange *ex, const struct mr_value *filter,
	const struct mr_value *id, struct mr_mcp_listener *listener, struct mr_buf *json);
/* The message that tells of a change of `uri`, as the hub has it; `id` NULL in the first
 * generation. */
void mr_mcp_wanted_change(const struct mr_value *id, const char *uri, struct mr_buf *json);
/* The response to the request: it comes at the end. */
void mr_mcp_wanted_end(const struct mr_value *id, struct mr_buf *json);
