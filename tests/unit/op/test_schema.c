/* tests/unit/op/test_schema.c */
#include "op/schema.h"
#include "test.h"

#include "text/json.h"
#include <string.h>

static const char *const modes[] = { "safe", "force", NULL };

static const struct mr_param params[] = {
	{ .name = "to", .type = MR_TYPE_TEXTS, .flags = MR_REQUIRED, .summary = "who" },
	{ .name = "mode", .type = MR_TYPE_TEXT, .summary = "how", .choices = modes },
	{ .name = "limit", .type = MR_TYPE_INT, .summary = "n", .min = 1, .max = 9 },
	{ .name = "ids", .type = MR_TYPE_INTS, .summary = "which" },
	/* Not in the schema: a server refuses it. */
	{ .name = "file", .type = MR_TYPE_TEXT, .flags = MR_CLI_ONLY, .summary = "where" },
	{ 0 },
};

static const struct mr_field item_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "read_ts", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ 0 },
};

static const struct mr_field fields[] = {
	{ .name = "count", .type = MR_TYPE_INT, .summary = "how many" },
	{ .name = "items", .type = MR_TYPE_LIST, .fields = item_fields },
	{ .name = "names", .type = MR_TYPE_TEXTS, .flags = MR_OPTIONAL },
	{ .name = "score", .type = MR_TYPE_REAL },
	{ .name = "first", .type = MR_TYPE_OBJECT, .fields = item_fields },
	{ .name = "any", .type = MR_TYPE_OBJECT },
	{ .name = "ok", .type = MR_TYPE_BOOL },
	{ 0 },
};

static const struct mr_op op = { .name = "o", .params = params, .result = fields };

static const struct mr_field included[] = {
	{ .name = "*", .flags = MR_INCLUDED, .fields = item_fields },
	{ .name = "*", .flags = MR_INCLUDED | MR_OPTIONAL, .fields = fields },
	{ 0 },
};

static void an_included_table_may_be_left_out(void)
{
	static const struct mr_op including = { .name = "i", .result = included };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_output_or_error(&out, NULL, &including);
	CHECK(strstr(mr_buf_text(&text), "\"score\":{\"type\":\"number\"}"));
	CHECK_STR(strstr(mr_buf_text(&text), ",\"anyOf\""),
		",\"anyOf\":[{\"required\":[\"id\",\"read_ts\"]},{\"required\":[\"error\"]}]}");
}

