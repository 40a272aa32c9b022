/*
 * surface/mcp/ask.h - questions to the client that must be answered before a request can be.
 *
 * In the first generation the question goes out on the request's stream and the handler waits. In
 * the second the answer is that input is required, and the client sends the request again with what
 * was asked for; what the handler wants to remember until then travels with the client, sealed, so
 * that it comes back unchanged or not at all, and for this request only. A handler works the same
 * in both: it asks all its questions, and while an answer is missing returns mr_mcp_ask_later().
 */
#pragma once

#include "surface/mcp/mcp.h"

enum { MR_MCP_STATE_S = 600 }; /* after which what was remembered is not taken back */

/* Did the client say that it can be asked this? */
bool mr_mcp_can_ask(const struct mr_mcp_exchange *ex, const char *method);
/*
 * Ask; `key` names the question, `params` may be NULL. `*out` is the client's result, in the
 * exchange's arena, or NULL when it is not there yet. A client that cannot be asked this is
 * refused.
 */
MR_CHECK enum mr_code mr_mcp_ask(struct mr_mcp_exchange *ex, const char *key, const char *method,
	const struct mr_value *params, const struct mr_value **out);
/* What a handler returns while an answer is missing. */
enum mr_code mr_mcp_ask_later(struct mr_mcp_exchange *ex);

/* What mr_mcp_ask_keep() kept at the previous attempt; NULL at the first one. */
const struct mr_value *mr_mcp_ask_state(const struct mr_mcp_exchange *ex);
/* Keep this until the client repeats the request. The client can read it. */
void mr_mcp_ask_keep(struct mr_mcp_exchange *ex, const struct mr_value *state);

/* ---- for mr_mcp_answer() ---- */

/* Read what the client sent back; a broken seal, or the seal of another request, is refused. */
MR_CHECK enum mr_code mr_mcp_ask_begin(struct mr_mcp_exchange *ex, const char *method);
/* Must something be asked? */
bool mr_mcp_ask_is_due(const struct mr_mcp_exchange *ex);
/* The members of the result that says so. */
void mr_mcp_ask_emit(struct mr_mcp_exchange *ex, struct mr_out *out);
