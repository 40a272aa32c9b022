/* tests/unit/workspace/test_work_text_set.c */
#include "workspace/text_set.h"

#include "test.h"

static void each_text_stands_once_in_order(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_work_text_set set = { 0 };

	CHECK(!mr_work_text_set_has(&set, "a"));
	CHECK(mr_work_text_set_add(arena, &set, "b"));
	CHECK(mr_work_text_set_add(arena, &set, "a"));
	CHECK(!mr_work_text_set_add(arena, &set, "b"));
	CHECK(mr_work_text_set_add(arena, &set, ""));
	CHECK_INT(set.texts.len, 3);
	CHECK_STR(mr_str_join(arena, &set.texts, ","), "b,a,");
	CHECK(set.texts.items[3] == NULL);
	CHECK(mr_work_text_set_has(&set, "a") && mr_work_text_set_has(&set, ""));
	CHECK(!mr_work_text_set_has(&set, "c"));
	CHECK_INT(mr_work_text_set_find(&set, "b"), 0);
	CHECK_INT(mr_work_text_set_find(&set, ""), 2);
	CHECK(mr_work_text_set_find(&set, "c") == SIZE_MAX);
	mr_arena_free(arena);
}

/* Time and memory follow the number of texts: twice as many take no more than about twice. */
static void many_texts_take_little_memory(void)
{
	enum { COUNT = 30000, BYTES_EACH = 200 };
	struct mr_arena *arena = mr_arena_new(), *names = mr_arena_new();
	struct mr_work_text_set set = { 0 };

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < COUNT; i++)
			CHECK(mr_work_text_set_add(arena, &set,
				      mr_arena_printf(names, "message_%d", i)) == (round == 0));
	CHECK_INT(set.texts.len, COUNT);
	for (int i = 0; i < COUNT; i += 997)
		CHECK_STR(set.texts.items[i], mr_arena_printf(names, "message_%d", i));
	CHECK(mr_arena_size(arena) < (size_t)COUNT * BYTES_EACH);
	mr_arena_free(names);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(each_text_stands_once_in_order),
		TEST(many_texts_take_little_memory),
	};

	return test_main(tests, MR_LEN(tests));
}
