/* tests/unit/text/test_token.c */
#include "test.h"
#include "text/token.h"

#include <stdio.h>
#include <string.h>

/* 2026-03-11T04:15:00Z */
#define NOW   (INT64_C(1773202500) * MR_TIME_S)
#define HEX32 "0123456789abcdef0123456789abcdef"

static const char hex[] = "0123456789abcdef";

/* `text` is `prefix` followed by exactly `digits` lower-case hexadecimal digits. */
static void check_hex(const char *text, const char *prefix, size_t digits)
{
	CHECK(mr_str_starts(text, prefix));
	CHECK_INT(strlen(text), strlen(prefix) + digits);
	CHECK_INT(strspn(text + strlen(prefix), hex), digits);
}

static void makes_ids(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 1);
	check_hex(mr_token_hex(arena, &rand, 0), "", 0);
	check_hex(mr_token_hex(arena, &rand, 16), "", 32);
	check_hex(mr_token_hex(arena, &rand, 33), "", 66);
	check_hex(mr_token_prefixed(arena, &rand, "reg-", 32), "reg-", 32);
	check_hex(mr_token_prefixed(arena, &rand, "att-", 12), "att-", 12);
	check_hex(mr_token_uid(arena, &rand, NOW, 6), "msg_20260311_", 6);
	check_hex(mr_token_message_id(arena, &rand, NOW), "msg-20260311T041500Z-", 32);
	check_hex(mr_token_stamped(arena, &rand, "gwreq-", NOW, MR_TIME_COMPACT_DASH, "-", 8),
		"gwreq-20260311-041500Z-", 8);
	for (size_t i = 0; i < 100; i++) {
		const char *uuid = mr_token_uuid4_hex(arena, &rand);

		check_hex(uuid, "", 32);
		CHECK(uuid[12] == '4');
		CHECK(strchr("89ab", uuid[16]));
		CHECK(strcmp(uuid, mr_token_uuid4_hex(arena, &rand)) != 0);
		CHECK(mr_token_is_message_id(mr_token_message_id(arena, &rand, NOW)));
	}
}

static void repeats_itself_for_a_seed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_rand a;
	struct mr_rand b;

	mr_rand_seeded_init(&a, 7);
	mr_rand_seeded_init(&b, 7);
	CHECK_STR(mr_token_message_id(arena, &a, NOW), mr_token_message_id(arena, &b, NOW));
}

static void knows_message_ids(void)
{
	static const struct {
		const char *text;
		bool is;
	} table[] = {
		{ "msg-20260311T041500Z-" HEX32, true },
		{ "msg-99999999T999999Z-" HEX32, true },
		{ "msg-20260311T041500Z-0123456789ABCDEF0123456789abcdef", false },
		{ "msg-20260311T041500Z-0123456789abcdef0123456789abcde", false },
		{ "msg-20260311T041500Z-" HEX32 "0", false },
		{ " msg-20260311T041500Z-" HEX32, false },
		{ "msg-20260311T041500Z-" HEX32 "\n", false },
		{ "msg-20260311t041500Z-" HEX32, false },
		{ "msg-20260311T041500z-" HEX32, false },
		{ "msg_20260311T041500Z-" HEX32, false },
		{ "msg-2026031xT041500Z-" HEX32, false },
		{ "msg-\xd9\xa1"
		  "202603T041500Z-" HEX32,
			false },
		{ "msg-20260311T041500Z-0123456789abcdefg123456789abcdef", false },
		{ "", false },
		{ "msg-", false },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		if (mr_token_is_message_id(table[i].text) != table[i].is)
			test_fail(__FILE__, __LINE__, "%s", table[i].text);
	}
}

static void encodes_base64url(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *text;
	} table[] = {
		{ "", 0, "" },
		{ "f", 1, "Zg" },
		{ "fo", 2, "Zm8" },
		{ "foo", 3, "Zm9v" },
		{ "foob", 4, "Zm9vYg" },
		{ "fooba", 5, "Zm9vYmE" },
		{ "foobar", 6, "Zm9vYmFy" },
		{ "\xfb\xff\xbf", 3, "-_-_" },
		{ "\0\0", 2, "AAA" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_bytes back;
		struct mr_err err;

		CHECK_STR(mr_token_base64url(arena, mr_bytes_of(table[i].bytes, table[i].len)),
			table[i].text);
		CHECK_OK(mr_token_base64url_decode(arena, table[i].text, &back, &err), err);
		CHECK_INT(back.len, table[i].len);
		CHECK(memcmp(back.data, table[i].bytes, back.len + 1) == 0);
	}
}

