/* tests/unit/op/test_suggest.c */
#include "op/team/suggest.h"

#include "base/attr.h"
#include "team_app.h"
#include "test.h"

/* Joined with commas. */
static const char *suggested(struct team_app *t, enum mr_suggest_subject subject, const char *begun,
	const char *project)
{
	struct mr_texts found;
	const char *text = "";

	CHECK_OK(mr_suggest(&t->call, t->team, subject, begun, project, &found), t->call.cx.err);
	for (size_t i = 0; i < found.len; i++)
		text = mr_arena_printf(t->arena, "%s%s%s", text, i ? "," : "", found.items[i]);
	return text;
}

static void send_in(struct team_app *t, const char *project, const char *sender, const char *thread)
{
	team_app_run(t, "send_message",
		mr_arena_printf(t->arena,
			"{\"project_key\":\"%s\",\"sender_name\":\"%s\",\"subject\":\"s\","
			"\"body_md\":\"t\",\"to\":[\"%s\"],\"thread_id\":\"%s\"}",
			project, sender, sender, thread));
}

static void names_are_found_by_how_they_begin(void)
{
	struct team_app t;

	team_app_open(&t);
	team_app_join(&t, "/p/backend", "GreenCastle");
	team_app_join(&t, "/p/backend", "GreenFox");
	team_app_join(&t, "/q/other", "GoldOwl");
	send_in(&t, "backend", "GreenCastle", "plan");
	send_in(&t, "other", "GoldOwl", "Planning");
	team_app_run(&t, "ensure_product", "{\"product_uid\":\"prod\",\"name\":\"Shop\"}");
	CHECK_STR(suggested(&t, MR_SUGGEST_PROJECT, "P-", NULL), "p-backend");
	CHECK_STR(suggested(&t, MR_SUGGEST_PROJECT, "/q", NULL), "/q/other");
	CHECK_STR(suggested(&t, MR_SUGGEST_AGENT, "g", NULL), "GoldOwl,GreenCastle,GreenFox");
	CHECK_STR(suggested(&t, MR_SUGGEST_AGENT, "g", "backend"), "GreenCastle,GreenFox");
	CHECK_STR(suggested(&t, MR_SUGGEST_AGENT, "x", "backend"), "");
	/* A project that nobody knows is none. */
	CHECK_STR(suggested(&t, MR_SUGGEST_AGENT, "gol", "nowhere"), "GoldOwl");
	CHECK_STR(suggested(&t, MR_SUGGEST_THREAD, "PLAN", "backend"), "plan");
	CHECK_STR(suggested(&t, MR_SUGGEST_THREAD, "plan", NULL), "Planning,plan");
	CHECK_STR(suggested(&t, MR_SUGGEST_PRODUCT, "pr", NULL), "prod");
	CHECK_STR(suggested(&t, MR_SUGGEST_FLAG, "t", NULL), "true");
	CHECK_STR(suggested(&t, MR_SUGGEST_NOTHING, "", NULL), "");
	team_app_close(&t);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(names_are_found_by_how_they_begin),
	};

	return test_main(tests, MR_LEN(tests));
}
