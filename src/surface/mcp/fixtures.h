/*
 * surface/mcp/fixtures.h - what the protocol's conformance tests expect a server to have: tools,
 * prompts and resources of no use to anybody else.
 *
 * They are only in a build with -Dfixtures=true (fixtures.c, fixture_tools.c); in a build for users
 * mr_mcp_fixtures() has nothing to give (fixtures_off.c).
 */
#pragma once

#include "surface/mcp/method.h"

struct mr_mcp_fixtures {
	/* Items of the list of tools. */
	void (*tools)(struct mr_mcp_exchange *ex, struct mr_out *out);
	bool (*is_tool)(const char *name);
	/* Does the tool of a tools/call with these params speak to the client before it answers? */
	bool (*is_long)(const struct mr_mcp_client *client, const struct mr_value *params);
	/* Its input schema; NULL when there is no such tool. */
	const struct mr_value *(*schema)(struct mr_arena *arena, const char *name);
	/* Of a tool that is one: emits the members of its result. */
	enum mr_code (*call)(struct mr_mcp_exchange *ex, const char *name,
		const struct mr_value *arguments, struct mr_out *out);

	/* Items of the lists of prompts, resources and templates. */
	void (*prompts)(struct mr_mcp_exchange *ex, struct mr_out *out);
	void (*resources)(struct mr_mcp_exchange *ex, struct mr_out *out);
	void (*templates)(struct mr_mcp_exchange *ex, struct mr_out *out);
	bool (*is_prompt)(const char *name);
	/* Of a prompt that is one: emits the members of the result. */
	enum mr_code (*prompt)(struct mr_mcp_exchange *ex, const char *name, struct mr_out *out);
	/* Emits the members of the result of reading it; false when there is no such resource. */
	bool (*read)(struct mr_mcp_exchange *ex, const char *uri, struct mr_out *out);
};

/* NULL in a build without them. */
const struct mr_mcp_fixtures *mr_mcp_fixtures(void);
