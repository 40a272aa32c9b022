/* tests/unit/text/test_quoted.c */
#include "test.h"
#include "text/quoted.h"

static void cuts_quoted_history(void)
{
	static const struct {
		const char *text;
		const char *visible, *at, *from;
		bool has_quoted;
	} cases[] = {
		{ "Fresh reply\n\nOn May 20, 2026, at 09:00, Ann <a@b.c> wrote:\n> old\n> text\n",
			"Fresh reply", "May 20, 2026, at 09:00", "Ann <a@b.c>", true },
		{ "New\n  On Monday Bob wrote:  \nold", "New", "Monday Bob", "", true },
		{ "On a, b wrote:\nOn c, d wrote:\n", "", "a", "b", true },
		{ "Good, ten o'clock.\n\n> Friday is fine.\n", "Good, ten o'clock.", "", "", true },
		{ "a\n> b\n\n>> c\n \n", "a", "", "", true },
		{ "> all\n> of it", "", "", "", true },
		{ "> first\nthen an answer\n", "> first\nthen an answer", "", "", false },
		{ "> first\nanswer\n  > last", "> first\nanswer", "", "", true },
		{ "plain \n\n", "plain", "", "", false },
		{ "", "", "", "", false },
		{ "\n \n", "", "", "", false },
		{ "On it, he wrote: no\nOnce wrote:\nOn wrote:x",
			"On it, he wrote: no\nOnce "
			"wrote:\nOn wrote:x",
			"", "", false },
		{ "x\nOn  wrote:", "x", "", "", true },
		{ "x\nOn wrote:", "x", "", "", true },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_quoted got;

		mr_quoted_split(arena, cases[i].text, &got);
		CHECK_STR(got.visible, cases[i].visible);
		CHECK_STR(got.at, cases[i].at);
		CHECK_STR(got.from, cases[i].from);
		CHECK_INT(got.has_quoted, cases[i].has_quoted);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(cuts_quoted_history),
	};

	return test_main(tests, MR_LEN(tests));
}
