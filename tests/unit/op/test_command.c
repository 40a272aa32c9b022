/* tests/unit/op/test_command.c */
#include "op/command.h"
#include "table.h"
#include "test.h"

static void commands_are_found_by_path(void)
{
	CHECK(mr_command_find(&table, "team mail send") == &table_send);
	CHECK(mr_command_find(&table, "health") == &table_health);
	CHECK(mr_command_find(&table, "team") == NULL);
	CHECK(mr_command_find(&table, "") == NULL);
}

static void groups_are_known_by_what_follows(void)
{
	CHECK(mr_command_is_group(&table, ""));
	CHECK(mr_command_is_group(&table, "team"));
	CHECK(mr_command_is_group(&table, "team mail"));
	CHECK(mr_command_is_group(&table, "health"));
	CHECK(!mr_command_is_group(&table, "team inbox"));
	CHECK(!mr_command_is_group(&table, "tea"));
	CHECK(!mr_command_is_group(&table, "hidden"));
}

static void words_are_listed_once(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts words = mr_command_words(arena, &table, "");

	CHECK_STR(mr_str_join(arena, &words, " "), "team health");
	words = mr_command_words(arena, &table, "team");
	CHECK_STR(mr_str_join(arena, &words, " "), "mail inbox");
	words = mr_command_words(arena, &table, "team inbox");
	CHECK_INT(words.len, 0);
}

static void names_become_options(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_command_option(arena, &table_send_params[2]), "--ack-required");
	CHECK_STR(mr_command_join(arena, "", "a"), "a");
	CHECK_STR(mr_command_join(arena, "a", "b"), "a b");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(commands_are_found_by_path),
		TEST(groups_are_known_by_what_follows),
		TEST(words_are_listed_once),
		TEST(names_become_options),
	};

	return test_main(tests, MR_LEN(tests));
}
