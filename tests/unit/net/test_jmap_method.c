/* tests/unit/net/test_jmap_method.c */
#include "net/jmap_method.h"

#include "test.h"
#include "text/json.h"

static const struct mr_value *value_of(struct mr_arena *arena, const char *json)
{
	const struct mr_value *value;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	return value;
}

static void methods_have_nouns(void)
{
	CHECK_STR(mr_jmap_noun_of("Email/get")->capability, "mail");
	CHECK_STR(mr_jmap_noun_of("EmailSubmission/set")->capability, "submission");
	CHECK(mr_jmap_noun_of("Identity/get")->is_submission);
	CHECK(!mr_jmap_noun_of("Mailbox/get")->is_submission);
	CHECK(!mr_jmap_noun_of("Emai/get"));
	CHECK(!mr_jmap_noun_of("Emails/get"));
	CHECK(!mr_jmap_noun_of(""));
}

static void what_changes_something_is_known(void)
{
	CHECK(mr_jmap_is_change("Email/set"));
	CHECK(mr_jmap_is_change("Email/import"));
	CHECK(!mr_jmap_is_change("Email/get"));
	CHECK(!mr_jmap_is_change("Email/changes"));
}

static void objects_are_counted(void)
{
	static const struct {
		const char *method, *args;
		size_t count;
	} cases[] = {
		{ "Email/get", "{\"ids\": [\"a\", \"b\"], \"properties\": [\"id\"]}", 2 },
		{ "Email/get", "{\"ids\": null}", 0 },
		{ "Email/get", "{\"#ids\": {\"path\": \"/ids\"}}", 0 },
		{ "Email/query", "{\"ids\": [\"a\"]}", 0 },
		{ "Email/set",
			"{\"create\": {\"a\": {}}, \"update\": {\"b\": {}}, \"destroy\": [\"c\"]}",
			3 },
		{ "Email/import", "{\"emails\": {\"a\": {}, \"b\": {}}}", 2 },
		/* What it does to mails stands beside its objects. */
		{ "EmailSubmission/set", "{\"create\": {\"a\": {}, \"b\": {}}}", 0 },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_INT(mr_jmap_objects_of(cases[i].method, value_of(arena, cases[i].args)),
			cases[i].count);
	mr_arena_free(arena);
}

static void pieces_have_all_objects_once(void)
{
	struct mr_arena *arena = mr_arena_new();
	const struct mr_value *args = value_of(arena,
		"{\"create\": {\"a\": {}, \"b\": {}}, \"ifInState\": \"s\","
		" \"update\": {\"c\": {}, \"d\": {}}, \"destroy\": [\"e\"]}");
	static const size_t counts[][3] = { { 2, 1, 0 }, { 0, 1, 1 } };

	for (size_t i = 0; i < 2; i++) {
		const struct mr_value *piece = mr_jmap_piece_of(arena, "Email/set", args, 3 * i, 3);

		CHECK_INT(mr_jmap_len_of(mr_value_get(piece, "create")), counts[i][0]);
		CHECK_INT(mr_jmap_len_of(mr_value_get(piece, "update")), counts[i][1]);
		CHECK_INT(mr_jmap_len_of(mr_value_get(piece, "destroy")), counts[i][2]);
		CHECK_STR(mr_value_get(piece, "ifInState")->text, "s");
	}
	CHECK_STR(mr_value_get(mr_jmap_piece_of(arena, "Email/set", args, 3, 3), "update")
			  ->map.pairs[0]
			  .key,
		"d");
	CHECK_INT(mr_jmap_objects_of("Email/set", args), 5);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(methods_have_nouns),
		TEST(what_changes_something_is_known),
		TEST(objects_are_counted),
		TEST(pieces_have_all_objects_once),
	};

	return test_main(tests, MR_LEN(tests));
}
