/* tests/unit/base/test_clock.c */
#include "base/clock.h"

#include "files.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void the_machine_has_a_clock(void)
{
	const struct mr_clock *clock = mr_clock_system();
	int64_t before = (int64_t)time(NULL) * 1000000;
	int64_t wall = mr_clock_wall_us(clock);
	/* time() may lag behind the clock by a tick. */
	int64_t after = ((int64_t)time(NULL) + 2) * 1000000;

	CHECK(before <= wall && wall <= after);
	CHECK(mr_clock_system() == clock);
}

static void durations_never_go_back(void)
{
	const struct mr_clock *clock = mr_clock_system();
	int64_t last = mr_clock_mono_us(clock);
	int64_t ms;

	for (int i = 0; i < 10000; i++) {
		int64_t now = mr_clock_mono_us(clock);

		CHECK(now >= last);
		last = now;
	}
	ms = mr_clock_mono_ms(clock);
	CHECK(ms >= last / 1000);
	CHECK(ms <= mr_clock_mono_us(clock) / 1000);
}

static void a_fixed_clock_stands_until_moved(void)
{
	struct mr_clock_fixed fixed;
	const struct mr_clock *clock = &fixed.clock;

	mr_clock_fixed_init(&fixed, 1700000000123456);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(mr_clock_wall_us(clock), 1700000000123456);
		CHECK_INT(mr_clock_mono_us(clock), 1700000000123456);
		CHECK_INT(mr_clock_mono_ms(clock), 1700000000123);
	}
	fixed.now_us += 999544;
	CHECK_INT(mr_clock_wall_us(clock), 1700000001123000);
	CHECK_INT(mr_clock_mono_ms(clock), 1700000001123);
	fixed.now_us = INT64_MIN;
	CHECK_INT(mr_clock_wall_us(clock), INT64_MIN);
}

/* What the tests with disasters rely on; an ordinary build must not listen to the environment. */
static void a_test_build_can_be_told_a_wrong_time(void)
{
	const struct mr_clock *clock = mr_clock_system();
	int64_t wall = mr_clock_wall_us(clock), mono = mr_clock_mono_us(clock), skewed;
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/skew", test_dir());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0 && write(fd, "-3600", 5) == 5 && close(fd) == 0);
	CHECK(setenv("MAILROOM_CLOCK_SKEW", path, 1) == 0);
	skewed = mr_clock_wall_us(clock);
	CHECK(mr_clock_mono_us(clock) - mono < 1800 * INT64_C(1000000));
	CHECK(unlink(path) == 0);
	CHECK((skewed < wall - 1800 * INT64_C(1000000)) == files_fail_at(NULL));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_machine_has_a_clock),
		TEST(durations_never_go_back),
		TEST(a_fixed_clock_stands_until_moved),
		TEST(a_test_build_can_be_told_a_wrong_time),
	};

	return test_main(tests, MR_LEN(tests));
}
