/* tests/unit/base/test_rand.c */
#include "base/rand.h"

#include "test.h"

#include <string.h>

static void the_same_seed_gives_the_same_numbers(void)
{
	struct mr_rand one;
	struct mr_rand two;
	struct mr_rand other;
	char a[100];
	char b[100];
	char c[100];

	mr_rand_seeded_init(&one, 7);
	mr_rand_seeded_init(&two, 7);
	mr_rand_seeded_init(&other, 8);
	mr_rand_fill(&one, a, sizeof(a));
	mr_rand_fill(&two, b, sizeof(b));
	mr_rand_fill(&other, c, sizeof(c));
	CHECK(memcmp(a, b, sizeof(a)) == 0);
	CHECK(memcmp(a, c, sizeof(a)) != 0);
	mr_rand_fill(&one, b, sizeof(b));
	CHECK(memcmp(a, b, sizeof(a)) != 0);
}

/* The reference sequence of SplitMix64 from seed 0: a changed one would change every seeded test.
 */
static void seeded_numbers_stay_what_they_are(void)
{
	static const uint8_t want[] = { 0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2, 0xf4, 0x65,
		0xb9, 0xa1, 0x6a, 0x9e, 0x78, 0x6e };
	struct mr_rand rand;
	uint8_t got[sizeof(want)];

	mr_rand_seeded_init(&rand, 0);
	mr_rand_fill(&rand, got, sizeof(got));
	CHECK(memcmp(got, want, sizeof(want)) == 0);
}

/* Exactly the bytes asked for are written, whatever the length. */
static void fills_to_the_byte(void)
{
	struct mr_rand seeded;
	struct mr_rand *kinds[2] = { &seeded, mr_rand_system() };

	mr_rand_seeded_init(&seeded, 1);
	for (size_t kind = 0; kind < 2; kind++) {
		for (size_t len = 0; len < 40; len++) {
			uint8_t seen[40] = { 0 };
			uint8_t room[42];

			for (int round = 0; round < 64; round++) {
				memset(room, 0, sizeof(room));
				mr_rand_fill(kinds[kind], room + 1, len);
				CHECK(room[0] == 0 && room[len + 1] == 0);
				for (size_t i = 0; i < len; i++)
					seen[i] |= room[i + 1];
			}
			/* Each byte was something once: a gap has a chance of 2^-512. */
			for (size_t i = 0; i < len; i++)
				CHECK(seen[i] != 0);
		}
	}
}

/* More than the kernel hands over in one call. */
static void fills_large_pieces(void)
{
	enum { LARGE = 33 << 20 };
	static uint8_t room[LARGE + 1];
	size_t zeros = 0;

	mr_rand_fill(mr_rand_system(), room, LARGE);
	CHECK_INT(room[LARGE], 0);
	for (size_t i = LARGE - 65536; i < LARGE; i++)
		zeros += room[i] == 0;
	CHECK(zeros > 64 && zeros < 1024);
}

static void below_stays_below_and_reaches_all(void)
{
	static const uint64_t bounds[] = { 1, 2, 3, 7, 10, 255, 256, 257 };
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 3);
	for (size_t b = 0; b < MR_LEN(bounds); b++) {
		unsigned seen[257] = { 0 };
		unsigned rounds = (unsigned)bounds[b] * 200;

		for (unsigned i = 0; i < rounds; i++) {
			uint64_t got = mr_rand_below(&rand, bounds[b]);

			CHECK(got < bounds[b]);
			seen[got]++;
		}
		/* The sequence is fixed, so this is not a matter of luck. */
		for (size_t i = 0; i < bounds[b]; i++)
			CHECK(seen[i] > 100 && seen[i] < 300);
	}
	CHECK(mr_rand_below(mr_rand_system(), 5) < 5);
}

/* A source that says what the test wants. */
static uint64_t scripted[4];
static size_t script_at;

static void scripted_fill(struct mr_rand *rand, void *out, size_t len)
{
	(void)rand;
	CHECK_INT(len, sizeof(scripted[0]));
	CHECK(script_at < MR_LEN(scripted));
	memcpy(out, &scripted[script_at++], len);
}

/* The uneven end of the range is thrown away, or small results would come more often. */
static void below_is_not_biased(void)
{
	struct mr_rand rand = { .fill = scripted_fill };

	/* 2^64 - 1 is a multiple of 3: only the one word past it is uneven. */
	scripted[0] = UINT64_MAX;
	scripted[1] = UINT64_MAX - 1;
	CHECK_INT(mr_rand_below(&rand, 3), 2);
	CHECK_INT(script_at, 2);
	/* Just over half of the range: the upper part must not fold onto the lower. */
	scripted[0] = UINT64_MAX;
	scripted[1] = ((uint64_t)1 << 63) + 1;
	scripted[2] = (uint64_t)1 << 63;
	script_at = 0;
	CHECK(mr_rand_below(&rand, ((uint64_t)1 << 63) + 1) == (uint64_t)1 << 63);
	CHECK_INT(script_at, 3);
	scripted[0] = UINT64_MAX;
	scripted[1] = UINT64_MAX - 1;
	script_at = 0;
	CHECK(mr_rand_below(&rand, UINT64_MAX) == UINT64_MAX - 1);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_same_seed_gives_the_same_numbers),
		TEST(seeded_numbers_stay_what_they_are),
		TEST(fills_to_the_byte),
		TEST(fills_large_pieces),
		TEST(below_stays_below_and_reaches_all),
		TEST(below_is_not_biased),
	};

	return test_main(tests, MR_LEN(tests));
}
