/* tests/unit/base/test_boot.c */
#include "base/boot.h"

#include "test.h"

#include <stdint.h>
#include <sys/stat.h>

static bool is_before(int64_t now, int64_t up, int64_t in_memory, int64_t when)
{
	struct mr_boot_facts facts = { now, up, in_memory };
	struct timespec time = { .tv_sec = when };

	return mr_boot_is_before(&facts, &time);
}

/* Started at 9000, seen at 10000. */
static void tells_before_from_after(void)
{
	CHECK(is_before(10000, 1000, 9001, 8990));
	CHECK(is_before(10000, 1000, 9001, 0));
	CHECK(!is_before(10000, 1000, 9001, 9000));
	CHECK(!is_before(10000, 1000, 9001, 9500));
	CHECK(!is_before(10000, 1000, 9001, 10000));
	/* Times are coarse: what is close to the boot may be of this one. */
	CHECK(!is_before(10000, 1000, 9001, 8999));
}

/* Started at 9000; then the clock was set to 50000. A file of 9500 is of this boot. */
static void a_clock_set_forward_makes_nobody_dead(void)
{
	CHECK(!is_before(50100, 1100, 9001, 9500));
	CHECK(!is_before(50100, 1100, 9001, 49990));
	CHECK(is_before(50100, 1100, 9001, 8990));
}

/* Started at 9000; then the clock was set back to 5000. */
static void a_clock_set_back_makes_nobody_dead(void)
{
	CHECK(!is_before(5100, 1100, 9001, 9500));
	CHECK(!is_before(5100, 1100, 9001, 5050));
	CHECK(!is_before(5100, 1100, 9001, 8990));
	CHECK(is_before(5100, 1100, 9001, 3990));
}

/* Without a file system in memory a minute is left for a clock that was set. */
static void without_a_witness_it_is_careful(void)
{
	CHECK(!is_before(10000, 1000, INT64_MAX, 8990));
	CHECK(is_before(10000, 1000, INT64_MAX, 8900));
}

static void nothing_is_before_a_boot_that_is_not_known(void)
{
	CHECK(!is_before(INT64_MAX, 1000, 9001, 0));
	CHECK(!is_before(10000, INT64_MAX, 9001, 0));
}

static void this_machine_was_started_after_2001(void)
{
	struct mr_boot_facts facts = mr_boot_facts();
	struct timespec now = { .tv_sec = facts.now }, old = { .tv_sec = 1000000000 };

	CHECK(facts.now > 1700000000 && facts.now != INT64_MAX);
	CHECK(facts.up >= 0 && facts.up != INT64_MAX);
	CHECK(facts.in_memory > 1000000000);
	CHECK(mr_boot_is_before(&facts, &old));
	CHECK(!mr_boot_is_before(&facts, &now));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(tells_before_from_after),
		TEST(a_clock_set_forward_makes_nobody_dead),
		TEST(a_clock_set_back_makes_nobody_dead),
		TEST(without_a_witness_it_is_careful),
		TEST(nothing_is_before_a_boot_that_is_not_known),
		TEST(this_machine_was_started_after_2001),
	};

	return test_main(tests, MR_LEN(tests));
}
