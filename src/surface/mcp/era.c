/*
 * surface/mcp/era.c - Tells whether an HTTP request speaks protocol 2026-07-28 or an earlier one,
 * and checks its headers against its body.
 */
#include "surface/mcp/era.h"

#include "surface/mcp/claim.h"
#include "text/token.h"

#include <string.h>

static const struct mr_value *version_of(const struct mr_rpc *message)
{
	return mr_value_get(mr_value_get(message->params, "_meta"),
		"io.modelcontextprotocol/protocolVersion");
}

bool mr_mcp_era_is_modern(const struct mr_rpc *message)
{
	return message->kind != MR_RPC_RESPONSE && version_of(message);
}

/* ---- headers ---- */

/* The bytes of padded base64, or NULL. */
static const char *decode(struct mr_arena *arena, const char *text, size_t len)
{
	char *url = mr_arena_strndup(arena, text, len);
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (len % 4 != 0 || strpbrk(url, "-_"))
		return NULL;
	for (unsigned i = 0; i < 2 && len && url[len - 1] == '='; i++)
		url[--len] = '\0';
	for (size_t i = 0; i < len; i++)
		url[i] = (char)(url[i] == '+' ? '-' : url[i] == '/' ? '_' : url[i]);
	if (mr_token_base64url_decode(arena, url, &bytes, &ignored) ||
		strlen((const char *)bytes.data) != bytes.len)
		return NULL;
	return (const char *)bytes.data;
}

bool mr_mcp_era_header_says(const struct mr_http_request *req, const char *name, const char *value)
{
	static const char before[] = "=?base64?", after[] = "?=";
	const size_t wrapping = sizeof(before) - 1 + sizeof(after) - 1;
	const char *text = mr_http_request_header(req, name);

	if (!text || !value)
		return !text && !value;
	text = mr_str_trim(req->arena, text);
	if (mr_str_starts(text, before) && mr_str_ends(text, after) && strlen(text) >= wrapping)
		text = decode(req->arena, text + sizeof(before) - 1, strlen(text) - wrapping);
	return text && strcmp(text, value) == 0;
}

/* What the header Mcp-Name repeats; NULL: nothing, or no text. */
static const char *name_of(const struct mr_rpc *message, bool *has_name)
{
	const struct mr_value *value = NULL;

	*has_name = true;
	if (mr_str_eq(message->method, "tools/call") || mr_str_eq(message->method, "prompts/get"))
		value = mr_value_get(message->params, "name");
	else if (mr_str_eq(message->method, "resources/read"))
		value = mr_value_get(message->params, "uri");
	else
		*has_name = false;
	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static const char *wrong_header(const struct mr_http_request *req, const struct mr_rpc *message,
	const char *version)
{
	bool has_name;
	const char *name = name_of(message, &has_name);

	if (!mr_mcp_era_header_says(req, "MCP-Protocol-Version", version))
		return "MCP-Protocol-Version";
	if (!mr_mcp_era_header_says(req, "Mcp-Method", message->method))
		return "Mcp-Method";
	if (has_name && !mr_mcp_era_header_says(req, "Mcp-Name", name))
		return "Mcp-Name";
	return NULL;
}

/* An argument as a header says it; NULL for none. */
static const char *header_text(struct mr_arena *arena, const struct mr_value *value)
{
	if (!value)
		return NULL;
	switch (value->kind) {
	case MR_TEXT:
		return value->text;
	case MR_INT:
		return mr_arena_printf(arena, "%lld", (long long)value->integer);
	case MR_BOOL:
		return value->boolean ? "true" : "false";
	default:
		return NULL;
	}
}

const char *mr_mcp_era_wrong_param(const struct mr_http_request *req, const struct mr_value *schema,
	const struct mr_value *arguments)
{
	const struct mr_value *properties = mr_value_get(schema, "properties");

	for (size_t i = 0; properties && i < properties->map.len; i++) {
		const struct mr_pair *pair = &properties->map.pairs[i];
		const struct mr_value *header = mr_value_get(&pair->value, "x-mcp-header");
		const char *name;

		if (!header || header->kind != MR_TEXT)
			continue;
		name = mr_arena_printf(req->arena, "Mcp-Param-%s", header->text);
		if (!mr_mcp_era_header_says(req, name,
			    header_text(req->arena, mr_value_get(arguments, pair->key))))
			return name;
	}
	return NULL;
}

/* ---- the body ---- */

static bool object(struct mr_mcp_objection *out, int code, const char *message,
	const struct mr_value *data)
{
	*out = (struct mr_mcp_objection){ code, message, data };
	return false;
}

bool mr_mcp_era_check(const struct mr_http_request *req, const struct mr_rpc *message,
	struct mr_mcp_client *client, struct mr_mcp_objection *out)
{
	const struct mr_value *version = version_of(message);
	struct mr_mcp_claim claim;
	const char *wrong;

	if (message->kind != MR_RPC_REQUEST)
		return true;
	if (!version) {
		if (mr_str_eq(message->method, "initialize") ||
			!mr_mcp_era_header_says(req, "MCP-Protocol-Version", MR_MCP_MODERN))
			return true;
		return object(out, MR_RPC_PARAMS,
			"params._meta must have the protocol version and the client's capabilities",
			NULL);
	}
	wrong = version->kind == MR_TEXT ? wrong_header(req, message, version->text) : NULL;
	if (wrong)
		return object(out, MR_RPC_HEADERS,
			mr_arena_printf(req->arena, "the header %s does not match the body", wrong),
			NULL);
	mr_mcp_claim(req->arena, message->params, &claim);
	if (claim.rpc_code)
		return object(out, claim.rpc_code, claim.message, claim.data);
	*client = claim.client;
	return true;
}
