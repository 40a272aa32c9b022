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

static void a_default_is_a_value_or_words(void)
{
	static const char *const words[] = { "low", "high", NULL };
	static const struct {
		struct mr_param param;
		bool known;
		enum mr_kind kind;
	} rows[] = {
		{ { .type = MR_TYPE_INT, .fallback = "20" }, true, MR_INT },
		{ { .type = MR_TYPE_INT, .fallback = "50 of several" }, false, MR_NULL },
		{ { .type = MR_TYPE_BOOL, .fallback = "false" }, true, MR_BOOL },
		{ { .type = MR_TYPE_BOOL, .fallback = "as the message" }, false, MR_NULL },
		{ { .type = MR_TYPE_TEXT, .fallback = "Re:" }, true, MR_TEXT },
		{ { .type = MR_TYPE_TEXT, .fallback = "who wrote it" }, false, MR_NULL },
		{ { .type = MR_TYPE_TEXT, .fallback = "low", .choices = words }, true, MR_TEXT },
		{ { .type = MR_TYPE_TEXT, .fallback = "mid", .choices = words }, false, MR_NULL },
		{ { .type = MR_TYPE_TEXTS, .fallback = "x" }, false, MR_NULL },
		{ { .type = MR_TYPE_TEXT }, false, MR_NULL },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_value value = { .kind = MR_NULL };

		CHECK(mr_param_default(&rows[i].param, &value) == rows[i].known);
		CHECK_INT(value.kind, rows[i].kind);
	}
}

static void lists_are_told_from_objects(void)
{
	static const struct mr_field list[] = { { .name = "result", .type = MR_TYPE_LIST },
		{ .name = "mode", .type = MR_TYPE_TEXT }, { 0 } };
	static const struct mr_field object[] = { { .name = "result", .type = MR_TYPE_TEXT },
		{ 0 } };

	CHECK(mr_op_is_list(&(struct mr_op){ .result = list }));
	CHECK(!mr_op_is_list(&(struct mr_op){ .result = object }));
	CHECK(!mr_op_is_list(&second));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(operations_are_found_by_name),
		TEST(tables_are_counted),
		TEST(a_name_beats_an_alias),
		TEST(a_default_is_a_value_or_words),
		TEST(lists_are_told_from_objects),
	};

	return test_main(tests, MR_LEN(tests));
}
