/* tests/unit/team/test_team_name.c */
#include "team/name.h"

#include "base/attr.h"
#include "team/limits.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static size_t count(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

static void the_lists_have_their_sizes(void)
{
	CHECK_INT(count(mr_team_adjectives), 62);
	CHECK_INT(count(mr_team_nouns), 69);
	CHECK_INT(MR_TEAM_ADJECTIVES * MR_TEAM_NOUNS, 4278);
	for (size_t i = 0; i < MR_TEAM_ADJECTIVES; i++) {
		for (size_t j = 0; j < i; j++)
			CHECK(!mr_str_eq(mr_team_adjectives[i], mr_team_adjectives[j]));
	}
	for (size_t i = 0; i < MR_TEAM_NOUNS; i++) {
		for (size_t j = 0; j < i; j++)
			CHECK(!mr_str_eq(mr_team_nouns[i], mr_team_nouns[j]));
	}
}

static void every_pair_is_valid(void)
{
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_TEAM_ADJECTIVES; i++) {
		for (size_t j = 0; j < MR_TEAM_NOUNS; j++) {
			const char *name = mr_arena_printf(arena, "%s%s", mr_team_adjectives[i],
				mr_team_nouns[j]);
			size_t first = 0;

			CHECK(mr_team_name_is_valid(name, false));
			CHECK(mr_team_name_parse(name, &first));
			CHECK_INT(first, strlen(mr_team_adjectives[i]));
		}
	}
	mr_arena_free(arena);
}

static void names_are_told_from_others(void)
{
	static const struct {
		const char *name;
		bool pool, any;
	} cases[] = {
		{ "GreenLake", true, true },
		{ "SwiftFox", true, true },
		{ "RedMountain", true, true },
		{ "StoneStone", true, true },
		{ "CrimsonMountain", true, true },
		{ "RedCat", true, true },
		{ "BlueDog", true, true },
		{ "YellowForest", true, true },
		{ "ChartreusePond", true, true },
		{ "lowercase", false, true },
		{ "UPPERCASE", false, true },
		{ "Invalid123", false, true },
		{ "BlueComputer", false, true },
		{ "HappyLake", false, true },
		{ "greenLake", false, true },
		{ "Greenlake", false, true },
		{ "GreenLake2", false, true },
		{ "Green", false, true },
		{ "Stormy Storm", false, false },
		{ "Green-Lake", false, false },
		{ "../GreenLake", false, false },
		{ "", false, false },
		{ "Gr\xc3\xbcnLake", false, false },
		{ "HumanOverseer", false, false },
		{ "humanoverseer", false, false },
		{ "System", false, false },
		{ "OPS", false, false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		if (mr_team_name_is_valid(cases[i].name, false) != cases[i].pool ||
			mr_team_name_is_valid(cases[i].name, true) != cases[i].any)
			test_fail(__FILE__, __LINE__, "%s", cases[i].name);
	}
	CHECK(!mr_team_name_is_valid(NULL, true));
}

static void a_name_is_cut_into_its_words(void)
{
	size_t first = 0;

	CHECK(mr_team_name_parse("CrimsonMountain", &first));
	CHECK_INT(first, strlen("Crimson"));
	CHECK(!mr_team_name_parse("Crimson", &first));
	CHECK(!mr_team_name_parse("mountain", &first));
	CHECK(!mr_team_name_parse(NULL, &first));
}

static void sanitising_leaves_letters_and_digits(void)
{
	struct mr_arena *arena = mr_arena_new();
	char *huge = mr_arena_alloc(arena, (1 << 20) + 1);

	CHECK_STR(mr_team_name_sanitise(arena, "Backend-Harmonizer!!"), "BackendHarmonizer");
	CHECK_STR(mr_team_name_sanitise(arena, "../../etc/passwd"), "etcpasswd");
	CHECK_STR(mr_team_name_sanitise(arena, "\xc3\xbc!\n"), "");
	memset(huge, 'x', 1 << 20);
	CHECK_INT(strlen(mr_team_name_sanitise(arena, huge)), MR_TEAM_NAME_BYTES);
	CHECK(!mr_team_name_is_valid(huge, true));
	CHECK(!mr_team_name_is_valid(huge, false));
	mr_arena_free(arena);
}

/* Taken names, as a set of bytes after the pair's number. */
struct taken {
	const char **names;
	size_t len;
	size_t asked;
};

static bool is_taken(void *arg, const char *name)
{
	struct taken *taken = arg;

	taken->asked++;
	for (size_t i = 0; i < taken->len; i++) {
		if (mr_str_eq(taken->names[i], name))
			return true;
	}
	return false;
}

static void names_are_drawn_all_over(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct taken taken = { mr_arena_array(arena, 200, sizeof(char *)), 0, 0 };
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 7);
	while (taken.len < 100) {
		const char *name = mr_team_name_generate(arena, &rand, is_taken, &taken);

		CHECK(mr_team_name_is_pooled(name));
		CHECK(!is_taken(&taken, name));
		taken.names[taken.len++] = name;
	}
	mr_arena_free(arena);
}

static void the_last_names_are_found_too(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct taken taken = { mr_arena_array(arena, 4300, sizeof(char *)), 0, 0 };
	struct mr_rand rand;
	const char *name, *base;

	mr_rand_seeded_init(&rand, 7);
	for (size_t i = 0; i < MR_TEAM_ADJECTIVES; i++) {
		for (size_t j = 0; j < MR_TEAM_NOUNS; j++) {
			name = mr_arena_printf(arena, "%s%s", mr_team_adjectives[i],
				mr_team_nouns[j]);
			if (!mr_str_eq(name, "VelvetOtter"))
				taken.names[taken.len++] = name;
		}
	}
	CHECK_STR(mr_team_name_generate(arena, &rand, is_taken, &taken), "VelvetOtter");
	taken.names[taken.len++] = "VelvetOtter";
	CHECK_INT(taken.len, 4278);
	name = mr_team_name_generate(arena, &rand, is_taken, &taken);
	CHECK(mr_str_ends(name, "2"));
	base = mr_arena_strndup(arena, name, strlen(name) - 1);
	CHECK(mr_team_name_is_pooled(base));
	mr_arena_free(arena);
}

static bool all_but_a_number(void *arg, const char *name)
{
	(void)arg;
	return !mr_str_ends(name, "7");
}

static void the_smallest_free_number_is_taken(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 3);
	CHECK(mr_str_ends(mr_team_name_generate(arena, &rand, all_but_a_number, NULL), "7"));
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_lists_have_their_sizes),
		TEST(every_pair_is_valid),
		TEST(names_are_told_from_others),
		TEST(a_name_is_cut_into_its_words),
		TEST(sanitising_leaves_letters_and_digits),
		TEST(names_are_drawn_all_over),
		TEST(the_last_names_are_found_too),
		TEST(the_smallest_free_number_is_taken),
	};

	return test_main(tests, MR_LEN(tests));
}