static void encodes_base64(void)
{
	static const char *const table[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xfb\xff\xbf", "+/+/" } };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_STR(mr_token_base64(arena, mr_bytes_text(table[i][0])), table[i][1]);
}

static void round_trips_base64url(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_rand rand;
	uint8_t data[64];

	mr_rand_seeded_init(&rand, 3);
	for (size_t len = 0; len <= sizeof(data); len++) {
		struct mr_bytes back;
		struct mr_err err;

		mr_rand_fill(&rand, data, len);
		CHECK_OK(mr_token_base64url_decode(arena,
				 mr_token_base64url(arena, mr_bytes_of(data, len)), &back, &err),
			err);
		CHECK_INT(back.len, len);
		CHECK(memcmp(back.data, data, len) == 0);
	}
}

static void decodes_strictly(void)
{
	static const struct {
		const char *text;
		const char *msg;
	} table[] = {
		{ "Zg==", "base64url has a wrong character at byte 2" },
		{ "Zm9v\n", "base64url has a wrong character at byte 4" },
		{ "Zm+v", "base64url has a wrong character at byte 2" },
		{ "Z/9v", "base64url has a wrong character at byte 1" },
		{ "Z", "base64url ends in the middle of a byte at byte 0" },
		{ "Zm9vY", "base64url ends in the middle of a byte at byte 4" },
		{ "Zh", "base64url ends in the middle of a byte at byte 1" },
		{ "Zm9", "base64url ends in the middle of a byte at byte 2" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_bytes out = { NULL, 42 };
		struct mr_err err = { 0 };

		CHECK_INT(mr_token_base64url_decode(arena, table[i].text, &out, &err), MR_EFORMAT);
		CHECK_STR(err.msg, table[i].msg);
		CHECK_INT(out.len, 42);
	}
}

static void makes_slugs(void)
{
	static const struct {
		const char *text;
		size_t max;
		const char *slug;
		const char *file_slug;
	} table[] = {
		{ "/backend", 80, "backend", "backend" },
		{ "/data/projects/backend", 80, "data-projects-backend", "data-projects-backend" },
		{ "  Hello World!!  ", 80, "hello-world", "hello-world" },
		{ "", 80, "none", "none" },
		{ "!!!", 80, "none", "none" },
		{ "--_-", 80, "none", "none" },
		{ "My-Project", 80, "my-project", "my-project" },
		{ "a__b--c", 80, "a-b-c", "a__b--c" },
		{ "_x_", 80, "x", "x" },
		{ "Fix v1.2 / API?", 80, "fix-v1-2-api", "fix-v1.2-api" },
		{ "..", 80, "none", ".." },
		{ "a -b", 80, "a-b", "a--b" },
		{ "\xc3\xa9t\xc3\xa9", 80, "t", "t" },
		{ "one two three", 4, "one-", "one-" },
		{ "one", 0, "none", "none" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_STR(mr_token_slug(arena, table[i].text, table[i].max, "none"), table[i].slug);
		CHECK_STR(mr_token_file_slug(arena, table[i].text, table[i].max, "none"),
			table[i].file_slug);
	}
}

static void picks_every_word(void)
{
	static const char *const adjectives[] = { "Green", "Blue", "Red" };
	static const char *const nouns[] = { "Castle", "Lake" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_rand rand;
	size_t seen[MR_LEN(adjectives)][MR_LEN(nouns)] = { 0 };

	mr_rand_seeded_init(&rand, 11);
	for (size_t i = 0; i < 600; i++) {
		const char *name = mr_token_name(arena, &rand, adjectives, MR_LEN(adjectives),
			nouns, MR_LEN(nouns));
		size_t hits = 0;

		for (size_t a = 0; a < MR_LEN(adjectives); a++) {
			for (size_t n = 0; n < MR_LEN(nouns); n++) {
				char want[32];

				snprintf(want, sizeof(want), "%s%s", adjectives[a], nouns[n]);
				hits += mr_str_eq(name, want);
				seen[a][n] += mr_str_eq(name, want);
			}
		}
		CHECK_INT(hits, 1);
	}
	for (size_t a = 0; a < MR_LEN(adjectives); a++) {
		for (size_t n = 0; n < MR_LEN(nouns); n++)
			CHECK(seen[a][n] > 50);
	}
	CHECK_STR(mr_token_pick(&rand, nouns, 1), "Castle");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_ids),
		TEST(repeats_itself_for_a_seed),
		TEST(knows_message_ids),
		TEST(encodes_base64url),
		TEST(encodes_base64),
		TEST(round_trips_base64url),
		TEST(decodes_strictly),
		TEST(makes_slugs),
		TEST(picks_every_word),
	};

	return test_main(tests, MR_LEN(tests));
}
