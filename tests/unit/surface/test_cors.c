/* tests/unit/surface/test_cors.c */
#include "surface/http/cors.h"

#include "test.h"

#define ORIGIN "https://ui.example"

static struct mr_arena *arena;
static struct mr_http_response resp;

static struct mr_http_cors cors_of(const char *origins, bool with_credentials)
{
	return (struct mr_http_cors){
		.is_enabled = true,
		.with_credentials = with_credentials,
		.origins = mr_str_split(arena, origins, ','),
		.methods = mr_str_split(arena, "*", ','),
		.headers = mr_str_split(arena, "*", ','),
	};
}

/* Both answers, in order; whether it was a preflight. */
static bool ask(const struct mr_http_cors *cors, const char *method, const char *origin,
	const char *wanted_method, const char *wanted_headers)
{
	struct mr_http_header headers[3];
	struct mr_http_request req = { .arena = arena, .method = method, .headers = headers };

	if (origin)
		headers[req.headers_len++] = (struct mr_http_header){ "Origin", origin };
	if (wanted_method)
		headers[req.headers_len++] =
			(struct mr_http_header){ "Access-Control-Request-Method", wanted_method };
	if (wanted_headers)
		headers[req.headers_len++] =
			(struct mr_http_header){ "Access-Control-Request-Headers", wanted_headers };
	resp = (struct mr_http_response){ .arena = arena, .status = 200 };
	mr_http_cors_mark(cors, &req, &resp);
	return mr_http_cors_preflight(cors, &req, &resp);
}

static const char *said(const char *name)
{
	return mr_http_response_get_header(&resp, name);
}

static void off_says_nothing(void)
{
	struct mr_http_cors cors = { 0 };

	arena = mr_arena_new();
	CHECK(!ask(&cors, "OPTIONS", ORIGIN, "POST", NULL));
	CHECK_INT(resp.headers_len, 0);
	CHECK(!mr_http_cors_is_any(&cors));
	mr_arena_free(arena);
}

static void which_origins(void)
{
	static const struct {
		const char *origins;
		bool with_credentials;
		const char *origin, *allowed;
	} table[] = {
		{ "", false, ORIGIN, "*" },
		{ "*", false, ORIGIN, "*" },
		/* Never both. */
		{ "", true, ORIGIN, ORIGIN },
		{ "*", true, ORIGIN, ORIGIN },
		{ ORIGIN, false, ORIGIN, ORIGIN },
		{ "https://a.example," ORIGIN, true, ORIGIN, ORIGIN },
		{ "https://a.example", false, ORIGIN, NULL },
		{ ORIGIN, false, "http://ui.example", NULL },
		{ ORIGIN, false, ORIGIN ".evil.example", NULL },
		{ ORIGIN, false, NULL, NULL },
		{ "", false, NULL, NULL },
	};

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_http_cors cors = cors_of(table[i].origins, table[i].with_credentials);

		CHECK(!ask(&cors, "POST", table[i].origin, NULL, NULL));
		CHECK_STR(said("Access-Control-Allow-Origin"), table[i].allowed);
		CHECK_STR(said("Access-Control-Allow-Credentials"),
			table[i].allowed && table[i].with_credentials ? "true" : NULL);
		CHECK_STR(said("Access-Control-Expose-Headers"),
			table[i].allowed ? "Mcp-Session-Id, MCP-Protocol-Version" : NULL);
		CHECK_STR(said("Vary"), "Origin");
	}
	mr_arena_free(arena);
}

static void preflights(void)
{
	struct mr_http_cors cors;

	arena = mr_arena_new();
	cors = cors_of(ORIGIN, false);
	CHECK(ask(&cors, "OPTIONS", ORIGIN, "POST", "authorization, mcp-session-id"));
	CHECK_INT(resp.status, 204);
	CHECK_STR(said("Access-Control-Allow-Origin"), ORIGIN);
	CHECK_STR(said("Access-Control-Allow-Methods"),
		"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
	CHECK_STR(said("Access-Control-Allow-Headers"), "authorization, mcp-session-id");
	CHECK_STR(said("Access-Control-Max-Age"), "600");
	/* What cannot be a list of names is not repeated. */
	CHECK(ask(&cors, "OPTIONS", ORIGIN, "POST", "a: b"));
	CHECK_STR(said("Access-Control-Allow-Headers"), NULL);
	/* From elsewhere: an answer that allows nothing. */
	CHECK(ask(&cors, "OPTIONS", "https://evil.example", "POST", NULL));
	CHECK_INT(resp.status, 204);
	CHECK_STR(said("Access-Control-Allow-Methods"), NULL);
	/* No preflights. */
	CHECK(!ask(&cors, "OPTIONS", NULL, "POST", NULL));
	CHECK(!ask(&cors, "OPTIONS", ORIGIN, NULL, NULL));
	CHECK(!ask(&cors, "POST", ORIGIN, "POST", NULL));
	cors.methods = mr_str_split(arena, "GET,POST", ',');
	cors.headers = mr_str_split(arena, "Authorization,Accept", ',');
	CHECK(ask(&cors, "OPTIONS", ORIGIN, "PUT", "x-other"));
	CHECK_STR(said("Access-Control-Allow-Methods"), "GET, POST");
	CHECK_STR(said("Access-Control-Allow-Headers"), "Authorization, Accept");
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(off_says_nothing),
		TEST(which_origins),
		TEST(preflights),
	};

	return test_main(tests, MR_LEN(tests));
}
