/*
 * surface/mcp/claim.h - what a request of the second generation says of itself. Pure.
 *
 * It stands in params._meta: the protocol's version and what the client can do, always; its name
 * and how much it wants to hear, when it likes. A request without it is of the first generation.
 */
#pragma once

#include "surface/mcp/mcp.h"

struct mr_mcp_claim {
	bool is_made;                /* else nothing below is set */
	struct mr_mcp_client client; /* session and listener are the transport's to fill in */
	/* When it cannot be accepted: the JSON-RPC error; 0 when it can. */
	int rpc_code;
	const char *message;
	const struct mr_value *data; /* or NULL */
};

/* Texts stay in `params`; the error's are in `arena`. */
void mr_mcp_claim(struct mr_arena *arena, const struct mr_value *params, struct mr_mcp_claim *out);
