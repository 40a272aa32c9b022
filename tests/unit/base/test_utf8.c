/* tests/unit/base/test_utf8.c */
#include "base/utf8.h"

#include "base/rand.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static bool is_scalar(uint32_t value)
{
	return value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
}

/*
 * The oracle: what RFC 3629 section 4 lists, row by row, as ranges of bytes. Returns the length of
 * the character at `b`, or 0.
 */
static size_t oracle(const uint8_t *b, size_t len)
{
	static const struct {
		size_t len;
		uint8_t from[4];
		uint8_t to[4];
	} rows[] = {
		{ 1, { 0x00 }, { 0x7f } },
		{ 2, { 0xc2, 0x80 }, { 0xdf, 0xbf } },
		{ 3, { 0xe0, 0xa0, 0x80 }, { 0xe0, 0xbf, 0xbf } },
		{ 3, { 0xe1, 0x80, 0x80 }, { 0xec, 0xbf, 0xbf } },
		{ 3, { 0xed, 0x80, 0x80 }, { 0xed, 0x9f, 0xbf } },
		{ 3, { 0xee, 0x80, 0x80 }, { 0xef, 0xbf, 0xbf } },
		{ 4, { 0xf0, 0x90, 0x80, 0x80 }, { 0xf0, 0xbf, 0xbf, 0xbf } },
		{ 4, { 0xf1, 0x80, 0x80, 0x80 }, { 0xf3, 0xbf, 0xbf, 0xbf } },
		{ 4, { 0xf4, 0x80, 0x80, 0x80 }, { 0xf4, 0x8f, 0xbf, 0xbf } },
	};

	for (size_t r = 0; r < MR_LEN(rows); r++) {
		size_t good = 0;

		while (good < rows[r].len && good < len && b[good] >= rows[r].from[good] &&
			b[good] <= rows[r].to[good])
			good++;
		if (good == rows[r].len)
			return good;
	}
	return 0;
}

static void every_scalar_goes_there_and_back(void)
{
	size_t total = 0;

	for (uint32_t value = 0; value < 0x120000; value++) {
		char bytes[4] = { 'k', 'k', 'k', 'k' };
		uint32_t back = 0xabcdef;
		size_t n = mr_utf8_put(value, bytes);

		if (!is_scalar(value)) {
			CHECK_INT(n, 0);
			CHECK(memcmp(bytes, "kkkk", 4) == 0);
			continue;
		}
		CHECK_INT(n, value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4);
		for (size_t i = n; i < 4; i++)
			CHECK_INT(bytes[i], 'k');
		CHECK_INT(oracle((uint8_t *)bytes, n), n);
		CHECK_INT(mr_utf8_next(bytes, n, &back), n);
		CHECK_INT(back, value);
		for (size_t cut = 1; cut < n; cut++)
			CHECK_INT(mr_utf8_next(bytes, cut, &back), 0);
		CHECK_INT(back, value);
		total++;
	}
	CHECK_INT(total, 0x110000 - 0x800);
	CHECK_INT(mr_utf8_put(UINT32_MAX, (char[4]){ 0 }), 0);
}

static void check_sequence(const uint8_t *b, size_t len)
{
	uint32_t value = 0xabcdef;
	size_t want = oracle(b, len);
	size_t bad_at = 99;
	size_t at = 0;

	CHECK_INT(mr_utf8_next((const char *)b, len, &value), want);
	CHECK((value == 0xabcdef) == (want == 0));
	while (at < len && oracle(b + at, len - at))
		at += oracle(b + at, len - at);
	CHECK_INT(mr_utf8_is_valid((const char *)b, len, &bad_at), at == len);
	CHECK_INT(bad_at, at == len ? 99 : at);
}

