/* tests/unit/surface/mcp_world.h - an MCP server without a transport, over a real team's storage.
 */
#pragma once

#include "surface/mcp/mcp.h"

struct mcp_world {
	struct mr_arena *arena;
	struct mr_app app;
	struct mr_mcp *mcp;
	struct mr_mcp_client client; /* change it: another era, a listener */
	bool may_write;              /* true at first */
};

/* In test_dir(). `settings` are "key=value", NULL-terminated, or NULL. */
void mcp_open(struct mcp_world *world, const char *const *settings);
void mcp_close(struct mcp_world *world);

/* The whole response to a request; `params` is JSON. */
const struct mr_value *mcp_say(struct mcp_world *world, const char *method, const char *params);
/* Its result; an error fails the test. */
const struct mr_value *mcp_result(struct mcp_world *world, const char *method, const char *params);
/* The code of its error; a result fails the test. */
int mcp_error(struct mcp_world *world, const char *method, const char *params);
/* tools/call: the result; `arguments` is JSON. */
const struct mr_value *mcp_call(struct mcp_world *world, const char *tool, const char *arguments);
/* What it answers; a failure fails the test. */
const struct mr_value *mcp_tool(struct mcp_world *world, const char *tool, const char *arguments);
/* It fails: the type in its envelope. */
const char *mcp_failure(struct mcp_world *world, const char *tool, const char *arguments);
/* resources/read: the value in its text. */
const struct mr_value *mcp_read(struct mcp_world *world, const char *uri);

/* /p/backend with GreenCastle and RedCat, /p/frontend with BlueLake; mail 1 from GreenCastle to
 * RedCat in the thread T, urgent, to be acknowledged. */
void mcp_scene(struct mcp_world *world);

/* Below a value: "messages.0.id"; NULL when there is nothing. */
const struct mr_value *mcp_get(const struct mr_value *value, const char *path);
const char *mcp_text(const struct mr_value *value, const char *path);
int64_t mcp_int(const struct mr_value *value, const char *path);
