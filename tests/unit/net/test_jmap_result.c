/* tests/unit/net/test_jmap_result.c */
#include "net/jmap_result.h"

#include "test.h"
#include "text/json.h"

/* A part of a call of `method` that was answered with `json`; NULL: it was not. */
static struct mr_jmap_part part_of(struct mr_arena *arena, const char *method, const char *name,
	const char *json)
{
	struct mr_jmap_call *call = mr_arena_alloc(arena, sizeof(*call));
	struct mr_jmap_part part = { .call = call };
	struct mr_err err;

	call->name = method;
	call->id = "0";
	if (!json)
		return part;
	part.results = mr_arena_alloc(arena, sizeof(*part.results));
	part.results[0].name = name;
	part.results[0].id = "0";
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &part.results[0].value, &err),
		err);
	part.len = 1;
	return part;
}

static void what_was_not_done_is_known(void)
{
	static const struct {
		const char *method, *name, *json;
		bool is_harmless;
	} cases[] = {
		{ "Email/get", "Email/get", "{\"list\": []}", true },
		{ "Email/get", "error", "{\"type\": \"serverFail\"}", true },
		{ "Email/set", "error", "{\"type\": \"serverUnavailable\"}", true },
		{ "Email/set", "error", "{\"type\": \"serverFail\"}", false },
		{ "Email/set", "error", "{\"type\": \"serverPartialFail\"}", false },
		{ "Email/set", "Email/set", "{\"created\": {\"a\": {}}}", false },
		{ "Email/set", "Email/set", "{\"updated\": {}}", false },
		{ "Email/set", "Email/set",
			"{\"created\": null, \"notCreated\": {\"a\": {\"type\": \"rateLimit\"}}}",
			true },
		{ "Email/set", "Email/set",
			"{\"destroyed\": [\"b\"], \"notCreated\": {\"a\": {\"type\": \"rateLimit\"}}}",
			false },
		{ "Email/set", NULL, NULL, false },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_jmap_part part =
			part_of(arena, cases[i].method, cases[i].name, cases[i].json);

		if (mr_jmap_part_is_harmless(&part) != cases[i].is_harmless)
			test_fail(__FILE__, __LINE__, "%zu: %s", i, cases[i].json);
	}
	mr_arena_free(arena);
}

static void refusals_have_a_type(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_part error =
		part_of(arena, "Email/get", "error", "{\"type\": \"forbidden\"}");
	struct mr_jmap_part set = part_of(arena, "Email/set", "Email/set",
		"{\"notCreated\": {\"a\": {\"type\": \"rateLimit\"}, \"b\": {\"type\": \"overQuota\"}}}");

	CHECK(mr_jmap_part_is_error(&error, NULL) && mr_jmap_part_is_error(&error, "forbidden"));
	CHECK(!mr_jmap_part_is_error(&error, "serverFail"));
	CHECK(!mr_jmap_part_is_error(&set, NULL));
	CHECK(mr_jmap_part_is_refused(&set, NULL));
	CHECK(!mr_jmap_part_is_refused(&set, "rateLimit"));
	CHECK(!mr_jmap_part_is_refused(&error, NULL));
	mr_arena_free(arena);
}

static void check_json(struct mr_jmap_result result, const char *json)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&text, 10000);
	mr_json_init(&w, &text, MR_JSON_COMPACT);
	mr_json_value(&w, result.value);
	CHECK_STR(mr_buf_text(&text), json);
}

static void pieces_become_one_result(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_part gets[] = {
		part_of(arena, "Email/get", "Email/get",
			"{\"state\": \"1\", \"list\": [1, 2], \"notFound\": []}"),
		part_of(arena, "Email/get", "Email/get",
			"{\"state\": \"2\", \"list\": [3], \"notFound\": [\"x\"]}"),
		part_of(arena, "Email/get", "error", "{\"type\": \"serverFail\"}"),
	};

	CHECK_STR(mr_jmap_merge(arena, gets, 2).name, "Email/get");
	/* Who asks for changes since the first state misses nothing. */
	check_json(mr_jmap_merge(arena, gets, 2),
		"{\"state\":\"1\",\"list\":[1,2,3],\"notFound\":[\"x\"]}");
	CHECK_STR(mr_jmap_merge(arena, gets, 3).name, "error");
	gets[1].len = 0;
	CHECK(!mr_jmap_merge(arena, gets, 2).name);
	CHECK(!mr_jmap_merge(arena, gets + 1, 1).name);
	mr_arena_free(arena);
}

static void what_was_changed_stays_said(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_part sets[] = {
		part_of(arena, "Email/set", "Email/set",
			"{\"oldState\": \"1\", \"newState\": \"2\", \"created\": null}"),
		part_of(arena, "Email/set", "Email/set",
			"{\"oldState\": \"2\", \"newState\": \"3\", \"created\": {\"a\": {}}}"),
		part_of(arena, "Email/set", "error", "{\"type\": \"stateMismatch\"}"),
	};
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena,
			 mr_bytes_text("{\"create\": {\"b\": {}}, \"destroy\": [\"c\"]}"), NULL,
			 &sets[2].args, &err),
		err);
	check_json(mr_jmap_merge(arena, sets, 3),
		"{\"oldState\":\"1\",\"newState\":\"3\",\"created\":{\"a\":{}},"
		"\"notCreated\":{\"b\":{\"type\":\"stateMismatch\"}},"
		"\"notDestroyed\":{\"c\":{\"type\":\"stateMismatch\"}}}");
	sets[1] = sets[2];
	CHECK_STR(mr_jmap_merge(arena, sets + 1, 2).name, "error");
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_was_not_done_is_known),
		TEST(refusals_have_a_type),
		TEST(pieces_become_one_result),
		TEST(what_was_changed_stays_said),
	};

	return test_main(tests, MR_LEN(tests));
}
