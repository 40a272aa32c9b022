/* tests/unit/surface/test_route.c */
#include "surface/http/route.h"

#include "test.h"

#include <string.h>

static void nothing(const struct mr_http_request *req, struct mr_http_response *resp)
{
	(void)req;
	(void)resp;
}

static const struct mr_http_route routes[] = {
	{ "GET", "/", nothing, 0 },
	{ "GET", "/health", nothing, MR_ROUTE_INLINE },
	{ "POST", "/mcp", nothing, MR_ROUTE_SLASH },
	{ "GET", "/mcp", nothing, MR_ROUTE_SLASH },
	{ "DELETE", "/mcp", nothing, MR_ROUTE_SLASH },
	{ "GET", "/mail/projects", nothing, 0 },
	{ "GET", "/mail/{project}", nothing, 0 },
	{ "POST", "/mail/{project}/inbox/{agent}/mark-read", nothing, 0 },
	{ "GET", "/files/{path...}", nothing, 0 },
	{ "PUT", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}", nothing, 0 },
};

struct expected {
	const char *method;
	const char *path;
	int status;
	const char *pattern; /* or Allow for 405 */
	const char *value;   /* of the first parameter */
};

static void finds(const struct expected *want)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_match match;
	int status = mr_http_route_match(arena, routes, MR_LEN(routes), want->method, want->path,
		&match);

	if (status != want->status)
		test_fail(__FILE__, __LINE__, "%s %s: %d, not %d", want->method, want->path, status,
			want->status);
	if (status == 200)
		CHECK_STR(match.route->pattern, want->pattern);
	else
		CHECK(!match.route);
	CHECK_STR(match.allow, status == 405 ? want->pattern : NULL);
	CHECK_STR(match.len ? match.params[0].value : NULL, want->value);
}

static void matches(void)
{
	static const struct expected table[] = {
		{ "GET", "/", 200, "/", NULL },
		{ "GET", "/health", 200, "/health", NULL },
		{ "HEAD", "/health", 200, "/health", NULL },
		{ "GET", "/health/", 404, NULL, NULL },
		{ "GET", "/healthy", 404, NULL, NULL },
		{ "GET", "/healt", 404, NULL, NULL },
		{ "GET", "/Health", 404, NULL, NULL },
		{ "GET", "/he%61lth", 404, NULL, NULL },
		{ "GET", "//", 404, NULL, NULL },
		{ "GET", "//health", 404, NULL, NULL },
		{ "POST", "/mcp", 200, "/mcp", NULL },
		{ "POST", "/mcp/", 200, "/mcp", NULL },
		{ "POST", "/mcp//", 404, NULL, NULL },
		{ "GET", "/mail/projects", 200, "/mail/projects", NULL },
		{ "GET", "/mail/projects2", 200, "/mail/{project}", "projects2" },
		{ "GET", "/mail/", 404, NULL, NULL },
		{ "GET", "/mail/a/b", 404, NULL, NULL },
		{ "POST", "/mail/p/inbox/Blue%20Fox/mark-read", 200,
			"/mail/{project}/inbox/{agent}/mark-read", "p" },
		{ "POST", "/mail//inbox/a/mark-read", 404, NULL, NULL },
		{ "POST", "/health", 405, "GET, HEAD", NULL },
		{ "PATCH", "/mcp/", 405, "POST, GET, HEAD, DELETE", NULL },
		{ "DELETE", "/mail/x", 405, "GET, HEAD", NULL },
		{ "get", "/health", 405, "GET, HEAD", NULL },
		{ "OPTIONS", "*", 400, NULL, NULL },
		{ "GET", "", 400, NULL, NULL },
		{ "GET", "health", 400, NULL, NULL },
		{ "GET", "http://localhost/health", 400, NULL, NULL },
	};

	for (size_t i = 0; i < MR_LEN(table); i++)
		finds(&table[i]);
}

