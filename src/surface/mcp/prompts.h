/* surface/mcp/prompts.h - the prompts: a text with places for arguments. */
#pragma once

#include "surface/mcp/method.h"

enum { MR_MCP_PROMPT_ARGUMENTS = 4 };

struct mr_mcp_prompt {
	const char *name, *title, *description;
	struct {
		const char *name, *description;
	} arguments[MR_MCP_PROMPT_ARGUMENTS]; /* all are needed */
	const char *text;                     /* with {name} where one goes */
};

/* NULL when there is none. */
const struct mr_mcp_prompt *mr_mcp_prompt_find(const char *name);
/* As an item of the list. */
void mr_mcp_prompt_emit(struct mr_out *out, const struct mr_mcp_prompt *prompt);
