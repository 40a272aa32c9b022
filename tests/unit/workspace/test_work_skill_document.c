/* tests/unit/workspace/test_work_skill_document.c */
#include "workspace/skill_document.h"

#include "test.h"

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
	CHECK(!mr_work_skill_problem(arena, crlf));
	mr_arena_free(arena);
}

static void problems_are_told(void)
{
	static const struct {
		const char *file, *problem;
	} cases[] = {
		{ "", "it does not begin with front matter between two lines \"---\"" },
		{ "# x\n", "it does not begin with front matter between two lines \"---\"" },
		{ "---\nname: a\n",
			"it does not begin with front matter between two lines \"---\"" },
		{ "---\n---\n", "the name in the front matter is not agent-first-mail" },
		{ "---\nname: other\ndescription: x\n---\n",
			"the name in the front matter is not agent-first-mail" },
		{ "---\nname: agent-first-mail\n---\n", "the front matter has no description" },
		{ "---\nname: agent-first-mail\ndescription: \"\"\n---\n",
			"the front matter has no description" },
		{ "---\nname: agent-first-mail\nmeta:\n  a: b\n---\n",
			"the value of 'meta' in the front matter must be one line of text, in "
			"quotes when it has a colon" },
		{ "---\nname: agent-first-mail\ndescription: x\n  y\n---\n",
			"the front matter is nested at the line '  y'" },
		{ "---\nname: agent-first-mail\ndescription: a: b\n---\n",
			"the value of 'description' in the front matter must be one line of text, "
			"in quotes when it has a colon" },
		{ "---\nname: agent-first-mail\ndescription: \"a: b\"\n# c\n\n---\n", NULL },
		{ "---\nname: 'agent-first-mail'\ndescription: see http://x\n---\n", NULL },
	};

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_work_skill_problem(arena, mr_bytes_text(cases[i].file)),
			cases[i].problem);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(documents_are_recognised),
		TEST(problems_are_told),
	};

	return test_main(tests, MR_LEN(tests));
}