static void every_short_sequence_is_judged_rightly(void)
{
	for (uint32_t v = 0; v < 1 << 24; v++) {
		const uint8_t b[3] = { (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };

		check_sequence(b, 3);
		if (b[2] == 0)
			check_sequence(b, 2);
		if (b[1] == 0 && b[2] == 0)
			check_sequence(b, 1);
	}
}

/* Four bytes: every lead, and followers on both sides of every border. */
static void long_sequences_are_judged_rightly(void)
{
	static const uint8_t edges[] = { 0x00, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
		0xc2, 0xe2, 0xf0, 0xff };
	enum { N = MR_LEN(edges) };

	for (uint32_t lead = 0x80; lead <= 0xff; lead++) {
		for (size_t i = 0; i < N * N * N; i++) {
			const uint8_t b[4] = { (uint8_t)lead, edges[i / N / N], edges[i / N % N],
				edges[i % N] };

			check_sequence(b, 4);
		}
	}
}

static void validity_says_where(void)
{
	size_t bad_at = 7;

	CHECK(mr_utf8_is_valid("", 0, &bad_at));
	CHECK(mr_utf8_is_valid(NULL, 0, NULL));
	CHECK(mr_utf8_is_valid("a\0b", 3, &bad_at));
	CHECK_INT(bad_at, 7);
	CHECK(!mr_utf8_is_valid("ab\xc3\xa9\xff", 5, NULL));
	CHECK(!mr_utf8_is_valid("ab\xc3\xa9\xff", 5, &bad_at));
	CHECK_INT(bad_at, 4);
	CHECK(!mr_utf8_is_valid("ab\xc3\xa9", 3, &bad_at));
	CHECK_INT(bad_at, 2);
}

static void knows_runs_of_ascii(void)
{
	char text[33];

	CHECK_INT(mr_utf8_ascii_run("", 0), 0);
	for (size_t len = 0; len < sizeof(text); len++) {
		memset(text, 'a', sizeof(text));
		CHECK_INT(mr_utf8_ascii_run(text, len), len);
		text[len] = '\x80';
		CHECK_INT(mr_utf8_ascii_run(text, sizeof(text)), len);
	}
}

enum { TEXT_CHARS = 12 };

/* A text of random characters, all lengths mixed; `starts[i]` is where character i begins. */
static size_t random_text(struct mr_rand *rand, char *text, size_t starts[TEXT_CHARS + 1])
{
	static const uint32_t picks[] = { 0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff,
		0x10000, 0x10ffff, 0x20, 0xa0, 0x3000, 0x2028, 0x85 };
	size_t len = 0;

	for (size_t i = 0; i < TEXT_CHARS; i++) {
		starts[i] = len;
		len += mr_utf8_put(picks[mr_rand_below(rand, MR_LEN(picks))], text + len);
	}
	starts[TEXT_CHARS] = len;
	return len;
}

static void cuts_and_counts_by_characters(void)
{
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 11);
	for (int round = 0; round < 2000; round++) {
		size_t starts[TEXT_CHARS + 1];
		char room[TEXT_CHARS * 4];
		size_t len = random_text(&rand, room, starts);
		char *text = memcpy(malloc(len), room, len);

		for (size_t max = 0; max <= len + 2; max++) {
			size_t want = 0;

			for (size_t i = 0; i <= TEXT_CHARS && starts[i] <= max; i++)
				want = starts[i];
			CHECK_INT(mr_utf8_truncate(text, len, max), want);
		}
		CHECK_INT(mr_utf8_truncate(text, len, SIZE_MAX), len);
		CHECK_INT(mr_utf8_count(text, len), TEXT_CHARS);
		for (size_t i = 0; i <= TEXT_CHARS; i++)
			CHECK_INT(mr_utf8_prefix(text, len, i), starts[i]);
		CHECK_INT(mr_utf8_prefix(text, len, TEXT_CHARS + 1), len);
		CHECK_INT(mr_utf8_prefix(text, len, SIZE_MAX), len);
		free(text);
	}
	CHECK_INT(mr_utf8_truncate("", 0, 10), 0);
	CHECK_INT(mr_utf8_truncate("abc", 3, 0), 0);
	CHECK_INT(mr_utf8_count("", 0), 0);
	CHECK_INT(mr_utf8_prefix("", 0, 3), 0);
}

/* Promised for valid text only, but it must not read outside whatever it is given. */
static void cutting_bad_bytes_stays_inside(void)
{
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 5);
	for (int round = 0; round < 20000; round++) {
		size_t len = mr_rand_below(&rand, 9);
		char *text = malloc(len + !len);
		const char *stripped = text;
		size_t stripped_len = len;

		mr_rand_fill(&rand, text, len);
		for (size_t i = 0; i < len; i++)
			text[i] = (char)(text[i] | 0x80);
		for (size_t max = 0; max <= len; max++) {
			CHECK(mr_utf8_truncate(text, len, max) <= max);
			CHECK(mr_utf8_prefix(text, len, max) <= len);
		}
		CHECK(mr_utf8_count(text, len) <= len);
		CHECK(mr_utf8_width(text, len) <= 2 * len);
		mr_utf8_strip(&stripped, &stripped_len);
		CHECK(stripped >= text && stripped + stripped_len <= text + len);
		free(text);
	}
}

