/* tests/unit/op/test_args.c */
#include "op/args.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

static const char *const modes[] = { "safe", "force", NULL };
static const char *const project_aliases[] = { "project_slug", NULL };

static const struct mr_param params[] = {
	{ .name = "project_key",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.aliases = project_aliases },
	{ .name = "mode", .type = MR_TYPE_TEXT, .choices = modes },
	{ .name = "limit", .type = MR_TYPE_INT, .min = 1, .max = 100 },
	{ .name = "exclusive", .type = MR_TYPE_BOOL },
	{ .name = "paths", .type = MR_TYPE_TEXTS },
	{ .name = "ids", .type = MR_TYPE_INTS },
	{ .name = "payload", .type = MR_TYPE_OBJECT },
	{ .name = "since", .type = MR_TYPE_TEXT, .flags = MR_LENIENT },
	{ .name = "policy", .type = MR_TYPE_TEXT, .flags = MR_LENIENT, .choices = modes },
	{ 0 },
};

static enum mr_code decode(struct mr_arena *arena, const char *json, struct mr_args *out,
	struct mr_err *err)
{
	const struct mr_value *sent;
	enum mr_code rc = mr_json_parse(arena, mr_bytes_text(json), NULL, &sent, err);

	CHECK_OK(rc, *err);
	return mr_args_decode(arena, params, sent, out, err);
}

static void takes_every_type(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_args in;
	struct mr_err err;
	struct mr_texts paths;

	CHECK_OK(decode(arena,
			 "{\"project_key\":\"p\",\"mode\":\"force\",\"limit\":7,\"exclusive\":"
			 "false,"
			 "\"paths\":[\"a\",\"b\"],\"ids\":[3,4],\"payload\":{\"x\":1}}",
			 &in, &err),
		err);
	CHECK_STR(mr_args_text(&in, "project_key"), "p");
	CHECK_STR(mr_args_text(&in, "mode"), "force");
	CHECK_INT(mr_args_int(&in, "limit", 20), 7);
	CHECK(!mr_args_bool(&in, "exclusive", true));
	paths = mr_args_texts(arena, &in, "paths");
	CHECK_INT(paths.len, 2);
	CHECK_STR(paths.items[1], "b");
	CHECK(paths.items[2] == NULL);
	CHECK_INT(mr_args_value(&in, "ids")->list.items[1].integer, 4);
	CHECK_INT(mr_value_get(mr_args_value(&in, "payload"), "x")->integer, 1);
}

static void coerces_what_loses_nothing(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_args in;
	struct mr_err err;

	CHECK_OK(decode(arena,
			 "{\"project_slug\":\"by alias\",\"limit\":\"5\",\"exclusive\":\"true\","
			 "\"paths\":\"one\",\"ids\":[\"1\",2.0],\"payload\":\"{\\\"k\\\":[]}\"}",
			 &in, &err),
		err);
	CHECK_STR(mr_args_text(&in, "project_key"), "by alias");
	CHECK_INT(mr_args_int(&in, "limit", 0), 5);
	CHECK(mr_args_bool(&in, "exclusive", false));
	CHECK_INT(mr_args_texts(arena, &in, "paths").len, 1);
	CHECK_INT(mr_args_value(&in, "ids")->list.items[0].integer, 1);
	CHECK_INT(mr_args_value(&in, "ids")->list.items[1].integer, 2);
	CHECK(mr_value_get(mr_args_value(&in, "payload"), "k"));
}

