/* tests/unit/workspace/test_work_special_use.c */
#include "workspace/special_use.h"

#include "test.h"

#include <string.h>

static void uses_are_found_by_attribute(void)
{
	const char *before = "";

	CHECK_STR(mr_work_special_use("\\JUNK")->kind, "junk");
	CHECK_STR(mr_work_special_use("\\Junk")->flag, "$Junk");
	CHECK(!mr_work_special_use("\\Flagged")->can_move_to);
	CHECK(!mr_work_special_use("\\All")->can_move_to);
	CHECK(mr_work_special_use("\\Archive")->can_move_to);
	CHECK(!mr_work_special_use("Junk"));
	for (const struct mr_work_special_use *use = mr_work_special_uses; use->kind; use++) {
		CHECK(strcmp(before, use->kind) < 0);
		before = use->kind;
	}
}

static void usual_names_are_known(void)
{
	static const struct {
		const char *attribute, *name;
		bool is_usual;
	} cases[] = {
		{ "\\Junk", "junk e-mail", true },
		{ "\\Junk", "INBOX/Spam", true },
		{ "\\Junk", "INBOX.Spam", true },
		{ "\\Junk", "Spam/old", false },
		{ "\\Junk", "Spammers", false },
		{ "\\Sent", "Sent Messages", true },
		{ "\\Sent", "", false },
		{ "\\Trash", "Bin", true },
		{ "\\All", "[Gmail]/All Mail", true },
		{ "\\Flagged", "Starred", true },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_INT(mr_work_special_use_names(mr_work_special_use(cases[i].attribute),
				  cases[i].name),
			cases[i].is_usual);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(uses_are_found_by_attribute),
		TEST(usual_names_are_known),
	};

	return test_main(tests, MR_LEN(tests));
}
