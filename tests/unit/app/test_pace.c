/* tests/unit/app/test_pace.c */
#include "app/pace.h"

#include "base/str.h"
#include "test.h"

static const int64_t MINUTE = INT64_C(60) * 1000000;
static const int64_t NOW = INT64_C(1700000000) * 1000000;

static struct mr_pace_minute minutes[MR_PACE_MINUTES];
static const struct mr_pace_minute *last = &minutes[MR_PACE_MINUTES - 1];

static void counts_by_the_minute(void)
{
	struct mr_pace *pace MR_CLEANUP(mr_pace_freep) = mr_pace_new();

	mr_pace_read(pace, NOW, minutes);
	CHECK_INT(last->calls, 0);
	CHECK_INT(last->begun_us % MINUTE, 0);
	CHECK(last->begun_us <= NOW && last->begun_us > NOW - MINUTE);
	CHECK_INT(minutes[0].begun_us, last->begun_us - 59 * MINUTE);
	mr_pace_add(pace, NOW, 100, false);
	mr_pace_add(pace, NOW, 100, true);
	mr_pace_add(pace, NOW - 59 * MINUTE, 100, false);
	mr_pace_read(pace, NOW, minutes);
	CHECK_INT(last->calls, 2);
	CHECK_INT(last->failed, 1);
	CHECK_INT(minutes[0].calls, 1);
	/* An hour later its place is another minute's. */
	mr_pace_read(pace, NOW + 60 * MINUTE, minutes);
	CHECK_INT(last->calls, 0);
	mr_pace_add(pace, NOW + 60 * MINUTE, 100, false);
	mr_pace_read(pace, NOW + 60 * MINUTE, minutes);
	CHECK_INT(last->calls, 1);
	CHECK_INT(last->failed, 0);
}

static void knows_how_long_they_took(void)
{
	static const int64_t times[] = { 0, 1, 3, 4, 5, 7, 8, 100, 1000, 1234567, 60000000 };

	for (size_t i = 0; i < MR_LEN(times); i++) {
		struct mr_pace *pace MR_CLEANUP(mr_pace_freep) = mr_pace_new();

		mr_pace_add(pace, NOW, times[i], false);
		mr_pace_read(pace, NOW, minutes);
		CHECK(last->median_us >= times[i]);
		CHECK(last->median_us <= times[i] + times[i] / 4 + 4);
		CHECK_INT(last->most_us, last->median_us);
	}
}

static void tells_the_usual_from_the_most(void)
{
	struct mr_pace *pace MR_CLEANUP(mr_pace_freep) = mr_pace_new();

	for (int i = 0; i < 94; i++)
		mr_pace_add(pace, NOW, 1000, false);
	for (int i = 0; i < 6; i++)
		mr_pace_add(pace, NOW, 50000, false);
	mr_pace_read(pace, NOW, minutes);
	CHECK(last->median_us >= 1000 && last->median_us < 1300);
	CHECK(last->most_us >= 50000 && last->most_us < 63000);
	/* Longer than can be told apart is the longest. */
	mr_pace_add(pace, NOW + MINUTE, INT64_MAX, false);
	mr_pace_add(NULL, NOW, 1, false);
	mr_pace_read(pace, NOW + MINUTE, minutes);
	CHECK(last->median_us > INT64_C(2000) * 1000000);
	mr_pace_read(NULL, NOW, minutes);
	CHECK_INT(last->calls, 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(counts_by_the_minute),
		TEST(knows_how_long_they_took),
		TEST(tells_the_usual_from_the_most),
	};

	return test_main(tests, MR_LEN(tests));
}
