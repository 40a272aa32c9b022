/* tests/unit/surface/test_budget.c */
#include "surface/http/budget.h"

#include "test.h"

#include <string.h>

enum { MIB = 1 << 20, F = MR_HTTP_BUDGET_FACTOR };

static void has_a_default(void)
{
	CHECK_INT(mr_http_budget_default(0), 8 * MIB);
	CHECK_INT(mr_http_budget_default(200 * (uint64_t)MIB), 25 * MIB);
	CHECK_INT(mr_http_budget_default((uint64_t)64 << 30), 256 * MIB);
	CHECK_INT(mr_http_budget_default(UINT64_MAX), 256 * MIB);
}

static void shares_what_there_is(void)
{
	struct mr_http_budget budget = { .max = 8 * F * MIB };
	uint64_t a = 0, b = 0, c = 0, small = 0;

	CHECK(mr_http_budget_take_body(&budget, &a, 4 * MIB));
	CHECK_INT(a, 4 * F * MIB);
	CHECK(mr_http_budget_take_body(&budget, &b, 3 * MIB));
	CHECK_INT(budget.used, 7 * F * MIB);
	/* The last eighth is for small ones. */
	CHECK(!mr_http_budget_take_body(&budget, &c, 1 * MIB));
	CHECK_INT(c, 0);
	CHECK(mr_http_budget_take_body(&budget, &small, MR_HTTP_BUDGET_SMALL_BYTES));
	mr_http_budget_give(&budget, &a);
	CHECK_INT(a, 0);
	CHECK(mr_http_budget_take_body(&budget, &c, 1 * MIB));
	mr_http_budget_give(&budget, &b);
	mr_http_budget_give(&budget, &c);
	mr_http_budget_give(&budget, &small);
	CHECK_INT(budget.used, 0);
}

static void a_body_grows(void)
{
	struct mr_http_budget budget = { .max = 2 * F * MIB };
	uint64_t a = 0, b = 0;

	CHECK(mr_http_budget_take_body(&budget, &a, 1000));
	CHECK(mr_http_budget_take_body(&budget, &a, 3000));
	CHECK_INT(a, 3000 * F);
	CHECK(mr_http_budget_take_body(&budget, &b, MIB));
	CHECK(!mr_http_budget_take_body(&budget, &a, MIB));
	CHECK_INT(a, 3000 * F);
}

static void one_alone_always_fits(void)
{
	struct mr_http_budget budget = { .max = MIB };
	uint64_t a = 0, b = 0;

	CHECK(mr_http_budget_take_body(&budget, &a, 4 * MIB));
	/* An eighth is left for small ones. */
	CHECK_INT(a, MIB - MIB / 8);
	CHECK(mr_http_budget_has_room(&budget));
	CHECK(!mr_http_budget_take_body(&budget, &b, MIB / 8));
	CHECK(mr_http_budget_take_body(&budget, &b, 1));
	mr_http_budget_give(&budget, &b);
	CHECK(mr_http_budget_take_values(&budget, &a, mr_bytes_text("[1,2,3]")));
	mr_http_budget_give(&budget, &a);
	CHECK(mr_http_budget_has_room(&budget));
	CHECK(mr_http_budget_take_body(&budget, &b, 1));
}

static void values_and_answers_count(void)
{
	struct mr_http_budget budget = { .max = MIB };
	uint64_t a = 0, b = 0;

	CHECK(mr_http_budget_take_values(&budget, &a, mr_bytes_text("text")));
	CHECK_INT(a, 0);
	CHECK(mr_http_budget_take_values(&budget, &a, mr_bytes_text("[{},1,1]")));
	CHECK(a >= 4 * 64);
	mr_http_budget_add(&budget, &a, 2 * MIB);
	CHECK(!mr_http_budget_has_room(&budget));
	CHECK(!mr_http_budget_take_values(&budget, &b, mr_bytes_text("[]")));
	CHECK(!mr_http_budget_take_body(&budget, &b, 1));
	mr_http_budget_give(&budget, &a);
	CHECK_INT(budget.used, 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(has_a_default),
		TEST(shares_what_there_is),
		TEST(a_body_grows),
		TEST(one_alone_always_fits),
		TEST(values_and_answers_count),
	};

	return test_main(tests, MR_LEN(tests));
}