static void falls_back_when_left_out(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_args in;
	struct mr_err err;

	CHECK_OK(decode(arena, "{\"project_key\":\"p\",\"mode\":null}", &in, &err), err);
	CHECK(!mr_args_value(&in, "mode"));
	CHECK_STR(mr_args_text(&in, "mode"), NULL);
	CHECK_INT(mr_args_int(&in, "limit", 20), 20);
	CHECK(mr_args_bool(&in, "exclusive", true));
	CHECK_INT(mr_args_texts(arena, &in, "paths").len, 0);
	CHECK(mr_args_value(&in, "payload") == NULL);
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *json;
		const char *why;
	} rows[] = {
		{ "{}", "arguments: $.project_key: is required" },
		{ "{\"project_key\":null}", "arguments: $.project_key: is required" },
		{ "{\"project_key\":5}",
			"arguments: $.project_key: must be a string, not integer" },
		{ "{\"project_key\":\"p\",\"mode\":\"stash\"}",
			"arguments: $.mode: must be one of: safe, force" },
		{ "{\"project_key\":\"p\",\"limit\":\"5x\"}",
			"arguments: $.limit: must be an integer, not string" },
		{ "{\"project_key\":\"p\",\"limit\":5.5}",
			"arguments: $.limit: must be an integer, not number" },
		{ "{\"project_key\":\"p\",\"limit\":1e300}",
			"arguments: $.limit: must be an integer, not number" },
		{ "{\"project_key\":\"p\",\"limit\":0}",
			"arguments: $.limit: must be between 1 and 100" },
		{ "{\"project_key\":\"p\",\"exclusive\":\"yes\"}",
			"arguments: $.exclusive: must be a boolean, not string" },
		{ "{\"project_key\":\"p\",\"exclusive\":1}",
			"arguments: $.exclusive: must be a boolean, not integer" },
		{ "{\"project_key\":\"p\",\"paths\":[\"a\",2]}",
			"arguments: $.paths[1]: must be a string, not integer" },
		{ "{\"project_key\":\"p\",\"ids\":[1,null]}",
			"arguments: $.ids[1]: must be an integer, not null" },
		{ "{\"project_key\":\"p\",\"payload\":[1]}",
			"arguments: $.payload: must be an object, not list" },
		{ "{\"project_key\":\"p\",\"payload\":\"{\"}",
			"arguments: $.payload: not valid JSON at line 1 column 1: string or '}' "
			"expected near end of file" },
		{ "{\"project_key\":\"p\",\"limmit\":1}",
			"arguments: $.limmit: is not an argument; did you mean limit?" },
		{ "{\"project_key\":\"p\",\"zebra\":1}", "arguments: $.zebra: is not an argument" },
		{ "[1]", "arguments: $: must be an object, not list" },
		{ "{\"limit\":true,\"zebra\":1}",
			"arguments: $.project_key: is required; $.limit: must be an integer, not "
			"boolean; $.zebra: is not an argument" },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_args in = { .params = NULL };
		struct mr_err err;

		CHECK_INT(decode(arena, rows[i].json, &in, &err), MR_EINVAL);
		CHECK_STR(err.msg, rows[i].why);
		CHECK(err.issues && err.issues->len > 0);
		CHECK(in.params == NULL);
	}
}

static void nothing_sent_is_an_empty_map(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_args in;
	struct mr_err err;

	CHECK_OK(mr_args_decode(arena, NULL, NULL, &in, &err), err);
	CHECK_INT(mr_args_decode(arena, params, NULL, &in, &err), MR_EINVAL);
}

static void what_is_lenient_takes_more(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_args in;
	struct mr_err err;

	CHECK_OK(decode(arena, "{\"project_key\":\"p\",\"since\":-12,\"policy\":\"Deny\"}", &in,
			 &err),
		err);
	CHECK_STR(mr_args_text(&in, "since"), "-12");
	CHECK_STR(mr_args_text(&in, "policy"), "Deny");
	CHECK_INT(decode(arena, "{\"project_key\":5}", &in, &err), MR_EINVAL);
	CHECK_INT(decode(arena, "{\"project_key\":\"p\",\"since\":[]}", &in, &err), MR_EINVAL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(takes_every_type),
		TEST(coerces_what_loses_nothing),
		TEST(falls_back_when_left_out),
		TEST(says_what_is_wrong),
		TEST(nothing_sent_is_an_empty_map),
		TEST(what_is_lenient_takes_more),
	};

	return test_main(tests, MR_LEN(tests));
}
