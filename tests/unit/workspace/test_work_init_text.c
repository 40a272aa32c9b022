/* tests/unit/workspace/test_work_init_text.c */
#include "workspace/init_text.h"

#include "desk.h"
#include "test.h"
#include "workspace/managed_block.h"

#include <string.h>

static const char *body_of(struct mr_ctx *cx, struct mr_bytes text)
{
	const char *body = mr_work_block_body(cx->arena, &mr_work_agents_markers, text);

	CHECK(body);
	return body;
}

static void both_languages_have_texts(void)
{
	const char *refs[] = { ".", "mail/", NULL };
	struct mr_texts workspaces = { refs, 2 };
	struct mr_ctx cx = { .arena = mr_arena_new() };

	for (int language = MR_WORK_EN_US; language <= MR_WORK_ZH_CN; language++) {
		struct mr_work_config config = { .language = (enum mr_work_language)language };
		struct mr_bytes text;
		const char *body;

		workspaces.len = 2;
		CHECK_OK(mr_work_init_agents(&cx, NULL, &config, &workspaces, &text), cx.err);
		body = body_of(&cx, text);
		CHECK(strstr(body, "\n- `.`\n- `mail/`\n") && strstr(body, "--confirm"));
		CHECK(text.data[0] == '#' && text.data[text.len - 1] == '\n');
		workspaces.len = 1;
		CHECK_OK(mr_work_init_agents(&cx, NULL, &config, &workspaces, &text), cx.err);
		CHECK(!strstr(body_of(&cx, text), "`.`"));
		CHECK_OK(mr_work_init_sentinel(&cx, NULL, &config, &text), cx.err);
		CHECK(text.len && text.data[text.len - 1] == '\n');
		CHECK(strstr((const char *)text.data, "afmail doctor"));
	}
	mr_arena_free(cx.arena);
}

static void own_templates_come_first(void)
{
	const char *refs[] = { "mail/", NULL };
	const struct mr_texts workspaces = { refs, 1 };
	struct mr_work_config config = { .language = MR_WORK_ZH_CN, .language_bcp47 = "zh-Hans" };
	struct mr_bytes text;
	struct desk desk;

	desk_open(&desk);
	desk_put("templates/zh-CN/workspace/AGENTS.md.j2",
		"A {{ language }} {{ workspaces|join(',') }}\n\n");
	desk_put("templates/zh-CN/workspace/DO_NOT_EDIT.txt.j2", "B {{ language }}\n");
	CHECK_OK(mr_work_init_agents(&desk.cx, desk.work, &config, &workspaces, &text),
		desk.cx.err);
	CHECK_STR((const char *)text.data, "A zh-Hans mail/\n");
	CHECK_OK(mr_work_init_sentinel(&desk.cx, desk.work, &config, &text), desk.cx.err);
	CHECK_STR((const char *)text.data, "B zh-Hans\nLayout version: 1\n");
	/* Those of another language are not for this one. */
	config = (struct mr_work_config){ .language = MR_WORK_EN_US };
	CHECK_OK(mr_work_init_sentinel(&desk.cx, desk.work, &config, &text), desk.cx.err);
	CHECK(mr_str_starts((const char *)text.data, "The files in this directory"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(both_languages_have_texts),
		TEST(own_templates_come_first),
	};

	return test_main(tests, MR_LEN(tests));
}
