/* surface/mcp/mcp.c */
#include "surface/mcp/mcp.h"

#include "app/settings.h"
#include "base/attr.h"
#include "base/oom.h"
#include "surface/mcp/ask.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/method.h"
#include "surface/mcp/recent.h"
#include "text/token.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const versions[] = { MR_MCP_VERSIONS };

enum { SECRET_BYTES = 32 };

struct mr_mcp {
	const struct mr_app *app;
	struct mr_mcp_options options;
	struct mr_mcp_hub *hub;
	struct mr_mcp_recent *recent;
	uint8_t secret[SECRET_BYTES];
};

struct mr_mcp_options mr_mcp_options_of(const struct mr_settings *settings)
{
	return (struct mr_mcp_options){
		.core_only = mr_str_eq(mr_settings_text(settings, "mcp.tools_mode"), "core"),
		.fixtures = getenv("MCP_CONFORMANCE_FIXTURES") ? mr_mcp_fixtures() : NULL,
	};
}

struct mr_mcp *mr_mcp_new(const struct mr_app *app, const struct mr_mcp_options *options)
{
	struct mr_mcp *mcp = malloc(sizeof(*mcp));

	if (!mcp)
		mr_oom(sizeof(*mcp));
	*mcp = (struct mr_mcp){ app, *options, mr_mcp_hub_new(app), mr_mcp_recent_new() };
	mr_rand_fill(app->rand, mcp->secret, sizeof(mcp->secret));
	return mcp;
}

void mr_mcp_free(struct mr_mcp *mcp)
{
	if (!mcp)
		return;
	mr_mcp_hub_free(mcp->hub);
	mr_mcp_recent_free(mcp->recent);
	free(mcp);
}

struct mr_mcp_hub *mr_mcp_hub(const struct mr_mcp *mcp)
{
	return mcp->hub;
}

struct mr_mcp_recent *mr_mcp_recent(const struct mr_mcp *mcp)
{
	return mcp->recent;
}

const struct mr_app *mr_mcp_app(const struct mr_mcp *mcp)
{
	return mcp->app;
}

const struct mr_mcp_options *mr_mcp_options(const struct mr_mcp *mcp)
{
	return &mcp->options;
}

struct mr_bytes mr_mcp_secret(const struct mr_mcp *mcp)
{
	return mr_bytes_of(mcp->secret, sizeof(mcp->secret));
}

bool mr_mcp_knows_version(const char *version)
{
	for (size_t i = 0; i < MR_LEN(versions); i++) {
		if (mr_str_eq(versions[i], version))
			return true;
	}
	return false;
}

static const char *text_in(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

void mr_mcp_hello(const struct mr_value *params, struct mr_mcp_hello *out)
{
	const struct mr_value *can = mr_value_get(params, "capabilities");
	const char *version = text_in(params, "protocolVersion");

	*out = (struct mr_mcp_hello){
		.version = version && mr_mcp_knows_version(version) ? version : MR_MCP_LATEST,
		.can_sample = mr_value_get(can, "sampling"),
		.can_elicit = mr_value_get(can, "elicitation"),
		.has_roots = mr_value_get(can, "roots"),
		.name = text_in(mr_value_get(params, "clientInfo"), "name"),
	};
}

enum mr_code mr_mcp_refuse(struct mr_mcp_exchange *ex, int rpc_code, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = mr_arena_vprintf(ex->call.cx.arena, fmt, ap);
	va_end(ap);
	ex->rpc_code = rpc_code;
	return mr_err_set(&ex->call.cx.err, MR_EINVAL, "%s", text);
}

const char *mr_mcp_param_text(const struct mr_mcp_exchange *ex, const char *key)
{
	return text_in(ex->params, key);
}

enum mr_code mr_mcp_page_from(struct mr_mcp_exchange *ex, const char *const *names, size_t count,
	size_t *from)
{
	const struct mr_value *cursor = mr_value_get(ex->params, "cursor");
	struct mr_bytes name;
	struct mr_err ignored;

	*from = 0;
	if (!cursor || cursor->kind == MR_NULL)
		return MR_OK;
	if (cursor->kind == MR_TEXT &&
		!mr_token_base64url_decode(ex->call.cx.arena, cursor->text, &name, &ignored)) {
		for (size_t i = 0; i < count; i++) {
			if (!mr_str_eq(names[i], (const char *)name.data))
				continue;
			*from = i + 1;
			return MR_OK;
		}
	}
	return mr_mcp_refuse(ex, MR_RPC_PARAMS, "that cursor is not one of this list's");
}

void mr_mcp_page_next(struct mr_mcp_exchange *ex, struct mr_out *out, const char *last_name)
{
	mr_out_text(out, "nextCursor",
		mr_token_base64url(ex->call.cx.arena, mr_bytes_text(last_name)));
}

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

/* The client must be asked something first. */
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

void mr_mcp_take_token(struct mr_mcp_exchange *ex)
{
	const char *token = text_in(mr_value_get(ex->params, "_meta"), "mailroom/agent_token");

	if (token && !ex->call.agent_token)
		ex->call.agent_token = token;
}

int mr_mcp_answer(struct mr_mcp_exchange *ex, const struct mr_rpc *request, struct mr_buf *out)
{
	const struct mr_mcp_method_row *row = mr_mcp_method_find(request->method, ex->client->era);
	const char *trace = text_in(mr_value_get(request->params, "_meta"), "traceparent");
	struct mr_out json;
	enum mr_code rc;

	ex->params = request->params;
	if (trace)
		ex->call.traceparent = trace;
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
