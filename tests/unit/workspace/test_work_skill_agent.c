/* tests/unit/workspace/test_work_skill_agent.c */
#include "workspace/skill_agent.h"

#include "files.h"
#include "test.h"
#include "workspace/error.h"

static void personal_directories_follow_the_environment(void)
{
	static const char *const plain[] = { "/h/.codex/skills", "/h/.claude/skills",
		"/h/.config/opencode/skills", "/h/.hermes/skills" };
	static const char *const set[] = { "/c/skills", "/h/.claude/skills", "/x/opencode/skills",
		"/m/skills" };
	struct mr_ctx cx = { .arena = mr_arena_new() };
	struct mr_work_surroundings around = { .home = "/h", .codex_home = "" };
	struct mr_work_surroundings all = { .home = "/h",
		.codex_home = "/c",
		.xdg_config_home = "/x",
		.hermes_home = "/m" };
	const char *dir;

	for (size_t i = 0; mr_work_agents[i].name; i++) {
		CHECK_OK(mr_work_agent_dir(&cx, &mr_work_agents[i], &around, &dir), cx.err);
		CHECK_STR(dir, plain[i]);
		CHECK_OK(mr_work_agent_dir(&cx, &mr_work_agents[i], &all, &dir), cx.err);
		CHECK_STR(dir, set[i]);
	}
	all.home = NULL;
	CHECK_OK(mr_work_agent_dir(&cx, &mr_work_agents[0], &all, &dir), cx.err);
	CHECK_ERR(mr_work_agent_dir(&cx, &mr_work_agents[1], &all, &dir), cx.err, MR_EINVAL,
		"HOME is not set, so the skills of claude-code cannot be found");
	CHECK_STR(cx.err.word, "invalid_request");
	CHECK_STR(mr_work_trouble(&cx.err)->hint, "Name the directory with --skills-dir.");
	mr_arena_free(cx.arena);
}

static void names_of_agents(void)
{
	const struct mr_work_agent *claude = &mr_work_agents[1];

	CHECK(mr_work_agent_is(claude, "claude-code"));
	CHECK(mr_work_agent_is(claude, "claude"));
	CHECK(mr_work_agent_is(claude, "all"));
	CHECK(!mr_work_agent_is(claude, "codex"));
	CHECK(!mr_work_agent_is(&mr_work_agents[0], NULL));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(personal_directories_follow_the_environment),
		TEST(names_of_agents),
	};

	return test_main(tests, MR_LEN(tests));
}