static void members_are_in_the_schema(void)
{
	static const struct mr_param file_members[] = {
		{ .name = "path", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED, .summary = "where" },
		{ .name = "mode", .type = MR_TYPE_TEXT, .summary = "how", .choices = modes },
		{ 0 },
	};
	static const struct mr_param nested[] = {
		{ .name = "files", .type = MR_TYPE_LIST, .summary = "f", .members = file_members },
		{ .name = "one", .type = MR_TYPE_OBJECT, .summary = "o", .members = file_members },
		{ 0 },
	};
	static const struct mr_op holder = { .name = "h", .params = nested };
	static const char members[] =
		"\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"where\"},"
		"\"mode\":{\"type\":\"string\",\"enum\":[\"safe\",\"force\"],"
		"\"description\":\"how\"}},\"required\":[\"path\"],"
		"\"additionalProperties\":false";
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf want MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_buf_init(&want, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_input(&out, NULL, &holder);
	mr_buf_printf(&want,
		"{\"type\":\"object\",\"properties\":{\"files\":{\"type\":\"array\","
		"\"items\":{\"type\":\"object\",%s},\"description\":\"f\"},"
		"\"one\":{\"type\":\"object\",%s,\"description\":\"o\"}},"
		"\"required\":[],\"additionalProperties\":false}",
		members, members);
	CHECK_STR(mr_buf_text(&text), mr_buf_text(&want));
	mr_buf_clear(&text);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_input_brief(&out, NULL, &holder, false);
	CHECK(!strstr(mr_buf_text(&text), "path"));
}

static void schemas_are_written_from_the_table(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_input(&out, NULL, &op);
	CHECK_STR(mr_buf_text(&text),
		"{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"array\",\"items\":{"
		"\"type\":"
		"\"string\"},\"description\":\"who\"},\"mode\":{\"type\":\"string\",\"enum\":["
		"\"safe\","
		"\"force\"],\"description\":\"how\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,"
		"\"maximum\":9,\"description\":\"n\"},\"ids\":{\"type\":\"array\",\"items\":{"
		"\"type\":"
		"\"integer\"},\"description\":\"which\"}},\"required\":[\"to\"],"
		"\"additionalProperties\":false}");
	mr_buf_clear(&text);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_output(&out, NULL, &op);
	CHECK_STR(mr_buf_text(&text),
		"{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\","
		"\"description\":"
		"\"how many\"},\"items\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
		"\"properties\":{\"id\":{\"type\":\"integer\"},\"read_ts\":{\"type\":[\"string\","
		"\"null\"]}},\"required\":[\"id\",\"read_ts\"]}},\"names\":{\"type\":\"array\","
		"\"items\":"
		"{\"type\":\"string\"}},\"score\":{\"type\":\"number\"},\"first\":{\"type\":"
		"\"object\","
		"\"properties\":{\"id\":{\"type\":\"integer\"},\"read_ts\":{\"type\":[\"string\","
		"\"null\"]}},\"required\":[\"id\",\"read_ts\"]},\"any\":{\"type\":\"object\"},"
		"\"ok\":"
		"{\"type\":\"boolean\"}},\"required\":[\"count\",\"items\",\"score\",\"first\","
		"\"any\","
		"\"ok\"]}");
	mr_buf_clear(&text);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_output_or_error(&out, NULL, &op);
	CHECK_STR(strstr(mr_buf_text(&text), ",\"anyOf\""),
		",\"anyOf\":[{\"required\":[\"count\",\"items\",\"score\",\"first\","
		"\"any\",\"ok\"]},{\"required\":[\"error\"]}]}");
}

static const char *const colours[] = { "red", "blue", NULL };

static const struct mr_param more_params[] = {
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.summary = "n",
		.fallback = "20",
		.min = 1,
		.max = 9 },
	{ .name = "prefix", .type = MR_TYPE_TEXT, .summary = "p", .fallback = "as it was" },
	{ .name = "since", .type = MR_TYPE_TEXT, .flags = MR_LENIENT | MR_KNOWN, .summary = "s" },
	{ .name = "odd", .type = MR_TYPE_BOOL, .flags = MR_RARE, .summary = "o" },
	{ 0 },
};
static const struct mr_field more_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST },
	{ .name = "colour", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE, .choices = colours },
	{ 0 },
};
static const struct mr_op more = { .name = "m", .params = more_params, .result = more_fields };

static void written(void (*write)(struct mr_out *, const char *, const struct mr_op *),
	const char *want)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	write(&out, NULL, &more);
	CHECK_STR(mr_buf_text(&text), want);
}

static void write_brief(struct mr_out *out, const char *key, const struct mr_op *of)
{
	mr_schema_input_brief(out, key, of, false);
}

static void defaults_and_choices_are_told(void)
{
	written(mr_schema_input,
		"{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\",\"minimum\":"
		"1,"
		"\"maximum\":9,\"default\":20,\"description\":\"n\"},\"prefix\":{\"type\":"
		"\"string\","
		"\"description\":\"p (default: as it was)\"},\"since\":{\"type\":[\"string\","
		"\"integer\"],\"description\":\"s\"},\"odd\":{\"type\":\"boolean\","
		"\"description\":\"o\"}},\"required\":[],"
		"\"additionalProperties\":false}");
	written(write_brief,
		"{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\",\"default\":"
		"20,"
		"\"description\":\"n\"},\"prefix\":{\"type\":\"string\",\"description\":\"p\"},"
		"\"since\":{\"type\":[\"string\",\"integer\"]}}}");
	written(mr_schema_output,
		"{\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"array\",\"items\":{"
		"\"type\":\"object\"}},\"colour\":{\"type\":[\"string\",\"null\"],\"enum\":["
		"\"red\",\"blue\",null]}},\"required\":[\"result\",\"colour\"],"
		"\"x-fastmcp-wrap-result\":true}");
	written(mr_schema_output_brief,
		"{\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"array\"},\"colour\":{"
		"\"type\":[\"string\",\"null\"]}},\"x-fastmcp-wrap-result\":true}");
}

