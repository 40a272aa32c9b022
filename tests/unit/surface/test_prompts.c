/* tests/unit/surface/test_prompts.c - prompts, and what completes their arguments. */
#include "surface/mcp/prompts.h"

#include "mcp_world.h"
#include "test.h"

#include <string.h>

static void prompts_are_listed(void)
{
	static const char *const names[] = { "start_session", "triage_inbox", "reserve_and_edit",
		"handoff", "summarize_thread" };
	struct mcp_world world;
	const struct mr_value *list;

	mcp_open(&world, NULL);
	list = mcp_get(mcp_result(&world, "prompts/list", "{}"), "prompts");
	CHECK_INT(list->list.len, MR_LEN(names));
	for (size_t i = 0; i < MR_LEN(names); i++) {
		CHECK_STR(mcp_text(&list->list.items[i], "name"), names[i]);
		CHECK(*mcp_text(&list->list.items[i], "description"));
		CHECK_STR(mcp_text(&list->list.items[i], "arguments.0.name"), "project");
		CHECK(mcp_get(&list->list.items[i], "arguments.0.required")->boolean);
	}
	CHECK_INT(mcp_get(&list->list.items[3], "arguments")->list.len, 4);
	CHECK_INT(mcp_error(&world, "prompts/list", "{\"cursor\":\"?\"}"), MR_RPC_PARAMS);
	mcp_close(&world);
}

static void arguments_are_put_in(void)
{
	struct mcp_world world;
	const struct mr_value *result;
	const char *text;

	mcp_open(&world, NULL);
	result = mcp_result(&world, "prompts/get",
		"{\"name\":\"handoff\",\"arguments\":{\"project\":\"back{end}\",\"from\":\"A\","
		"\"to\":\"B\",\"task\":\"the %s thing\"}}");
	CHECK_STR(mcp_text(result, "messages.0.role"), "user");
	text = mcp_text(result, "messages.0.content.text");
	CHECK(strstr(text,
		"You are A in the Mailroom project back{end} and hand this over to B: "
		"the %s thing."));
	CHECK_INT(mcp_error(&world, "prompts/get", "{\"name\":\"nope\"}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "prompts/get", "{}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "prompts/get",
			  "{\"name\":\"triage_inbox\",\"arguments\":{\"project\":\"x\"}}"),
		MR_RPC_PARAMS);
	mcp_close(&world);
}

/* Every place in every text is one of its arguments. */
static void every_place_has_an_argument(void)
{
	static const char *const names[] = { "start_session", "triage_inbox", "reserve_and_edit",
		"handoff", "summarize_thread" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		const struct mr_mcp_prompt *prompt = mr_mcp_prompt_find(names[i]);

		for (const char *at = strchr(prompt->text, '{'); at; at = strchr(at + 1, '{')) {
			size_t len = strcspn(at + 1, "}");
			bool known = false;

			for (size_t k = 0; k < MR_MCP_PROMPT_ARGUMENTS; k++)
				known = known ||
					(prompt->arguments[k].name &&
						strlen(prompt->arguments[k].name) == len &&
						memcmp(prompt->arguments[k].name, at + 1, len) ==
							0);
			if (!known)
				test_fail(__FILE__, __LINE__, "%s: %s", names[i], at);
		}
	}
}

static const struct mr_value *complete(struct mcp_world *world, const char *ref, const char *name,
	const char *value, const char *context)
{
	return mr_value_get(mcp_result(world, "completion/complete",
				    mr_arena_printf(world->arena,
					    "{\"ref\":%s,\"argument\":{\"name\":\"%s\",\"value\":"
					    "\"%s\"}%s%s}",
					    ref, name, value, context ? ",\"context\":" : "",
					    context ? context : "")),
		"completion");
}

#define PROMPT "{\"type\":\"ref/prompt\",\"name\":\"handoff\"}"
#define INBOX  "{\"type\":\"ref/resource\",\"uri\":\"resource://inbox/{agent}{?project}\"}"
#define THREAD "{\"type\":\"ref/resource\",\"uri\":\"resource://thread/{thread_id}\"}"

static void arguments_are_completed(void)
{
	struct mcp_world world;
	const struct mr_value *v;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	v = complete(&world, PROMPT, "project", "p-", NULL);
	CHECK_INT(mcp_get(v, "values")->list.len, 2);
	CHECK_INT(mcp_int(v, "total"), 2);
	CHECK(!mcp_get(v, "hasMore")->boolean);
	v = complete(&world, PROMPT, "project", "/p/b", NULL);
	CHECK_STR(mcp_text(v, "values.0"), "/p/backend");
	v = complete(&world, PROMPT, "to", "", NULL);
	CHECK_INT(mcp_int(v, "total"), 3);
	v = complete(&world, INBOX, "agent", "gre", NULL);
	CHECK_STR(mcp_text(v, "values.0"), "GreenCastle");
	v = complete(&world, INBOX, "agent", "", "{\"arguments\":{\"project\":\"frontend\"}}");
	CHECK_INT(mcp_int(v, "total"), 1);
	CHECK_STR(mcp_text(v, "values.0"), "BlueLake");
	v = complete(&world, THREAD, "thread_id", "t", NULL);
	CHECK_STR(mcp_text(v, "values.0"), "T");
	v = complete(&world, THREAD, "thread_id", "t",
		"{\"arguments\":{\"project\":\"frontend\"}}");
	CHECK_INT(mcp_int(v, "total"), 0);
	v = complete(&world, PROMPT, "task", "x", NULL);
	CHECK_INT(mcp_int(v, "total"), 0);
	v = complete(&world, INBOX, "include_bodies", "t", NULL);
	CHECK_STR(mcp_text(v, "values.0"), "true");
	CHECK_INT(mcp_error(&world, "completion/complete", "{}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "completion/complete",
			  "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"nope\"},\"argument\":{"
			  "\"name\":\"a\",\"value\":\"\"}}"),
		MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "completion/complete",
			  "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"x://y\"},\"argument\":{"
			  "\"name\":\"a\",\"value\":\"\"}}"),
		MR_RPC_PARAMS);
	mcp_close(&world);
}

static void many_are_cut_at_a_hundred(void)
{
	const char *settings[] = { "team.name_validation=any", NULL };
	struct mcp_world world;
	const struct mr_value *v;

	mcp_open(&world, settings);
	for (int i = 0; i < 120; i++)
		mcp_tool(&world, "register_agent",
			mr_arena_printf(world.arena,
				"{\"project_key\":\"/p/"
				"x\",\"name\":\"Agent%03d\",\"program\":\"x\","
				"\"model\":\"y\"}",
				i));
	v = complete(&world, PROMPT, "from", "AGENT", NULL);
	CHECK_INT(mcp_get(v, "values")->list.len, 100);
	CHECK_INT(mcp_int(v, "total"), 120);
	CHECK(mcp_get(v, "hasMore")->boolean);
	CHECK_STR(mcp_text(v, "values.0"), "Agent000");
	mcp_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(prompts_are_listed),
		TEST(arguments_are_put_in),
		TEST(every_place_has_an_argument),
		TEST(arguments_are_completed),
		TEST(many_are_cut_at_a_hundred),
	};

	return test_main(tests, MR_LEN(tests));
}
