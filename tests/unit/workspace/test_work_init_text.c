/* tests/unit/workspace/test_work_init_text.c */
#include "workspace/init_text.h"

#include "test.h"
#include "workspace/managed_block.h"

#include <string.h>

static void both_languages_have_texts(void)
{
	const char *refs[] = { ".", "mail/", NULL };
	const struct mr_texts workspaces = { refs, 2 };
	struct mr_ctx cx = { .arena = mr_arena_new() };

	for (int language = MR_WORK_EN_US; language <= MR_WORK_ZH_CN; language++) {
		struct mr_work_config config = { .language = (enum mr_work_language)language };
		struct mr_bytes text;
		const char *body;

		CHECK_OK(mr_work_init_agents(&cx, NULL, &config, &workspaces, &text), cx.err);
		body = mr_work_block_body(cx.arena, &mr_work_agents_markers, text);
		CHECK(body && strstr(body, "\n- .\n- mail/\n") && strstr(body, "--confirm"));
		CHECK(text.data[0] == '#' && text.data[text.len - 1] == '\n');
		CHECK_OK(mr_work_init_sentinel(&cx, NULL, &config, &text), cx.err);
		CHECK(text.len && text.data[text.len - 1] == '\n');
	}
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(both_languages_have_texts),
	};

	return test_main(tests, MR_LEN(tests));
}
