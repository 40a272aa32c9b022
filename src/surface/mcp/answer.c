/* surface/mcp/answer.c - finds and runs the method of a request, and writes its response. */
#include "surface/mcp/answer.h"

#include "surface/mcp/ask.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/method.h"

#include <stdlib.h>

static void put_meta(struct mr_out *out, const struct mr_mcp_exchange *ex)
{
	bool modern = ex->client->era == MR_MCP_STATELESS;

	if (!ex->meta && !modern)
		return;
	mr_out_map(out, "_meta");
	for (size_t i = 0; ex->meta && i < ex->meta->map.len; i++)
		mr_out_value(out, ex->meta->map.pairs[i].key, &ex->meta->map.pairs[i].value);
	if (modern) {
		mr_out_map(out, "io.modelcontextprotocol/serverInfo");
		mr_out_text(out, "name", "mailroom");
		mr_out_text(out, "version", MR_VERSION);
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* What the second generation wants on every result. */
static void put_modern(struct mr_out *out, const struct mr_mcp_method_row *row)
{
	mr_out_text(out, "resultType", "complete");
	if (row->is_cachable) {
		mr_out_int(out, "ttlMs", 0);
		mr_out_text(out, "cacheScope", "private");
	}
}

static int answer_error(struct mr_mcp_exchange *ex, const struct mr_rpc *request,
	struct mr_buf *out)
{
	int code = ex->rpc_code ? ex->rpc_code : MR_RPC_INTERNAL;
	struct mr_out json;

	ex->rpc_code = code;
	mr_buf_clear(out);
	mr_out_init_json(&json, out, MR_JSON_COMPACT);
	mr_rpc_error(&json, request->id, code, ex->call.cx.err.msg, ex->rpc_data);
	return code == MR_RPC_METHOD ? 404 : code == MR_RPC_CAPABILITY ? 400 : 200;
}

/* Answer that input is required: the client must be asked something first. */
static int answer_question(struct mr_mcp_exchange *ex, const struct mr_rpc *request,
	struct mr_buf *out)
{
	struct mr_out json;

	mr_buf_clear(out);
	mr_out_init_json(&json, out, MR_JSON_COMPACT);
	mr_rpc_begin(&json, request->id);
	mr_out_map(&json, "result");
	mr_mcp_ask_emit(ex, &json);
	put_meta(&json, ex);
	mr_out_end(&json);
	mr_out_end(&json);
	return 200;
}

int mr_mcp_answer(struct mr_mcp_exchange *ex, const struct mr_rpc *request, struct mr_buf *out)
{
	const struct mr_mcp_method_row *row = mr_mcp_method_find(request->method, ex->client->era);
	const struct mr_value *meta = mr_value_get(request->params, "_meta");
	const struct mr_value *trace = mr_value_get(meta, "traceparent");
	struct mr_out json;
	enum mr_code rc;

	ex->params = request->params;
	if (trace && trace->kind == MR_TEXT)
		ex->call.traceparent = trace->text;
	mr_mcp_take_token(ex);
	if (!row) {
		mr_mcp_refuse(ex, MR_RPC_METHOD, "there is no method %.100s", request->method);
		return answer_error(ex, request, out);
	}
	mr_out_init_json(&json, out, MR_JSON_COMPACT);
	mr_rpc_begin(&json, request->id);
	mr_out_map(&json, "result");
	rc = mr_mcp_ask_begin(ex, request->method);
	if (!rc)
		rc = row->run(ex, &json);
	if (rc && mr_mcp_ask_is_due(ex) && !ex->rpc_code)
		return answer_question(ex, request, out);
	if (rc)
		return answer_error(ex, request, out);
	if (ex->client->era == MR_MCP_STATELESS)
		put_modern(&json, row);
	put_meta(&json, ex);
	mr_out_end(&json);
	mr_out_end(&json);
	if (out->failed) {
		mr_mcp_refuse(ex, MR_RPC_INTERNAL,
			"the answer is longer than %zu bytes: ask for less (limit, max_chars)",
			out->max);
		return answer_error(ex, request, out);
	}
	return 200;
}

struct mr_mcp_options mr_mcp_options_of(void)
{
	return (struct mr_mcp_options){
		.fixtures = getenv("MCP_CONFORMANCE_FIXTURES") ? mr_mcp_fixtures() : NULL,
	};
}

bool mr_mcp_is_long(const struct mr_mcp *mcp, const struct mr_mcp_client *client,
	const struct mr_rpc *request)
{
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(mcp)->fixtures;

	return mr_str_eq(request->method, "tools/call") &&
		(mr_mcp_tools_is_long(mcp, client, request) ||
			(fixtures && fixtures->is_long(client, request->params)));
}
