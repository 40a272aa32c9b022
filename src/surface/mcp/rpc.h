/* surface/mcp/rpc.h - JSON-RPC 2.0: what a message is, and how one is written. Pure. */
#pragma once

#include "base/buf.h"
#include "text/out.h"
#include "text/value.h"

enum mr_rpc_code {
	MR_RPC_PARSE = -32700,
	MR_RPC_INVALID = -32600,
	MR_RPC_METHOD = -32601,
	MR_RPC_PARAMS = -32602,
	MR_RPC_INTERNAL = -32603,
	MR_RPC_TRANSPORT = -32000,  /* a header, a session that is missing */
	MR_RPC_SESSION = -32001,    /* a session that is not, or no longer, there */
	MR_RPC_RESOURCE = -32002,   /* no such resource, up to 2025-11-25 */
	MR_RPC_HEADERS = -32020,    /* header and body differ (2026-07-28) */
	MR_RPC_CAPABILITY = -32021, /* the client cannot do what is needed */
	MR_RPC_VERSION = -32022,    /* a version nobody speaks */
};

enum { MR_RPC_ID_BYTES = 1024 }; /* it is said again with all that belongs to the request */

enum mr_rpc_kind { MR_RPC_REQUEST, MR_RPC_NOTIFICATION, MR_RPC_RESPONSE };

struct mr_rpc {
	enum mr_rpc_kind kind;
	const struct mr_value *id; /* a text or an integer; NULL of a notification */
	const char *method;        /* NULL of a response */
	const struct mr_value *params;
	const struct mr_value *result, *error; /* of a response, one of them */
};

/* A text that is not too long, or an integer: what ids and progress tokens are. NULL is none. */
bool mr_rpc_is_id(const struct mr_value *id);
/* What is wrong with it as a message, or NULL; then `*out` is set. `out->id` is set as far as it
 * could be read, so that the answer can name it. */
const char *mr_rpc_read(const struct mr_value *value, struct mr_rpc *out);

/* {"jsonrpc":"2.0","id":…, and the key of what follows: the caller emits one map named "result",
 * then mr_out_end(). */
void mr_rpc_begin(struct mr_out *out, const struct mr_value *id);
/* A whole error response; `id` NULL is null, `data` may be NULL. */
void mr_rpc_error(struct mr_out *out, const struct mr_value *id, int code, const char *message,
	const struct mr_value *data);
/* {"jsonrpc":"2.0","method":…: the caller emits "params", then mr_out_end(). With an id it is a
 * request of ours. */
void mr_rpc_begin_call(struct mr_out *out, const char *id, const char *method);