static void checks_by(const struct mr_field *table, const char *json, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value;
	struct mr_issues issues;
	struct mr_cursor at;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	mr_issues_init(&issues, arena);
	at = mr_cursor_root(value, &issues);
	mr_schema_check(table, &at);
	if (!why) {
		CHECK_INT(issues.len, 0);
		return;
	}
	CHECK_INT(issues.len, 1);
	CHECK_STR(mr_arena_printf(arena, "%s %s", issues.items[0].path, issues.items[0].msg), why);
}

static void checks(const char *json, const char *why)
{
	checks_by(fields, json, why);
}

#define REST "\"score\":1,\"first\":{\"id\":1,\"read_ts\":\"x\"},\"any\":{\"z\":1},\"ok\":true}"

static void results_are_held_to_their_promise(void)
{
	checks("{\"count\":1,\"items\":[{\"id\":1,\"read_ts\":null}]," REST, NULL);
	checks("{\"count\":1,\"names\":[\"a\"],\"items\":[]," REST, NULL);
	checks("{\"items\":[]," REST, "$.count is required");
	checks("{\"count\":1,\"items\":[{\"id\":\"1\",\"read_ts\":null}]," REST,
		"$.items[0].id must be an integer, not string");
	checks("{\"count\":1,\"items\":[{\"id\":1}]," REST, "$.items[0].read_ts is required");
	checks("{\"count\":1,\"items\":[],\"names\":[1]," REST,
		"$.names[0] must be a string, not integer");
	checks("{\"count\":1,\"items\":[],\"more\":1," REST, "$.more is not known");
	checks("{\"count\":1,\"items\":[],\"any\":1,\"score\":1,\"first\":{\"id\":1,"
	       "\"read_ts\":null},\"ok\":true}",
		"$.any must be an object, not integer");
}

/* What every table that includes another one says is what it would say without. */
static void included_fields_stand_in_their_place(void)
{
	static const struct mr_field half[] = {
		{ .name = "count", .type = MR_TYPE_INT, .summary = "how many" },
		{ 0 },
	};
	static const struct mr_field with_half[] = {
		{ .name = "*", .flags = MR_INCLUDED, .fields = half },
		{ .name = "own", .type = MR_TYPE_BOOL, .flags = MR_OPTIONAL },
		{ 0 },
	};
	static const struct mr_op with = { .name = "o", .result = with_half };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_output(&out, NULL, &with);
	CHECK_STR(mr_buf_text(&text),
		"{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\","
		"\"description\":\"how many\"},\"own\":{\"type\":\"boolean\"}},"
		"\"required\":[\"count\"]}");
	mr_buf_clear(&text);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_schema_output_brief(&out, NULL, &with);
	CHECK_STR(mr_buf_text(&text),
		"{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\"},"
		"\"own\":{\"type\":\"boolean\"}}}");
	checks_by(with_half, "{\"count\":1}", NULL);
	checks_by(with_half, "{\"own\":true}", "$.count is required");
	checks_by(with_half, "{\"count\":1,\"*\":1}", "$.* is not known");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(schemas_are_written_from_the_table),
		TEST(members_are_in_the_schema),
		TEST(an_included_table_may_be_left_out),
		TEST(defaults_and_choices_are_told),
		TEST(results_are_held_to_their_promise),
		TEST(included_fields_stand_in_their_place),
	};

	return test_main(tests, MR_LEN(tests));
}
