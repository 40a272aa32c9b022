/* surface/mcp/fixture_tools.h - the tools of the conformance tests, for fixtures.c. */
#pragma once

#include "surface/mcp/method.h"

void mr_mcp_fixture_tools(struct mr_mcp_exchange *ex, struct mr_out *out);
bool mr_mcp_fixture_is_tool(const char *name);
bool mr_mcp_fixture_is_long(const struct mr_mcp_client *client, const struct mr_value *params);
const struct mr_value *mr_mcp_fixture_schema(struct mr_arena *arena, const char *name);
MR_CHECK enum mr_code mr_mcp_fixture_call(struct mr_mcp_exchange *ex, const char *name,
	const struct mr_value *arguments, struct mr_out *out);

/* A text of ours as a value. */
const struct mr_value *mr_mcp_fixture_json(struct mr_arena *arena, const char *json);
/* Its members. */
void mr_mcp_fixture_emit(struct mr_out *out, const struct mr_value *map);
#define MR_MCP_FIXTURE_PNG                                                                         \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSu" \
	"QmCC"
