/* tests/unit/base/test_library.c */
#include "base/library.h"

#include "test.h"

#include <stddef.h>

struct table {
	double (*cosine)(double angle);
	double (*other)(double angle);
};

static const struct mr_library_function functions[] = {
	{ "cos", offsetof(struct table, cosine) },
	{ "sqrt", offsetof(struct table, other) },
};

static void fills_the_table(void)
{
	const struct mr_library library = { "a test", "libm.so.6", "libc6", functions,
		MR_LEN(functions) };
	struct table table = { 0 };
	struct mr_err err = { 0 };

	CHECK(mr_library_load(&library, &table, &err) == MR_OK);
	CHECK(table.cosine(0) == 1 && table.other(9) == 3);
	CHECK(mr_library_load(&library, &table, &err) == MR_OK);
	CHECK(table.cosine(0) == 1);
}

static void says_what_to_install(void)
{
	const struct mr_library library = { "a test", "libmissing.so.7", "libmissing7", functions,
		MR_LEN(functions) };
	struct table table = { 0 };
	struct mr_err err = { 0 };

	CHECK(mr_library_load(&library, &table, &err) == MR_ENOTFOUND);
	CHECK_STR(err.msg, "a test needs libmissing.so.7: install the package libmissing7");
	CHECK(!table.cosine);
}

static void refuses_another_library(void)
{
	static const struct mr_library_function more[] = {
		{ "cos", offsetof(struct table, cosine) },
		{ "no_such_function", offsetof(struct table, other) },
		{ 0 },
	};
	const struct mr_library library = { "a test", "libm.so.6", "libc6", more, MR_LEN(more) };
	struct table table = { 0 };
	struct mr_err err = { 0 };

	CHECK(mr_library_load(&library, &table, &err) == MR_EINTERNAL);
	CHECK_STR(err.msg, "libm.so.6 has no function no_such_function");
	CHECK(!table.cosine && !table.other);
}

int main(void)
{
	static const struct test tests[] = { TEST(fills_the_table), TEST(says_what_to_install),
		TEST(refuses_another_library) };

	return test_main(tests, MR_LEN(tests));
}
