/* tests/unit/text/test_time.c */
#include "test.h"
#include "text/time.h"

#include "base/rand.h"

#include <stdio.h>
#include <string.h>

/* 2026-03-11T04:15:00Z */
#define NOW (INT64_C(1773202500) * MR_TIME_S)

static void parses(void)
{
	static const struct {
		const char *text;
		int64_t strict_us; /* -1: refused */
		int64_t lenient_us;
	} table[] = {
		{ "2026-03-11T04:15:00Z", NOW, NOW },
		{ " 2026-03-11T04:15:00Z\n", NOW, NOW },
		{ "\xc2\xa0"
		  "2026-03-11T04:15:00Z",
			NOW, NOW },
		{ "2026-03-11t04:15:00Z", NOW, NOW },
		{ "2026-03-11 04:15:00Z", NOW, NOW },
		{ "2026-03-11T04:15:00.5Z", NOW, NOW + 500000 },
		{ "2026-03-11T04:15:00.999999999Z", NOW, NOW + 999999 },
		{ "2026-03-11T04:15:00.000001Z", NOW, NOW + 1 },
		{ "2026-03-11T04:15:00.1234567890123456789012345Z", NOW, NOW + 123456 },
		{ "2026-03-11T04:15:00z", -1, NOW },
		{ "2026-03-11T04:15:00+00:00", -1, NOW },
		{ "2026-03-11T04:15:00.25-00:00", -1, NOW + 250000 },
		{ "2026-03-11T06:15:00+02:00", -1, NOW },
		{ "2026-03-11T06:15:00+0200", -1, NOW },
		{ "2026-03-11T06:15:00+02", -1, NOW },
		{ "2026-03-10T22:45:00-05:30", -1, NOW },
		{ "2026-03-12T04:14:00+23:59", -1, NOW },
		{ "2026-03-11T04:15:00", -1, NOW },
		{ "2026-03-11 04:15:00", -1, NOW },
		{ "2026-03-11T04:15", -1, NOW },
		{ "2026-03-11T04:15Z", -1, NOW },
		{ "2026-03-11T06:15+02:00", -1, NOW },
		{ "2026-03-11", -1, NOW - 255 * MR_TIME_MIN },
		{ "1970-01-01T00:00:00Z", 0, 0 },
		{ "1969-12-31T23:59:59.75Z", -1, -250000 },
		{ "1969-12-31T23:59:59Z", -1, -MR_TIME_S },
		{ "0000-01-01T00:00:00Z", -1, INT64_C(-62167219200) * MR_TIME_S },
		{ "9999-12-31T23:59:59Z", INT64_C(253402300799) * MR_TIME_S,
			INT64_C(253402300799) * MR_TIME_S },
		{ "2024-02-29T00:00:00Z", INT64_C(1709164800) * MR_TIME_S,
			INT64_C(1709164800) * MR_TIME_S },
		{ "2000-02-29T00:00:00Z", INT64_C(951782400) * MR_TIME_S,
			INT64_C(951782400) * MR_TIME_S },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		int64_t us = -1;
		struct mr_err err = { 0 };
		enum mr_code rc = mr_time_parse(table[i].text, MR_TIME_STRICT, &us, &err);

		CHECK_INT(us, table[i].strict_us);
		CHECK_INT(rc, table[i].strict_us < 0 ? MR_EINVAL : MR_OK);
		CHECK_OK(mr_time_parse(table[i].text, MR_TIME_LENIENT, &us, &err), err);
		CHECK_INT(us, table[i].lenient_us);
	}
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *text;
		enum mr_time_form form;
		const char *msg;
	} table[] = {
		{ "", MR_TIME_LENIENT, "time at byte 0: expected a year of four digits" },
		{ "", MR_TIME_STRICT, "time at byte 0: expected a year from 1970 to 9999" },
		{ "yesterday", MR_TIME_LENIENT, "time at byte 0: expected a year of four digits" },
		{ "  now", MR_TIME_LENIENT, "time at byte 2: expected a year of four digits" },
		{ "1969-12-31T23:59:59Z", MR_TIME_STRICT,
			"time at byte 0: expected a year from 1970 to 9999" },
		{ "20260311T041500Z", MR_TIME_LENIENT, "time at byte 4: expected '-'" },
		{ "2026-13-01T00:00:00Z", MR_TIME_STRICT,
			"time at byte 5: expected a month from 01 to 12" },
		{ "2026-00-01", MR_TIME_LENIENT, "time at byte 5: expected a month from 01 to 12" },
		{ "2026-3-11", MR_TIME_LENIENT, "time at byte 6: expected a month from 01 to 12" },
		{ "2026-03/11", MR_TIME_LENIENT, "time at byte 7: expected '-'" },
		{ "2026-02-29T00:00:00Z", MR_TIME_STRICT,
			"time at byte 8: expected a day that the month has" },
		{ "1900-02-29", MR_TIME_LENIENT,
			"time at byte 8: expected a day that the month has" },
		{ "2026-04-31", MR_TIME_LENIENT,
			"time at byte 8: expected a day that the month has" },
		{ "2026-01-00", MR_TIME_LENIENT,
			"time at byte 8: expected a day that the month has" },
		{ "2026-03-11", MR_TIME_STRICT, "time at byte 10: expected 'T'" },
		{ "2026-03-11x04:15:00Z", MR_TIME_LENIENT, "time at byte 10: expected 'T'" },
		{ "2026-03-11T24:00:00Z", MR_TIME_LENIENT,
			"time at byte 11: expected an hour from 00 to 23" },
		{ "2026-03-11T0415", MR_TIME_LENIENT, "time at byte 13: expected ':'" },
		{ "2026-03-11T04:60:00Z", MR_TIME_STRICT,
			"time at byte 14: expected a minute from 00 to 59" },
		{ "2026-03-11T04:15Z", MR_TIME_STRICT, "time at byte 16: expected ':'" },
		{ "2026-03-11T04:15:60Z", MR_TIME_LENIENT,
			"time at byte 17: expected a second from 00 to 59" },
		{ "2026-03-11T04:15:00.Z", MR_TIME_STRICT, "time at byte 20: expected a digit" },
		{ "2026-03-11T04:15:00,5Z", MR_TIME_STRICT, "time at byte 19: expected 'Z'" },
		{ "2026-03-11T04:15:00z", MR_TIME_STRICT, "time at byte 19: expected 'Z'" },
		{ "2026-03-11T04:15:00", MR_TIME_STRICT, "time at byte 19: expected 'Z'" },
		{ "2026-03-11T04:15:00+00:00", MR_TIME_STRICT, "time at byte 19: expected 'Z'" },
		{ "2026-03-11T04:15:00 Z", MR_TIME_LENIENT,
			"time at byte 19: expected 'Z' or an offset such as +02:00" },
		{ "2026-03-11T04:15:00+24:00", MR_TIME_LENIENT,
			"time at byte 20: expected an offset's hours from 00 to 23" },
		{ "2026-03-11T04:15:00+02:60", MR_TIME_LENIENT,
			"time at byte 23: expected an offset's minutes from 00 to 59" },
		{ "2026-03-11T04:15:00+02:", MR_TIME_LENIENT,
			"time at byte 23: expected an offset's minutes from 00 to 59" },
		{ "2026-03-11T04:15:00ZZ", MR_TIME_STRICT,
			"time at byte 20: expected nothing more" },
		{ "2026-03-11T04:15:00+02:00Z", MR_TIME_LENIENT,
			"time at byte 25: expected nothing more" },
		{ "2026-03-11T04:15:00Z\xff", MR_TIME_STRICT,
			"time at byte 20: expected nothing more" },
		{ "0000-01-01T00:00:00+00:01", MR_TIME_LENIENT,
			"time is outside the years 0000 to 9999 in UTC" },
		{ "9999-12-31T23:59:59-00:01", MR_TIME_LENIENT,
			"time is outside the years 0000 to 9999 in UTC" },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		int64_t us = 42;
		struct mr_err err = { 0 };
		enum mr_code rc = mr_time_parse(table[i].text, table[i].form, &us, &err);

		CHECK_STR(rc ? err.msg : table[i].text, table[i].msg);
		CHECK_INT(rc, MR_EINVAL);
		CHECK_INT(us, 42);
	}
}

