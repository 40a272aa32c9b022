/* surface/mcp/mcp.c - the state of an MCP server, and helpers for its methods. */
#include "surface/mcp/mcp.h"

#include "base/attr.h"
#include "base/oom.h"
#include "op/team/contract_team.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/recent.h"
#include "text/digest.h"
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

void mr_mcp_share_secret(struct mr_mcp *mcp, const char *secret)
{
	mr_digest_sha256_bytes(mr_bytes_text(secret), mcp->secret);
}

bool mr_mcp_knows_version(const char *version)
{
	for (size_t i = 0; i < MR_LEN(versions); i++) {
		if (mr_str_eq(versions[i], version))
			return true;
	}
	return false;
}

bool mr_mcp_is_structured(const struct mr_mcp_client *client)
{
	/* Versions are dates. */
	return client->is_silent || strcmp(client->version, "2025-06-18") >= 0;
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

enum mr_code mr_mcp_open_team(struct mr_mcp_exchange *ex)
{
	return ex->team ? MR_OK : mr_contract_team_open(&ex->call, &ex->team);
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
	return mr_mcp_refuse(ex, MR_RPC_PARAMS, "the cursor is not from this list");
}

void mr_mcp_page_next(struct mr_mcp_exchange *ex, struct mr_out *out, const char *last_name)
{
	mr_out_text(out, "nextCursor",
		mr_token_base64url(ex->call.cx.arena, mr_bytes_text(last_name)));
}

void mr_mcp_take_token(struct mr_mcp_exchange *ex)
{
	const char *token = text_in(mr_value_get(ex->params, "_meta"), "mailroom/agent_token");

	if (token && !ex->call.agent_token)
		ex->call.agent_token = token;
}
