/* tests/unit/workspace/test_work_offset.c */
#include "workspace/offset.h"

#include "test.h"

#include <stdlib.h>
#include <time.h>

static void offsets_have_many_spellings(void)
{
	static const struct {
		const char *text;
		const char *stored; /* NULL: refused */
	} cases[] = {
		{ "UTC", "UTC" },
		{ "utc", "UTC" },
		{ "Z", "UTC" },
		{ "+00:00", "UTC" },
		{ "-00:00", "UTC" },
		{ "+8", "+08:00" },
		{ "+08", "+08:00" },
		{ "+0530", "+05:30" },
		{ "+5:30", "+05:30" },
		{ "-03:30", "-03:30" },
		{ "+23:59", "+23:59" },
		{ "+24:00", NULL },
		{ "+08:60", NULL },
		{ "+530", NULL },
		{ "+", NULL },
		{ "", NULL },
		{ "8", NULL },
		{ "+08:0", NULL },
		{ "+008:00", NULL },
		{ "+:30", NULL },
		{ "+0x", NULL },
		{ "+08:00 ", NULL },
		{ "Asia/Shanghai", NULL },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		int minutes;
		bool good = mr_work_offset_parse(cases[i].text, &minutes);

		CHECK_INT(good, cases[i].stored != NULL);
		if (good)
			CHECK_STR(mr_work_offset_text(arena, minutes), cases[i].stored);
	}
	setenv("TZ", "XXX-05:30", 1);
	tzset();
	CHECK_INT(mr_work_offset_of_host(INT64_C(1767225600000000)), 330);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(offsets_have_many_spellings),
	};

	return test_main(tests, MR_LEN(tests));
}