static void formats(void)
{
	static const struct {
		int64_t us;
		enum mr_time_style style;
		const char *text;
	} table[] = {
		{ NOW, MR_TIME_SECONDS, "2026-03-11T04:15:00Z" },
		{ NOW + 999999, MR_TIME_SECONDS, "2026-03-11T04:15:00Z" },
		{ NOW, MR_TIME_SECONDS_OFFSET, "2026-03-11T04:15:00+00:00" },
		{ NOW, MR_TIME_MICROS, "2026-03-11T04:15:00.000000Z" },
		{ NOW + 123, MR_TIME_MICROS, "2026-03-11T04:15:00.000123Z" },
		{ NOW + 123456, MR_TIME_MICROS_OFFSET, "2026-03-11T04:15:00.123456+00:00" },
		{ NOW, MR_TIME_COMPACT, "20260311T041500Z" },
		{ NOW, MR_TIME_COMPACT_DASH, "20260311-041500Z" },
		{ NOW, MR_TIME_COMPACT_DATE, "20260311" },
		{ NOW, MR_TIME_DATE, "2026-03-11" },
		{ NOW, MR_TIME_FILE, "2026-03-11T04-15-00Z" },
		{ NOW, MR_TIME_MONTH_PATH, "2026/03" },
		{ 0, MR_TIME_SECONDS, "1970-01-01T00:00:00Z" },
		{ -1, MR_TIME_MICROS, "1969-12-31T23:59:59.999999Z" },
		{ -MR_TIME_DAY, MR_TIME_SECONDS, "1969-12-31T00:00:00Z" },
		{ INT64_MIN, MR_TIME_SECONDS, "0000-01-01T00:00:00Z" },
		{ INT64_MAX, MR_TIME_MICROS, "9999-12-31T23:59:59.999999Z" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_STR(mr_time_format(arena, table[i].us, table[i].style), table[i].text);
}

/* Walk a calendar day by day through years where leap days are there and missing. */
static void agrees_with_a_calendar(void)
{
	static const int spans[][2] = { { 0, 5 }, { 1598, 1602 }, { 1895, 2105 }, { 9995, 9999 } };
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	for (size_t i = 0; i < MR_LEN(spans); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		int64_t us = INT64_MIN;
		char text[64];

		for (int year = spans[i][0]; year <= spans[i][1]; year++) {
			bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

			for (int day = 0, month = 0; month < 12; day++) {
				int64_t got;
				struct mr_err err;

				if (day == lengths[month] + (month == 1 && leap)) {
					day = -1;
					month++;
					continue;
				}
				snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month + 1,
					day + 1);
				CHECK_OK(mr_time_parse(text, MR_TIME_LENIENT, &got, &err), err);
				CHECK(us == INT64_MIN || got == us + MR_TIME_DAY);
				us = got;
				CHECK_STR(mr_time_format(arena, us + MR_TIME_DAY - 1, MR_TIME_DATE),
					text);
			}
		}
	}
}

static void reads_what_it_writes(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 5);
	for (size_t i = 0; i < 5000; i++) {
		int64_t us = (int64_t)mr_rand_below(&rand, UINT64_C(315569520000) * 1000000) -
			INT64_C(62167219200) * MR_TIME_S;
		int64_t got;
		struct mr_err err;

		CHECK_OK(mr_time_parse(mr_time_format(arena, us, MR_TIME_MICROS), MR_TIME_LENIENT,
				 &got, &err),
			err);
		CHECK_INT(got, us);
		CHECK_OK(mr_time_parse(mr_time_format(arena, us, MR_TIME_MICROS_OFFSET),
				 MR_TIME_LENIENT, &got, &err),
			err);
		CHECK_INT(got, us);
	}
}

