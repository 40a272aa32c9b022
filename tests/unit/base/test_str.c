/* tests/unit/base/test_str.c */
#include "base/str.h"

#include "test.h"

#include <string.h>

static void equality(void)
{
	static const struct {
		const char *a;
		const char *b;
		bool eq;
		bool nocase;
	} cases[] = {
		{ NULL, NULL, true, true },
		{ NULL, "", false, false },
		{ "", NULL, false, false },
		{ "", "", true, true },
		{ "a", "a", true, true },
		{ "a", "A", false, true },
		{ "a", "ab", false, false },
		{ "aZ09", "Az09", false, true },
		/* Case is ASCII's only. */
		{ "\xc3\xa9", "\xc3\x89", false, false },
		{ "[", "{", false, false },
		{ "@", "`", false, false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_str_eq(cases[i].a, cases[i].b), cases[i].eq);
		CHECK_INT(mr_str_eq_nocase(cases[i].a, cases[i].b), cases[i].nocase);
		if (cases[i].a && cases[i].b)
			CHECK_INT(mr_str_eq_secret(cases[i].a, cases[i].b), cases[i].eq);
	}
	CHECK(mr_str_is_empty(NULL));
	CHECK(mr_str_is_empty(""));
	CHECK(!mr_str_is_empty(" "));
}

/* Lengths that differ, and texts that repeat: the comparison wraps around inside. */
static void secrets_are_equal_only_when_they_are(void)
{
	CHECK(mr_str_eq_secret("token-1", "token-1"));
	CHECK(!mr_str_eq_secret("token-1", "token-2"));
	CHECK(!mr_str_eq_secret("token-1", "Token-1"));
	CHECK(!mr_str_eq_secret("token-1", "token-"));
	CHECK(!mr_str_eq_secret("token-1", "token-11"));
	CHECK(!mr_str_eq_secret("ab", "abab"));
	CHECK(!mr_str_eq_secret("abab", "ab"));
	CHECK(!mr_str_eq_secret("", "a"));
	CHECK(!mr_str_eq_secret("a", ""));
	CHECK(!mr_str_eq_secret("aaaa", "a"));
	CHECK(!mr_str_eq_secret("\x80", "\xff"));
}

static void starts_and_ends(void)
{
	CHECK(mr_str_starts("inbox/a", "inbox/"));
	CHECK(mr_str_starts("a", "a"));
	CHECK(mr_str_starts("a", ""));
	CHECK(mr_str_starts("", ""));
	CHECK(!mr_str_starts("", "a"));
	CHECK(!mr_str_starts("in", "inbox"));
	CHECK(mr_str_ends("a.md", ".md"));
	CHECK(mr_str_ends(".md", ".md"));
	CHECK(mr_str_ends("a", ""));
	CHECK(!mr_str_ends("md", ".md"));
	CHECK(!mr_str_ends("", "a"));
	CHECK(!mr_str_ends("a.md2", ".md"));
	CHECK(!mr_str_ends("a.MD", ".md"));
}

static void bytes(void)
{
	struct mr_bytes got = mr_bytes_text("abc");

	CHECK(got.len == 3 && memcmp(got.data, "abc", 3) == 0);
	got = mr_bytes_of("a\0b", 3);
	CHECK(got.len == 3 && memcmp(got.data, "a\0b", 3) == 0);
	CHECK_INT(mr_bytes_text("").len, 0);
}

static void trims_and_lowers(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_str_trim(arena, ""), "");
	CHECK_STR(mr_str_trim(arena, " \t\n\v\f\r "), "");
	CHECK_STR(mr_str_trim(arena, "\t a b\r\n"), "a b");
	CHECK_STR(mr_str_trim(arena, "x"), "x");
	/* Other white space is not ASCII's. */
	CHECK_STR(mr_str_trim(arena, " \xc2\xa0 "), "\xc2\xa0");
	CHECK_STR(mr_str_trim(arena, "\x1c\x08"), "\x1c\x08");
	CHECK_STR(mr_str_lower(arena, ""), "");
	CHECK_STR(mr_str_lower(arena, "AZaz09@[`{"), "azaz09@[`{");
	CHECK_STR(mr_str_lower(arena, "\xc3\x89"), "\xc3\x89");
}

static void splits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct {
		const char *text;
		char sep;
		const char *parts[4];
	} cases[] = {
		{ "", ',', { NULL } },
		{ ",", ',', { NULL } },
		{ ",,,,", ',', { NULL } },
		{ " , ,\t", ',', { NULL } },
		{ "a", ',', { "a" } },
		{ "a,b", ',', { "a", "b" } },
		{ ",a,,b,", ',', { "a", "b" } },
		{ " a b , c ", ',', { "a b", "c" } },
		{ "a b  c", ' ', { "a", "b", "c" } },
		{ "a\r\nb\n", '\n', { "a", "b" } },
		{ "a,b", ';', { "a,b" } },
		{ " whole ", '\0', { "whole" } },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_texts got = mr_str_split(arena, cases[i].text, cases[i].sep);
		size_t count = 0;

		for (; cases[i].parts[count]; count++)
			CHECK_STR(got.items[count], cases[i].parts[count]);
		CHECK_INT(got.len, count);
		CHECK(got.items[got.len] == NULL);
	}
}

