/* tests/unit/op/test_op.c */
#include "op/op.h"
#include "test.h"

static const char *const aliases[] = { "sender", "from", NULL };
static const struct mr_param params[] = {
	{ .name = "sender_name", .aliases = aliases },
	{ .name = "from" },
	{ 0 },
};
static const struct mr_field fields[] = { { .name = "id" }, { 0 } };
static const struct mr_op first = { .name = "first", .params = params };
static const struct mr_op second = { .name = "second" };
static const struct mr_op *const ops[] = { &first, &second };
static const struct mr_op_table table = { ops, 2 };

static void operations_are_found_by_name(void)
{
	CHECK(mr_op_find(&table, "second") == &second);
	CHECK(mr_op_find(&table, "third") == NULL);
	CHECK(mr_op_find(&table, "") == NULL);
}

static void tables_are_counted(void)
{
	CHECK_INT(mr_param_count(params), 2);
	CHECK_INT(mr_param_count(NULL), 0);
	CHECK_INT(mr_field_count(fields), 1);
	CHECK_INT(mr_field_count(NULL), 0);
}

static void a_name_beats_an_alias(void)
{
	CHECK(mr_param_find(params, "sender_name") == &params[0]);
	CHECK(mr_param_find(params, "sender") == &params[0]);
	CHECK(mr_param_find(params, "from") == &params[1]);
	CHECK(mr_param_find(params, "to") == NULL);
	CHECK(mr_param_find(NULL, "to") == NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(operations_are_found_by_name),
		TEST(tables_are_counted),
		TEST(a_name_beats_an_alias),
	};

	return test_main(tests, MR_LEN(tests));
}
