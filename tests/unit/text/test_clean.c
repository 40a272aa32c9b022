/* tests/unit/text/test_clean.c */
#include "test.h"
#include "text/clean.h"

#include <string.h>

static void cleans_bodies(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *want;
	} cases[] = {
		{ "a\r\nlong line stays\0\a", 20, "a\nlong line stays" },
		{ "", 0, "" },
		{ "a\rb\n\rc\r\n\r\n", 11, "a\nb\n\nc\n\n" },
		{ "tab\tstays \x1b[1m\x7f\xc2\x85 \xc2\xa0", 20, "tab\tstays [1m \xc2\xa0" },
		{ "bad \xff\xc3 byte", 11, "bad \xef\xbf\xbd\xef\xbf\xbd byte" },
		{ "kept \xe2\x80\x8b\xe2\x80\xae", 11, "kept \xe2\x80\x8b\xe2\x80\xae" },
		{ "\r", 1, "\n" },
		{ "12345678\xc3\xa9\r\n12345678\a12345678\r", 30,
			"12345678\xc3\xa9\n1234567812345678\n" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_clean_body(arena, mr_bytes_of(cases[i].text, cases[i].len)),
			cases[i].want);
}

static void drops_what_is_not_seen(void)
{
	static const struct {
		const char *text;
		const char *want;
		size_t count;
	} cases[] = {
		{ "plain \u00e9\u4e2d", "plain \u00e9\u4e2d", 0 },
		{ "a\u200b\u200fb\u202a\u202ec", "abc", 4 },
		{ "\ufeff\u2060\u2064\u2066\u2069", "", 5 },
		{ "\U000e0000x\U000e007f", "x", 2 },
		{ "\u200a\u2010\u202f\u2065\u206a\U000e0080",
			"\u200a\u2010\u202f\u2065\u206a\U000e0080", 0 },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		size_t count = 99;

		CHECK_STR(mr_clean_unseen(arena, cases[i].text, &count), cases[i].want);
		CHECK_INT(count, cases[i].count);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(cleans_bodies),
		TEST(drops_what_is_not_seen),
	};

	return test_main(tests, MR_LEN(tests));
}
