/*
 * surface/mcp/roots.h - the directories a client works in: roots/list.
 *
 * Only a client that started us is asked: its roots are directories of this machine, and it runs as
 * the same user. What a client across the network calls its roots allows nothing.
 */
#pragma once

#include "base/str.h"
#include "surface/mcp/mcp.h"

enum { MR_MCP_ROOTS = 64 }; /* more are not looked at */

/* The paths of a client's answer to roots/list; what is no file URI is passed over. Pure. */
struct mr_texts mr_mcp_roots_read(struct mr_arena *arena, const struct mr_value *answer);
/* For mr_reach.ask, with the exchange as its argument: ask the client that sent this request. */
MR_CHECK enum mr_code mr_mcp_roots_ask(void *exchange, struct mr_ctx *cx, struct mr_texts *out);