static void tells_how_long_ago(void)
{
	static const struct {
		int64_t ago_us; /* negative: to come */
		const char *text;
	} table[] = {
		{ 0, "just now" },
		{ 59 * MR_TIME_S, "just now" },
		{ 59 * MR_TIME_S + 600000, "1 min ago" },
		{ 60 * MR_TIME_S, "1 min ago" },
		{ 89 * MR_TIME_S, "1 min ago" },
		{ 90 * MR_TIME_S, "2 min ago" },
		{ 3 * MR_TIME_MIN, "3 min ago" },
		{ 59 * MR_TIME_MIN, "59 min ago" },
		{ 59 * MR_TIME_MIN + 30 * MR_TIME_S, "1 h ago" },
		{ 2 * MR_TIME_HOUR, "2 h ago" },
		{ 23 * MR_TIME_HOUR, "23 h ago" },
		{ 23 * MR_TIME_HOUR + 30 * MR_TIME_MIN, "1 day ago" },
		{ 36 * MR_TIME_HOUR, "2 days ago" },
		{ 5 * MR_TIME_DAY, "5 days ago" },
		{ 400 * MR_TIME_DAY, "400 days ago" },
		{ -400000, "just now" },
		{ -30 * MR_TIME_S, "in 30 s" },
		{ -2 * MR_TIME_MIN, "in 2 min" },
		{ -2 * MR_TIME_HOUR, "in 2 h" },
		{ -MR_TIME_DAY, "in 1 day" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_STR(mr_time_ago(arena, NOW - table[i].ago_us, NOW), table[i].text);
	CHECK_STR(mr_time_ago(arena, INT64_MIN, INT64_MAX), "213503982 days ago");
	CHECK_STR(mr_time_ago(arena, INT64_MAX, INT64_MIN), "in 213503982 days");
}

static void parses_durations(void)
{
	static const struct {
		const char *text;
		int64_t us;
		enum mr_code code;
		const char *msg;
	} table[] = {
		{ "500ms", 500 * MR_TIME_MS, MR_OK, NULL },
		{ "90s", 90 * MR_TIME_S, MR_OK, NULL },
		{ "5m", 5 * MR_TIME_MIN, MR_OK, NULL },
		{ "2h", 2 * MR_TIME_HOUR, MR_OK, NULL },
		{ "7d", 7 * MR_TIME_DAY, MR_OK, NULL },
		{ "0s", 0, MR_OK, NULL },
		{ "007d", 7 * MR_TIME_DAY, MR_OK, NULL },
		{ "3652424d", 3652424 * MR_TIME_DAY, MR_OK, NULL },
		{ "3652425d", 0, MR_ELIMIT, "duration is longer than 3652424 d" },
		{ "99999999999999999999999999ms", 0, MR_ELIMIT,
			"duration is longer than 3652424 d" },
		{ "", 0, MR_EINVAL, "duration does not begin with a number" },
		{ "s", 0, MR_EINVAL, "duration does not begin with a number" },
		{ "-5m", 0, MR_EINVAL, "duration does not begin with a number" },
		{ " 5m", 0, MR_EINVAL, "duration does not begin with a number" },
		{ "90", 0, MR_EINVAL, "duration at byte 2: expected a unit, ms s m h or d" },
		{ "1.5h", 0, MR_EINVAL, "duration at byte 1: expected a unit, ms s m h or d" },
		{ "5 m", 0, MR_EINVAL, "duration at byte 1: expected a unit, ms s m h or d" },
		{ "5min", 0, MR_EINVAL, "duration at byte 1: expected a unit, ms s m h or d" },
		{ "5M", 0, MR_EINVAL, "duration at byte 1: expected a unit, ms s m h or d" },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		int64_t us = 42;
		struct mr_err err = { 0 };
		enum mr_code rc = mr_time_parse_duration(table[i].text, &us, &err);

		CHECK_INT(rc, table[i].code);
		CHECK_STR(rc ? err.msg : NULL, table[i].msg);
		CHECK_INT(us, rc ? 42 : table[i].us);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(parses),
		TEST(says_what_is_wrong),
		TEST(formats),
		TEST(agrees_with_a_calendar),
		TEST(reads_what_it_writes),
		TEST(tells_how_long_ago),
		TEST(parses_durations),
	};

	return test_main(tests, MR_LEN(tests));
}
