/* surface/mcp/rpc.c - Reads and writes JSON-RPC 2.0 messages. */
#include "surface/mcp/rpc.h"

#include "base/attr.h"

#include <string.h>

bool mr_rpc_is_id(const struct mr_value *id)
{
	return id &&
		(id->kind == MR_INT ||
			(id->kind == MR_TEXT && strlen(id->text) <= MR_RPC_ID_BYTES));
}

static const char *read_call(const struct mr_value *value, struct mr_rpc *out)
{
	const struct mr_value *params = mr_value_get(value, "params");
	const struct mr_value *id = mr_value_get(value, "id");

	if (params && params->kind != MR_MAP)
		return "params must be an object";
	if (id && !out->id)
		return "id must be a string (of at most 1024 bytes) or an integer";
	out->kind = id ? MR_RPC_REQUEST : MR_RPC_NOTIFICATION;
	out->params = params;
	return NULL;
}

const char *mr_rpc_read(const struct mr_value *value, struct mr_rpc *out)
{
	const struct mr_value *version = mr_value_get(value, "jsonrpc");
	const struct mr_value *method = mr_value_get(value, "method");
	const struct mr_value *id = mr_value_get(value, "id");

	*out = (struct mr_rpc){ .id = mr_rpc_is_id(id) ? id : NULL };
	if (!value || value->kind != MR_MAP)
		return "a message must be an object";
	if (!version || version->kind != MR_TEXT || !mr_str_eq(version->text, "2.0"))
		return "jsonrpc must be \"2.0\"";
	if (method) {
		if (method->kind != MR_TEXT)
			return "method must be a string";
		out->method = method->text;
		return read_call(value, out);
	}
	out->result = mr_value_get(value, "result");
	out->error = mr_value_get(value, "error");
	if (!out->result == !out->error)
		return "a message needs a method, a result or an error";
	if (out->error && out->error->kind != MR_MAP)
		return "error must be an object";
	if (!out->id && out->result)
		return "a response needs the id it answers";
	out->kind = MR_RPC_RESPONSE;
	return NULL;
}

void mr_rpc_begin(struct mr_out *out, const struct mr_value *id)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "jsonrpc", "2.0");
	if (id)
		mr_out_value(out, "id", id);
	else
		mr_out_null(out, "id");
}

void mr_rpc_error(struct mr_out *out, const struct mr_value *id, int code, const char *message,
	const struct mr_value *data)
{
	mr_rpc_begin(out, id);
	mr_out_map(out, "error");
	mr_out_int(out, "code", code);
	mr_out_text(out, "message", message);
	if (data)
		mr_out_value(out, "data", data);
	mr_out_end(out);
	mr_out_end(out);
}

void mr_rpc_begin_call(struct mr_out *out, const char *id, const char *method)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "jsonrpc", "2.0");
	if (id)
		mr_out_text(out, "id", id);
	mr_out_text(out, "method", method);
}
