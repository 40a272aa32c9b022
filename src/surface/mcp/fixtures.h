/*
 * surface/mcp/fixtures.h - what the protocol's conformance tests expect a server to have.
 *
 * Only with the setting mcp.fixtures: tools, prompts and resources of no use to anybody else.
 */
#pragma once

#include "surface/mcp/method.h"

/* Items of the list of tools. */
void mr_mcp_fixture_tools(struct mr_mcp_exchange *ex, struct mr_out *out);
bool mr_mcp_fixture_is_tool(const char *name);
/* Does the tool of a tools/call with these params speak to the client before it answers? */
bool mr_mcp_fixture_is_long(const struct mr_mcp_client *client, const struct mr_value *params);
/* Its input schema; NULL when there is no such tool. */
const struct mr_value *mr_mcp_fixture_schema(struct mr_arena *arena, const char *name);
/* Of a tool that is one: emits the members of its result. */
MR_CHECK enum mr_code mr_mcp_fixture_call(struct mr_mcp_exchange *ex, const char *name,
	const struct mr_value *arguments, struct mr_out *out);

/* Items of the lists of prompts, resources and templates. */
void mr_mcp_fixture_prompts(struct mr_mcp_exchange *ex, struct mr_out *out);
void mr_mcp_fixture_resources(struct mr_mcp_exchange *ex, struct mr_out *out);
void mr_mcp_fixture_templates(struct mr_mcp_exchange *ex, struct mr_out *out);
bool mr_mcp_fixture_is_prompt(const char *name);
/* Of a prompt that is one: emits the members of the result. */
MR_CHECK enum mr_code mr_mcp_fixture_prompt(struct mr_mcp_exchange *ex, const char *name,
	struct mr_out *out);
/* Emits the members of the result of reading it; false when there is no such resource. */
bool mr_mcp_fixture_read(struct mr_mcp_exchange *ex, const char *uri, struct mr_out *out);

/* A text of ours as a value. */
const struct mr_value *mr_mcp_fixture_json(struct mr_arena *arena, const char *json);
/* Its members. */
void mr_mcp_fixture_emit(struct mr_out *out, const struct mr_value *map);
#define MR_MCP_FIXTURE_PNG                                                                         \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSu" \
	"QmCC"
