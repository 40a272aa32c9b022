/* tests/unit/team/test_team_error.c */
#include "team/error.h"

#include "base/attr.h"
#include "team/limits.h"
#include "test.h"

#include <string.h>

static const char *near(struct mr_arena *arena, const char *asked, struct mr_texts names)
{
	struct mr_texts found = mr_team_nearest(arena, asked, &names);

	CHECK(found.items[found.len] == NULL);
	return mr_str_join(arena, &found, " ");
}

static void the_nearest_comes_first(void)
{
	const char *items[] = { "BlueLake", "GreenCastle", "GreenCrane", "GreenCastel",
		"greencastle", NULL };
	struct mr_texts names = { items, 5 };
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(near(arena, "GreenCastle", names),
		"GreenCastle greencastle GreenCastel GreenCrane");
	CHECK_STR(near(arena, "BlueLaek", names), "BlueLake");
	CHECK_STR(near(arena, "x", names), "");
	CHECK_STR(near(arena, "", names), "");
	CHECK_STR(near(arena, "Zygote", names), "");
	mr_arena_free(arena);
}

static void there_are_few_and_none_twice(void)
{
	const char *items[] = { "aaaa1", "aaaa2", "aaaa1", "aaaa3", "aaaa4", "aaaa5", "aaaa6",
		NULL };
	struct mr_texts names = { items, 7 };
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(near(arena, "aaaa0", names), "aaaa1 aaaa2 aaaa3 aaaa4 aaaa5");
	mr_arena_free(arena);
}

static void a_huge_question_is_near_nothing(void)
{
	const char *items[] = { "GreenCastle", NULL };
	struct mr_texts names = { items, 1 };
	struct mr_arena *arena = mr_arena_new();
	char *huge = mr_arena_alloc(arena, (1 << 20) + 1);

	memset(huge, 'G', 1 << 20);
	CHECK_STR(near(arena, huge, names), "");
	mr_arena_free(arena);
}

static void unknown_types_are_our_fault(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new() };

	CHECK_INT(mr_team_fail(&cx, "SOMETHING_NEW", "x"), MR_EINTERNAL);
	CHECK_STR(cx.err.word, "SOMETHING_NEW");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_nearest_comes_first),
		TEST(there_are_few_and_none_twice),
		TEST(a_huge_question_is_near_nothing),
		TEST(unknown_types_are_our_fault),
	};

	return test_main(tests, MR_LEN(tests));
}