/* The list of Python 3.11, whose str.strip() is the model. */
static void knows_white_space(void)
{
	static const uint32_t spaces[] = { 0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20,
		0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007,
		0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
	size_t next = 0;

	for (uint32_t value = 0; value <= 0x10ffff; value++) {
		bool want = next < MR_LEN(spaces) && spaces[next] == value;

		CHECK_INT(mr_utf8_is_space(value), want);
		next += want;
	}
	CHECK_INT(next, MR_LEN(spaces));
}

static void strips(void)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "", "" },
		{ " ", "" },
		{ " \t\r\n\v\f", "" },
		{ "a", "a" },
		{ "  a b  ", "a b" },
		{ "\xc2\xa0x\xc2\x85", "x" },
		{ "\xe3\x80\x80\xe2\x80\xa8x y\xe2\x80\x8a", "x y" },
		{ "\xe3\x80\x80", "" },
		{ "\xc2\x85\xc2\xa0", "" },
		/* A zero width space and a byte order mark are none. */
		{ "\xe2\x80\x8bx\xe2\x80\x8b", "\xe2\x80\x8bx\xe2\x80\x8b" },
		{ "\xef\xbb\xbfx ", "\xef\xbb\xbfx" },
		/* The last byte of this one looks like a no-break space's. */
		{ "\xc3\xa0 ", "\xc3\xa0" },
		{ " \xf0\x9f\x98\x80 ", "\xf0\x9f\x98\x80" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		size_t len = strlen(cases[i].text);
		char *exact = memcpy(malloc(len + !len), cases[i].text, len);
		const char *text = exact;

		mr_utf8_strip(&text, &len);
		CHECK_INT(len, strlen(cases[i].want));
		CHECK(memcmp(text, cases[i].want, len) == 0);
		free(exact);
	}
}

static void knows_columns(void)
{
	static const struct {
		const char *text;
		size_t width;
	} cases[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "\t\n\x1b", 0 },
		{ "\xc3\xa9", 1 },
		{ "e\xcc\x81", 1 },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4 },
		{ "\xf0\x9f\x98\x80", 2 },
		{ "\xe2\x80\x8b", 0 },
		/* Bad bytes show as one replacement character each. */
		{ "a\xff\xfe", 3 },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_INT(mr_utf8_width(cases[i].text, strlen(cases[i].text)), cases[i].width);
	CHECK_INT(mr_utf8_width("a\0b", 3), 2);
}

static void knows_words_and_folds_them(void)
{
	static const struct {
		uint32_t scalar;
		bool is_word, is_mark;
		uint32_t fold;
	} cases[] = {
		{ 'a', true, false, 'a' },
		{ 'Z', true, false, 'z' },
		{ '7', true, false, '7' },
		{ '_', false, false, '_' },
		{ '-', false, false, '-' },
		{ 0xc9, true, false, 'e' },         /* E acute */
		{ 0x1ed3, true, false, 'o' },       /* o circumflex grave */
		{ 0xdf, true, false, 0xdf },        /* sharp s */
		{ 0x301, false, true, 0x301 },      /* an acute by itself */
		{ 0x416, true, false, 0x436 },      /* Cyrillic */
		{ 0xac01, true, false, 0xac01 },    /* a Hangul syllable */
		{ 0x65e5, true, false, 0x65e5 },    /* Han */
		{ 0x1f600, false, false, 0x1f600 }, /* a face */
		{ 0xe000, true, false, 0xe000 },    /* private */
		{ 0x110000, false, false, 0x110000 },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_utf8_is_word(cases[i].scalar), cases[i].is_word);
		CHECK_INT(mr_utf8_is_mark(cases[i].scalar), cases[i].is_mark);
		CHECK_INT(mr_utf8_fold(cases[i].scalar), cases[i].fold);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_scalar_goes_there_and_back),
		TEST(every_short_sequence_is_judged_rightly),
		TEST(long_sequences_are_judged_rightly),
		TEST(validity_says_where),
		TEST(knows_runs_of_ascii),
		TEST(cuts_and_counts_by_characters),
		TEST(cutting_bad_bytes_stays_inside),
		TEST(knows_white_space),
		TEST(strips),
		TEST(knows_words_and_folds_them),
		TEST(knows_columns),
	};

	return test_main(tests, MR_LEN(tests));
}