static void decodes_once(void)
{
	static const struct expected table[] = {
		{ "GET", "/mail/a%20b", 200, "/mail/{project}", "a b" },
		{ "GET", "/mail/a+b", 200, "/mail/{project}", "a+b" },
		{ "GET", "/mail/%2541", 200, "/mail/{project}", "%41" },
		{ "GET", "/mail/%c3%A4", 200, "/mail/{project}", "\xc3\xa4" },
		{ "GET", "/mail/a%3Fb%23c", 200, "/mail/{project}", "a?b#c" },
		{ "GET", "/mail/...", 200, "/mail/{project}", "..." },
		{ "GET", "/mail/{project}", 200, "/mail/{project}", "{project}" },
		{ "GET", "/files/a/b%20c/d", 200, "/files/{path...}", "a/b c/d" },
		{ "GET", "/files/a//b/", 200, "/files/{path...}", "a//b/" },
		{ "GET", "/files/", 404, NULL, NULL },
		{ "GET", "/mail/%", 400, NULL, NULL },
		{ "GET", "/mail/%4", 400, NULL, NULL },
		{ "GET", "/mail/a%4g", 400, NULL, NULL },
		{ "GET", "/mail/a%g4", 400, NULL, NULL },
		{ "GET", "/mail/a%00b", 400, NULL, NULL },
		{ "GET", "/mail/a%2Fb", 400, NULL, NULL },
		{ "GET", "/mail/a%2fb", 400, NULL, NULL },
		{ "GET", "/mail/%ff", 400, NULL, NULL },
		{ "GET", "/mail/\xc3", 400, NULL, NULL },
		{ "GET", "/mail/..", 400, NULL, NULL },
		{ "GET", "/mail/%2e%2E", 400, NULL, NULL },
		{ "GET", "/mail/.", 400, NULL, NULL },
		{ "GET", "/files/a/../b", 400, NULL, NULL },
		{ "GET", "/files/a/%2e%2e", 400, NULL, NULL },
		{ "GET", "/files/..%2f..%2fetc", 400, NULL, NULL },
		{ "GET", "/files/a%2Fb", 400, NULL, NULL },
	};

	for (size_t i = 0; i < MR_LEN(table); i++)
		finds(&table[i]);
}

static void names_all_parameters(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_match match;

	CHECK_INT(mr_http_route_match(arena, routes, MR_LEN(routes), "POST",
			  "/mail/p/inbox/Blue%20Fox/mark-read", &match),
		200);
	CHECK_INT(match.len, 2);
	CHECK_STR(match.params[0].name, "project");
	CHECK_STR(match.params[1].name, "agent");
	CHECK_STR(match.params[1].value, "Blue Fox");

	CHECK_INT(mr_http_route_match(arena, routes, MR_LEN(routes), "PUT", "/1/2/3/4/5/6/7/8",
			  &match),
		200);
	CHECK_INT(match.len, 8);
	CHECK_STR(match.params[7].name, "h");
	CHECK_STR(match.params[7].value, "8");
}

static void bounds_the_path(void)
{
	static char path[MR_ROUTE_PATH_BYTES + 2] = "/mail/";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_match match;

	memset(path + 6, 'a', sizeof(path) - 7);
	CHECK_INT(mr_http_route_match(arena, routes, MR_LEN(routes), "GET", path, &match), 414);
	path[MR_ROUTE_PATH_BYTES] = '\0';
	CHECK_INT(mr_http_route_match(arena, routes, MR_LEN(routes), "GET", path, &match), 200);
}

static void checks_the_table(void)
{
	static const struct {
		struct mr_http_route route;
		const char *why;
	} table[] = {
		{ { "GET", "health", nothing, 0 }, "route 0, health: it must start with /" },
		{ { "GET", "", nothing, 0 }, "route 0, : it must start with /" },
		{ { "GET", "/a//b", nothing, 0 }, "route 0, /a//b: it has an empty segment" },
		{ { "GET", "/a/", nothing, 0 }, "route 0, /a/: it has an empty segment" },
		{ { "GET", "/a{b}", nothing, 0 },
			"route 0, /a{b}: a parameter must be the whole segment" },
		{ { "GET", "/{b}c", nothing, 0 },
			"route 0, /{b}c: a parameter must be the whole segment" },
		{ { "GET", "/{b", nothing, 0 },
			"route 0, /{b: a parameter must be the whole segment" },
		{ { "GET", "/{}", nothing, 0 },
			"route 0, /{}: a parameter's name is made of a-z, 0-9 and _" },
		{ { "GET", "/{...}", nothing, 0 },
			"route 0, /{...}: a parameter's name is made of a-z, 0-9 and _" },
		{ { "GET", "/{a b}", nothing, 0 },
			"route 0, /{a b}: a parameter's name is made of a-z, 0-9 and _" },
		{ { "GET", "/{a...}/b", nothing, 0 },
			"route 0, /{a...}/b: only the last segment may be {name...}" },
		{ { "GET", "/{a}/{a}/{a}/{a}/{a}/{a}/{a}/{a}/{a}", nothing, 0 },
			"route 0, /{a}/{a}/{a}/{a}/{a}/{a}/{a}/{a}/{a}: it has too many "
			"parameters" },
		{ { "", "/a", nothing, 0 }, "route 0, /a: it has no method" },
		{ { "GET", "/a", NULL, 0 }, "route 0, /a: it has no handler" },
	};
	struct mr_err err;

	CHECK_OK(mr_http_route_check(routes, MR_LEN(routes), &err), err);
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK(mr_http_route_check(&table[i].route, 1, &err) == MR_EINVAL);
		CHECK_STR(err.msg, table[i].why);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(matches),
		TEST(decodes_once),
		TEST(names_all_parameters),
		TEST(bounds_the_path),
		TEST(checks_the_table),
	};
	return test_main(tests, MR_LEN(tests));
}