/* Nothing but separators is nothing: it must not cost memory for each of them. */
static void splitting_nothing_costs_nothing(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static char commas[1 << 20];

	memset(commas, ',', sizeof(commas) - 1);
	CHECK_INT(mr_str_split(arena, commas, ',').len, 0);
	CHECK(mr_arena_size(arena) < 64 * 1024);
}

static void joins(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *items[] = { "a", "", "bc", NULL };
	struct mr_texts texts = { items, 0 };

	CHECK_STR(mr_str_join(arena, &texts, ", "), "");
	CHECK(!mr_texts_has(&texts, "a"));
	texts.len = 1;
	CHECK_STR(mr_str_join(arena, &texts, ", "), "a");
	texts.len = 3;
	CHECK_STR(mr_str_join(arena, &texts, ", "), "a, , bc");
	CHECK_STR(mr_str_join(arena, &texts, ""), "abc");
	CHECK(mr_texts_has(&texts, "bc"));
	CHECK(mr_texts_has(&texts, ""));
	CHECK(!mr_texts_has(&texts, "b"));
	CHECK(!mr_texts_has(&texts, "BC"));
}

static void reads_integers(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{ "0", 0 },
		{ "-0", 0 },
		{ "7", 7 },
		{ "-7", -7 },
		{ "007", 7 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
		{ "0000000000000000000000000000001", 1 },
	};
	static const char *const bad[] = { "", "-", "+1", "--1", "-+1", " 1", "1 ", "1\n", "0x10",
		"1e3", "1.0", "a", "1a", "- 1", "9223372036854775808", "-9223372036854775809",
		"99999999999999999999999999", "\xd9\xa1" };
	int64_t got = 42;

	for (size_t i = 0; i < MR_LEN(good); i++) {
		CHECK(mr_str_to_int(good[i].text, &got));
		CHECK_INT(got, good[i].value);
	}
	got = 42;
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		if (mr_str_to_int(bad[i], &got))
			test_fail(__FILE__, __LINE__, "\"%s\" was taken for a number", bad[i]);
		CHECK_INT(got, 42);
	}
}

static void reads_booleans(void)
{
	static const char *const yes[] = { "1", "true", "TRUE", "t", "T", "yes", "Yes", "y", "on" };
	static const char *const no[] = { "0", "false", "False", "f", "no", "N", "off", "OFF" };
	static const char *const bad[] = { NULL, "", " 1", "1 ", "2", "tru", "truee", "-1",
		"enable" };

	for (size_t i = 0; i < MR_LEN(yes); i++) {
		bool got = false;

		CHECK(mr_str_to_bool(yes[i], &got) && got);
	}
	for (size_t i = 0; i < MR_LEN(no); i++) {
		bool got = true;

		CHECK(mr_str_to_bool(no[i], &got) && !got);
	}
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		bool got = true;

		CHECK(!mr_str_to_bool(bad[i], &got));
		CHECK(got);
	}
}

static void measures_distance(void)
{
	static const struct {
		const char *a;
		const char *b;
		size_t distance;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "abc", "abc", 0 },
		{ "abc", "ABC", 0 },
		{ "abc", "abd", 1 },
		{ "abc", "ab", 1 },
		{ "abc", "xabc", 1 },
		{ "abc", "acb", 1 },
		{ "ab", "ba", 1 },
		{ "abcd", "badc", 2 },
		{ "kitten", "sitting", 3 },
		{ "subject", "sbuject", 1 },
		{ "ca", "abc", 3 },
	};
	char long_text[80];

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_str_distance(cases[i].a, cases[i].b, 99), cases[i].distance);
		CHECK_INT(mr_str_distance(cases[i].b, cases[i].a, 99), cases[i].distance);
		CHECK_INT(mr_str_distance(cases[i].a, cases[i].b, 1), cases[i].distance > 0);
		CHECK_INT(mr_str_distance(cases[i].a, cases[i].b, 0), 0);
	}
	/* 64 bytes are the longest that are looked at. */
	memset(long_text, 'x', sizeof(long_text));
	long_text[64] = '\0';
	CHECK_INT(mr_str_distance(long_text, long_text, 99), 0);
	CHECK_INT(mr_str_distance(long_text, "", 99), 64);
	long_text[64] = 'x';
	long_text[65] = '\0';
	CHECK_INT(mr_str_distance(long_text, long_text, 99), 99);
	CHECK_INT(mr_str_distance("a", long_text, 5), 5);
}

static void finds_the_nearest(void)
{
	static const char *const words[] = { "to", "cc", "subject", "body", "importance", "x" };
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "subjct", "subject" },
		{ "SUBJECT", "subject" },
		{ "sbject", "subject" },
		{ "bdoy", "body" },
		{ "importence", "importance" },
		{ "improtnace", "importance" },
		{ "too", "to" },
		{ "t", "to" },
		{ "recipient", NULL },
		{ "sub", NULL },
		/* One slip that leaves nothing of the word is no slip. */
		{ "q", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_str_nearest(cases[i].text, words, MR_LEN(words)), cases[i].want);
	CHECK(mr_str_nearest("to", NULL, 0) == NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(equality),
		TEST(secrets_are_equal_only_when_they_are),
		TEST(starts_and_ends),
		TEST(bytes),
		TEST(trims_and_lowers),
		TEST(splits),
		TEST(splitting_nothing_costs_nothing),
		TEST(joins),
		TEST(reads_integers),
		TEST(reads_booleans),
		TEST(measures_distance),
		TEST(finds_the_nearest),
	};

	return test_main(tests, MR_LEN(tests));
}
