/* tests/unit/text/test_skill_file.c */
#include "text/skill_file.h"

#include "test.h"

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

	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_skill_file_problem(arena, mr_bytes_text(cases[i].file),
				  "agent-first-mail"),
			cases[i].problem);
}

int main(void)
{
	static const struct test tests[] = { TEST(problems_are_told) };

	return test_main(tests, MR_LEN(tests));
}
