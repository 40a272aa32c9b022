/* surface/http/cors.c - Answers CORS preflight requests and adds CORS headers to responses. */
#include "surface/http/cors.h"

#include <string.h>
#include <strings.h>

enum { ECHO_BYTES = 1024 };

bool mr_http_cors_is_any(const struct mr_http_cors *cors)
{
	return cors->is_enabled && mr_texts_has(&cors->origins, "*");
}

static bool lists(const struct mr_http_cors *cors, const char *origin)
{
	for (size_t i = 0; i < cors->origins.len; i++) {
		if (strcasecmp(cors->origins.items[i], origin) == 0)
			return true;
	}
	return false;
}

/* What Access-Control-Allow-Origin says; NULL when nothing. */
static const char *allowed_origin(const struct mr_http_cors *cors, const char *origin)
{
	bool is_wild = cors->origins.len == 0 || mr_http_cors_is_any(cors);

	if (!origin || !(is_wild || lists(cors, origin)))
		return NULL;
	return is_wild && !cors->with_credentials ? "*" : origin;
}

void mr_http_cors_mark(const struct mr_http_cors *cors, const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const char *allowed;

	if (!cors->is_enabled)
		return;
	allowed = allowed_origin(cors, mr_http_request_header(req, "Origin"));
	mr_http_response_header(resp, "Vary", "Origin");
	if (!allowed)
		return;
	mr_http_response_header(resp, "Access-Control-Allow-Origin", allowed);
	if (cors->with_credentials)
		mr_http_response_header(resp, "Access-Control-Allow-Credentials", "true");
	mr_http_response_header(resp, "Access-Control-Expose-Headers",
		"Mcp-Session-Id, MCP-Protocol-Version");
}

/* Only names and commas: the text is echoed in a header. */
static bool is_list_of_names(const char *text)
{
	size_t len = strnlen(text, ECHO_BYTES + 1);

	return len <= ECHO_BYTES &&
		strspn(text,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_, ") ==
		len;
}

static const char *allowed_methods(struct mr_arena *arena, const struct mr_http_cors *cors)
{
	if (mr_texts_has(&cors->methods, "*"))
		return "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
	return mr_str_join(arena, &cors->methods, ", ");
}

static const char *allowed_headers(struct mr_arena *arena, const struct mr_http_cors *cors,
	const struct mr_http_request *req)
{
	const char *asked = mr_http_request_header(req, "Access-Control-Request-Headers");

	if (!mr_texts_has(&cors->headers, "*"))
		return mr_str_join(arena, &cors->headers, ", ");
	/* A browser does not take "*" for Authorization: what it asked for is named. */
	return asked && is_list_of_names(asked) ? asked : NULL;
}

bool mr_http_cors_preflight(const struct mr_http_cors *cors, const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const char *headers;

	if (!cors->is_enabled || strcmp(req->method, "OPTIONS") != 0 ||
		!mr_http_request_header(req, "Origin") ||
		!mr_http_request_header(req, "Access-Control-Request-Method"))
		return false;
	resp->status = 204;
	mr_http_response_header(resp, "Vary",
		"Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
	if (!mr_http_response_get_header(resp, "Access-Control-Allow-Origin"))
		return true;
	mr_http_response_header(resp, "Access-Control-Allow-Methods",
		allowed_methods(resp->arena, cors));
	headers = allowed_headers(resp->arena, cors, req);
	if (!mr_str_is_empty(headers))
		mr_http_response_header(resp, "Access-Control-Allow-Headers", headers);
	mr_http_response_header(resp, "Access-Control-Max-Age", "600");
	return true;
}
