/* tests/unit/surface/test_openapi.c */
#include "surface/http/openapi.h"

#include "test.h"

static const struct mr_param params[] = {
	{ .name = "who", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED, .summary = "whom to greet" },
	{ 0 },
};

static const struct mr_field fields[] = {
	{ .name = "text", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_op greet = { .name = "greet",
	.summary = "Say hello",
	.help = "Use it often.",
	.cluster = "manners",
	.params = params,
	.result = fields,
	.surfaces = MR_ON_MCP };
static const struct mr_op ready = { .name = "ready",
	.route = "GET /ready",
	.summary = "Say yes",
	.result = fields,
	.surfaces = MR_ON_HTTP };
static const struct mr_op hidden = { .name = "hidden",
	.command = "hidden",
	.summary = "Not over HTTP",
	.surfaces = MR_ON_CLI };
static const struct mr_op *const ops[] = { &greet, &ready, &hidden };
static const struct mr_op_table table = { ops, 3 };

static const struct mr_value *at(const struct mr_value *value, const char *const *keys)
{
	for (; *keys; keys++) {
		value = mr_value_get(value, *keys);
		if (!value)
			test_fail(__FILE__, __LINE__, "there is no %s", *keys);
	}
	return value;
}

#define AT(value, ...) at(value, (const char *const[]){ __VA_ARGS__, NULL })

static void routes_and_tools_are_described(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *document, *paths, *post, *get;
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_openapi_write(arena, &out, &table);
	document = mr_out_tree(&out);
	CHECK_STR(AT(document, "openapi")->text, "3.1.0");
	CHECK_STR(AT(document, "info", "version")->text, MR_VERSION);
	paths = AT(document, "paths");
	CHECK_INT(paths->map.len, 2);
	post = AT(paths, "/api/tools/greet", "post");
	CHECK_STR(AT(post, "operationId")->text, "greet");
	CHECK_STR(AT(post, "description")->text, "Use it often.");
	CHECK_STR(AT(post, "tags")->list.items[0].text, "manners");
	CHECK_STR(AT(post, "requestBody", "content", "application/json", "schema", "properties",
			  "who", "type")
			  ->text,
		"string");
	CHECK_STR(AT(post, "responses", "200", "content", "application/json", "schema",
			  "properties", "text", "type")
			  ->text,
		"string");
	get = AT(paths, "/ready", "get");
	CHECK_STR(AT(get, "summary")->text, "Say yes");
	CHECK(!mr_value_get(get, "requestBody") && !mr_value_get(get, "tags"));
	CHECK(AT(get, "responses", "default", "description")->text);
}

int main(void)
{
	static const struct test tests[] = { TEST(routes_and_tools_are_described) };

	return test_main(tests, MR_LEN(tests));
}
