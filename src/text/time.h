/*
 * text/time.h - times as text, and back. Pure: the present is passed in.
 *
 * A time is microseconds since 1970-01-01T00:00:00Z in an int64_t, without leap seconds, and can be
 * written when its year is 0000 to 9999 of the Gregorian calendar.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

#define MR_TIME_MS   INT64_C(1000)
#define MR_TIME_S    INT64_C(1000000)
#define MR_TIME_MIN  (60 * MR_TIME_S)
#define MR_TIME_HOUR (60 * MR_TIME_MIN)
#define MR_TIME_DAY  (24 * MR_TIME_HOUR)

enum mr_time_form {
	/*
	 * YYYY-MM-DD, one of 'T' 't' ' ', HH:MM:SS, perhaps a fraction, and 'Z'; year 1970 or
	 * later. The fraction is cut off: the result is a whole second.
	 */
	MR_TIME_STRICT,
	/*
	 * Also: 'z' or an offset (+02:00, +0200, +02) in place of 'Z', or nothing, which means UTC;
	 * seconds left out; a date alone, which is its midnight; any year. The result is exact to
	 * the microsecond, further digits are cut off.
	 */
	MR_TIME_LENIENT,
};

/*
 * Read a time; Unicode white space around it is ignored. MR_EINVAL says what is wrong and at which
 * byte of `text`. There is no second 60 and no hour 24.
 */
MR_CHECK enum mr_code mr_time_parse(const char *text, enum mr_time_form form, int64_t *out_us,
	struct mr_err *err);

enum mr_time_style {
	MR_TIME_SECONDS,        /* 2026-03-11T04:15:00Z */
	MR_TIME_SECONDS_OFFSET, /* 2026-03-11T04:15:00+00:00 */
	MR_TIME_MICROS,         /* 2026-03-11T04:15:00.123456Z */
	MR_TIME_MICROS_OFFSET,  /* 2026-03-11T04:15:00.123456+00:00 */
	MR_TIME_COMPACT,        /* 20260311T041500Z */
	MR_TIME_COMPACT_DASH,   /* 20260311-041500Z */
	MR_TIME_COMPACT_DATE,   /* 20260311 */
	MR_TIME_DATE,           /* 2026-03-11 */
	MR_TIME_FILE,           /* 2026-03-11T04-15-00Z, for file names */
	MR_TIME_MONTH_PATH,     /* 2026/03 */
};

/* The time in UTC, cut off to what the style shows. Outside the years that can be written: the
 * first or the last moment that can. */
const char *mr_time_format(struct mr_arena *arena, int64_t us, enum mr_time_style style);

/* The same without an arena; returns `out`. */
enum { MR_TIME_BYTES = sizeof("2026-03-11T04:15:00.123456+00:00") };
const char *mr_time_write(char out[MR_TIME_BYTES], int64_t us, enum mr_time_style style);

/* How long ago, for people: "just now", "3 min ago", "2 h ago", "1 day ago", "5 days ago"; of what
 * is to come "in 30 s", "in 2 h". Rounded to the nearest. */
const char *mr_time_ago(struct mr_arena *arena, int64_t then_us, int64_t now_us);

/* Read "500ms", "90s", "5m", "2h", "7d": a whole number, not negative, and its unit. MR_EINVAL says
 * what is wrong; MR_ELIMIT is a duration that no time can be away. */
MR_CHECK enum mr_code mr_time_parse_duration(const char *text, int64_t *out_us, struct mr_err *err);
