/*
 * surface/http/discovery.c - Serves the OAuth metadata under /.well-known, and builds the WWW-
 * Authenticate challenge that names it.
 */
#include "surface/http/discovery.h"

#include "op/call.h"
#include "surface/http/request.h"
#include "text/json.h"

#include <string.h>

enum { ANSWER_BYTES = 64 << 10 };

static bool is_configured(const struct mr_settings *s)
{
	return *mr_settings_text(s, "oauth.resource") &&
		mr_settings_texts(s, "oauth.authorization_servers")->len > 0;
}

/* The path of a URL with "/" in front, "" when it has none. */
static const char *path_of(const char *url)
{
	const char *host = strstr(url, "://");
	const char *path = strchr(host ? host + 3 : url, '/');

	return path && path[1] ? path : "";
}

const char *mr_discovery_challenge(struct mr_arena *arena, const struct mr_settings *settings)
{
	const char *url = mr_settings_text(settings, "oauth.resource");
	const char *path = path_of(url);
	size_t len = strlen(url) - strlen(path);

	if (!is_configured(settings) || strpbrk(url, "\"\\"))
		return NULL;
	while (len && url[len - 1] == '/')
		len--;
	return mr_arena_printf(arena,
		"Bearer resource_metadata=\"%.*s/.well-known/oauth-protected-resource%s\"",
		(int)len, url, path);
}

static void say_no_oauth(const struct mr_http_request *req, struct mr_http_response *resp)
{
	(void)req;
	mr_http_response_json(resp, 200, mr_bytes_text("{\"mcp_oauth\":false}"));
}

static void put_list(struct mr_json_writer *w, const char *key, const struct mr_texts *texts)
{
	mr_json_key(w, key);
	mr_json_begin_list(w);
	for (size_t i = 0; i < texts->len; i++)
		mr_json_text(w, texts->items[i]);
	mr_json_end(w);
}

static void describe_resource(const struct mr_http_request *req, struct mr_http_response *resp)
{
	static const char *const methods[] = { "header", NULL };
	const struct mr_settings *s = ((const struct mr_app *)req->app)->settings;
	const struct mr_texts header = { (const char **)(uintptr_t)methods, 1 };
	const struct mr_texts *scopes = mr_settings_texts(s, "oauth.scopes");
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&text, ANSWER_BYTES);
	if (!is_configured(s)) {
		mr_http_response_error(resp, 404, "Not Found");
		return;
	}
	mr_json_init(&w, &text, MR_JSON_COMPACT);
	mr_json_begin_map(&w);
	mr_json_key(&w, "resource");
	mr_json_text(&w, mr_settings_text(s, "oauth.resource"));
	put_list(&w, "authorization_servers", mr_settings_texts(s, "oauth.authorization_servers"));
	if (scopes->len)
		put_list(&w, "scopes_supported", scopes);
	put_list(&w, "bearer_methods_supported", &header);
	mr_json_end(&w);
	mr_http_response_json(resp, 200,
		mr_bytes_of(mr_arena_memdup(resp->arena, text.data, text.len), text.len));
}

const struct mr_http_route mr_discovery_routes[MR_DISCOVERY_ROUTES] = {
	{ "GET", "/.well-known/oauth-authorization-server", say_no_oauth,
		MR_ROUTE_INLINE | MR_ROUTE_OPEN | MR_ROUTE_SLASH },
	{ "GET", "/.well-known/oauth-authorization-server/{path...}", say_no_oauth,
		MR_ROUTE_INLINE | MR_ROUTE_OPEN },
	{ "GET", "/.well-known/oauth-protected-resource", describe_resource,
		MR_ROUTE_INLINE | MR_ROUTE_OPEN | MR_ROUTE_SLASH },
	{ "GET", "/.well-known/oauth-protected-resource/{path...}", describe_resource,
		MR_ROUTE_INLINE | MR_ROUTE_OPEN },
};
