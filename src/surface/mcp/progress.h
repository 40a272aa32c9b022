/*
 * surface/mcp/progress.h - progress notifications to clients that ask for them.
 *
 * A request with a progressToken gets one at once and then at most every MR_MCP_PROGRESS_MS while
 * the work advances; none where only the answer can be sent.
 */
#pragma once

#include "surface/mcp/mcp.h"

enum { MR_MCP_PROGRESS_MS = 3000 };

struct mr_mcp_progress {
	struct mr_mcp_channel *channel;
	const struct mr_value *token;
	int64_t next_ms; /* the earliest for the next, on the machine's own clock */
	int64_t told;    /* the last; it may only grow */
};

/* From here on ex->call.cx.progress tells the client. `progress` must live as long as the call. */
void mr_mcp_progress_begin(struct mr_mcp_progress *progress, struct mr_mcp_exchange *ex);
