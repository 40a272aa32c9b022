/* surface/mcp/method.h - the methods, each a function that emits the members of its result. */
#pragma once

#include "surface/mcp/mcp.h"

/* Emits members into the open map "result". */
typedef enum mr_code mr_mcp_method(struct mr_mcp_exchange *ex, struct mr_out *out);

struct mr_mcp_method_row {
	const char *name;
	mr_mcp_method *run;
	unsigned eras;    /* enum mr_mcp_era */
	bool is_cachable; /* the second generation wants ttlMs and cacheScope */
};

/* What the hub calls the lists of tools, prompts and resources; no resource has such a name. */
#define MR_MCP_URI_TOOLS     "mailroom:list/tools"
#define MR_MCP_URI_PROMPTS   "mailroom:list/prompts"
#define MR_MCP_URI_RESOURCES "mailroom:list/resources"

/* By name and era; NULL when there is none. */
const struct mr_mcp_method_row *mr_mcp_method_find(const char *name, enum mr_mcp_era era);

/* complete.c */
mr_mcp_method mr_mcp_complete;

/* levels.c */
mr_mcp_method mr_mcp_logging_set_level;

/* prompts.c */
mr_mcp_method mr_mcp_prompts_list;
mr_mcp_method mr_mcp_prompts_get;

/* resources.c */
mr_mcp_method mr_mcp_resources_list;
mr_mcp_method mr_mcp_resources_read;
mr_mcp_method mr_mcp_resources_subscribe;
mr_mcp_method mr_mcp_resources_templates;
mr_mcp_method mr_mcp_resources_unsubscribe;

/* tools.c */
mr_mcp_method mr_mcp_tools_list;
mr_mcp_method mr_mcp_tools_call;
/* For handlers: a value as compact JSON, and the note beside what other agents wrote. */
const char *mr_mcp_json(struct mr_arena *arena, const struct mr_value *value);
void mr_mcp_note_quotes(struct mr_mcp_exchange *ex, const struct mr_contract *contract);
/* Is the tool of this tools/call one that waits, or asks the client? */
bool mr_mcp_tools_is_long(const struct mr_mcp *mcp, const struct mr_mcp_client *client,
	const struct mr_rpc *request);
/* What the tool of this tools/call needs (enum mr_need), and its name, or NULL. */
const char *mr_mcp_tools_needs(const struct mr_mcp *mcp, const struct mr_rpc *request,
	unsigned *needs);
