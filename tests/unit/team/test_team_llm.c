/* tests/unit/team/test_team_llm.c - what a model says is read; being asked is tested from outside.
 */
#include "team/llm.h"

#include "test.h"

#include <string.h>

static void finds_the_object(void)
{
	static const struct {
		const char *answer;
		bool found;
	} cases[] = {
		{ "{\"a\": 1}", true },
		{ " {\"a\": 1}\n", true },
		{ "```json\n{\"a\": 1}\n```", true },
		{ "Here it is:\n```\n{\"a\": 1}\n``` as {you} asked", true },
		{ "Sure! {\"a\": 1} Anything else?", true },
		{ "[1, 2]", false },
		{ "[{\"a\": 1}]", true },
		{ "no braces", false },
		{ "} {", false },
		{ "{\"a\": 1", false },
		{ "``` {\"a\": 1}", true },
		{ "{ {\"a\": 1} }", false },
		{ "", false },
		{ "\"{\"", false },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *object = mr_team_llm_object(arena, cases[i].answer);

		if (!object == cases[i].found)
			test_fail(__FILE__, __LINE__, "%s", cases[i].answer);
		if (object)
			CHECK_INT(mr_value_get(object, "a")->integer, 1);
	}
	mr_arena_free(arena);
}

static void says_whether_there_is_one(void)
{
	struct mr_team_config config = mr_team_config_default("root");

	CHECK(!mr_team_llm_is_set(&config));
	config.llm_endpoint = "http://127.0.0.1:1";
	CHECK(mr_team_llm_is_set(&config));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(finds_the_object),
		TEST(says_whether_there_is_one),
	};

	return test_main(tests, MR_LEN(tests));
}
