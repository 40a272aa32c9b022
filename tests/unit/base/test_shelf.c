/* tests/unit/base/test_shelf.c */
#include "base/shelf.h"
#include "base/str.h"
#include "test.h"

static void count(void *thing)
{
	++*(int *)thing;
}

static void gives_back_what_was_put_last(void)
{
	struct mr_shelf *shelf = mr_shelf_new();
	int a = 0, b = 0, other = 0;

	CHECK(mr_shelf_take(shelf, MR_SHELF_LARGE, "x") == NULL);
	mr_shelf_put(shelf, MR_SHELF_LARGE, "x", &a, count);
	mr_shelf_put(shelf, MR_SHELF_LARGE, "y", &other, count);
	mr_shelf_put(shelf, MR_SHELF_LARGE, "x", &b, count);
	CHECK(mr_shelf_take(shelf, MR_SHELF_SMALL, "x") == NULL);
	CHECK(mr_shelf_take(shelf, MR_SHELF_LARGE, "x") == &b);
	CHECK(mr_shelf_take(shelf, MR_SHELF_LARGE, "x") == &a);
	CHECK(mr_shelf_take(shelf, MR_SHELF_LARGE, "x") == NULL);
	mr_shelf_free(shelf);
	CHECK_INT(a, 0);
	CHECK_INT(b, 0);
	CHECK_INT(other, 1);
}

static void drops_what_lay_there_longest(void)
{
	struct mr_shelf *shelf = mr_shelf_new();
	int dropped[13] = { 0 };

	for (size_t i = 0; i < MR_LEN(dropped); i++)
		mr_shelf_put(shelf, MR_SHELF_LARGE, "x", &dropped[i], count);
	CHECK_INT(dropped[0], 1);
	CHECK_INT(dropped[1], 0);
	mr_shelf_freep(&shelf);
	for (size_t i = 0; i < MR_LEN(dropped); i++)
		CHECK_INT(dropped[i], 1);
}

static void without_a_shelf_nothing_is_kept(void)
{
	int dropped = 0;

	mr_shelf_put(NULL, MR_SHELF_SMALL, "x", &dropped, count);
	CHECK_INT(dropped, 1);
	CHECK(mr_shelf_take(NULL, MR_SHELF_SMALL, "x") == NULL);
	mr_shelf_free(NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(gives_back_what_was_put_last),
		TEST(drops_what_lay_there_longest),
		TEST(without_a_shelf_nothing_is_kept),
	};

	return test_main(tests, MR_LEN(tests));
}
