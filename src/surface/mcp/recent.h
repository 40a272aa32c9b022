/* surface/mcp/recent.h - the last calls of tools: when, which, of which project and agent. Safe
 * from any thread. */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { MR_MCP_RECENT = 4096, MR_MCP_RECENT_BYTES = 128 };

struct mr_mcp_called {
	int64_t at_us;
	const char *tool;                                              /* a constant */
	char project[MR_MCP_RECENT_BYTES], agent[MR_MCP_RECENT_BYTES]; /* "": not said */
};

struct mr_mcp_recent;

struct mr_mcp_recent *mr_mcp_recent_new(void);
void mr_mcp_recent_free(struct mr_mcp_recent *recent);

/* `project` and `agent` may be NULL; what is too long is cut. */
void mr_mcp_recent_add(struct mr_mcp_recent *recent, int64_t at_us, const char *tool,
	const char *project, const char *agent);
/* Those since then, newest first; returns how many. */
size_t mr_mcp_recent_since(struct mr_mcp_recent *recent, struct mr_arena *arena, int64_t since_us,
	struct mr_mcp_called **out);
