/* tests/unit/workspace/test_work_skill_document.c */
#include "workspace/skill_document.h"

#include "test.h"
#include "text/skill_file.h"

#include <string.h>

static struct mr_arena *arena;

/* The document with `old` replaced by `new`. */
static struct mr_bytes edited(const char *old, const char *new)
{
	struct mr_bytes document = mr_work_skill_document(arena);
	const char *text = mr_arena_strndup(arena, (const char *)document.data, document.len);
	const char *at = strstr(text, old);

	CHECK(at);
	return mr_bytes_text(
		mr_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)));
}

static void documents_are_recognised(void)
{
	static const struct {
		const char *old, *new;
		bool managed, current;
	} cases[] = {
		{ "---", "---", true, true },
		{ "# Mail in", "# Other mail in", true, false },
		{ "fnv1a64: ", "fnv1a64: 0", true, true },
		{ "afmail-managed-skill: true\n", "", false, false },
		{ "afmail-managed-skill-name: agent-first-mail\n", "", true, true },
		{ "afmail-managed-skill-name: agent-first-mail\n",
			"afmail-managed-skill-name: other\n", true, true },
		{ "-->\n\n", "-->\n\n\n\n\n", true, true },
	};
	struct mr_bytes document, crlf;
	char *text;
	size_t len = 0;

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_bytes file = edited(cases[i].old, cases[i].new);

		CHECK_INT(mr_work_skill_is_managed(arena, file), cases[i].managed);
		CHECK_INT(mr_work_skill_is_current(arena, file), cases[i].current);
	}
	document = mr_work_skill_document(arena);
	text = mr_arena_alloc(arena, document.len * 2);
	for (size_t i = 0; i < document.len; i++) {
		if (document.data[i] == '\n')
			text[len++] = '\r';
		text[len++] = (char)document.data[i];
	}
	crlf = mr_bytes_of(text, len);
	CHECK(mr_work_skill_is_managed(arena, crlf));
	CHECK(mr_work_skill_is_current(arena, crlf));
	CHECK(!mr_skill_file_problem(arena, crlf, "agent-first-mail"));
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(documents_are_recognised),
	};

	return test_main(tests, MR_LEN(tests));
}
