/* text/time.c - Parses and formats RFC 3339 times, compact time stamps and durations. */
#include "text/time.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

struct civil {
	int64_t year;
	int64_t month; /* 1 to 12 */
	int64_t day;
	int64_t hour;
	int64_t minute;
	int64_t second;
	int64_t micro;
};

/* The years that can be written. */
static const int64_t first_us = -719528 * MR_TIME_DAY;
static const int64_t last_us = 2932897 * MR_TIME_DAY - 1;

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_in_month(int64_t year, int64_t month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 0000-03-01 to the first of March of `year`: a leap day is then a year's last day. */
static int64_t days_before_march(int64_t year)
{
	return 365 * year + year / 4 - year / 100 + year / 400;
}

enum {
	MARCH_0000 = -719468, /* in days from 1970 */
	DAYS_IN_400_YEARS = 146097,
};

/* Days since 1970; months from March on are 31, 30, 31, 30, 31 days long, over and over. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t from_march = month > 2 ? month - 3 : month + 9;

	/* Move 400 years up: no division below sees a negative year. */
	year += 400 - (month <= 2);
	return MARCH_0000 - DAYS_IN_400_YEARS + days_before_march(year) +
		(153 * from_march + 2) / 5 + day - 1;
}

static struct civil civil_of(int64_t us)
{
	int64_t days = us / MR_TIME_DAY;
	int64_t rest = us % MR_TIME_DAY;

	if (rest < 0) {
		rest += MR_TIME_DAY;
		days--;
	}
	days += DAYS_IN_400_YEARS - MARCH_0000;

	/* An estimate that is at most one year too late, then March to February. */
	int64_t year = days * 400 / DAYS_IN_400_YEARS;

	if (days_before_march(year) > days)
		year--;
	else if (days_before_march(year + 1) <= days)
		year++;

	int64_t day = days - days_before_march(year);
	int64_t from_march = (5 * day + 2) / 153;

	return (struct civil){
		.year = year - 400 + (from_march >= 10),
		.month = from_march < 10 ? from_march + 3 : from_march - 9,
		.day = day - (153 * from_march + 2) / 5 + 1,
		.hour = rest / MR_TIME_HOUR,
		.minute = rest / MR_TIME_MIN % 60,
		.second = rest / MR_TIME_S % 60,
		.micro = rest % MR_TIME_S,
	};
}

static int64_t us_of(const struct civil *c)
{
	return days_of(c->year, c->month, c->day) * MR_TIME_DAY + c->hour * MR_TIME_HOUR +
		c->minute * MR_TIME_MIN + c->second * MR_TIME_S + c->micro;
}

struct reader {
	const char *text; /* the caller's, for offsets */
	const char *at;
	const char *end;
	struct mr_err *err;
};

static char peek(const struct reader *r)
{
	if (r->at < r->end)
		return *r->at;
	return '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static enum mr_code refuse(const struct reader *r, const char *what)
{
	mr_err_set(r->err, MR_EINVAL, "time at byte %zu: expected %s", (size_t)(r->at - r->text),
		what);
	return MR_EINVAL;
}

/* Exactly `digits` digits, from `min` to `max`. */
static enum mr_code take_number(struct reader *r, int digits, const char *what, int64_t min,
	int64_t max, int64_t *out)
{
	const char *start = r->at;
	int64_t value = 0;

	for (int i = 0; i < digits; i++, r->at++) {
		if (!is_digit(peek(r)))
			return refuse(r, what);
		value = value * 10 + (peek(r) - '0');
	}
	if (value < min || value > max) {
		r->at = start;
		return refuse(r, what);
	}
	*out = value;
	return MR_OK;
}

/* One of the characters in `set`, called `what`. */
static enum mr_code take_one(struct reader *r, const char *set, const char *what)
{
	if (r->at == r->end || !strchr(set, *r->at))
		return refuse(r, what);
	r->at++;
	return MR_OK;
}

static enum mr_code take_date(struct reader *r, enum mr_time_form form, struct civil *out)
{
	bool strict = form == MR_TIME_STRICT;
	enum mr_code rc =
		take_number(r, 4, strict ? "a year from 1970 to 9999" : "a year of four digits",
			strict ? 1970 : 0, 9999, &out->year);

	if (!rc)
		rc = take_one(r, "-", "'-'");
	if (!rc)
		rc = take_number(r, 2, "a month from 01 to 12", 1, 12, &out->month);
	if (!rc)
		rc = take_one(r, "-", "'-'");
	if (!rc)
		rc = take_number(r, 2, "a day that the month has", 1,
			days_in_month(out->year, out->month), &out->day);
	return rc;
}

/* The digits after a '.'; what is finer than a microsecond is cut off. */
static enum mr_code take_fraction(struct reader *r, struct civil *out)
{
	int64_t unit = MR_TIME_S / 10;

	r->at++;
	if (!is_digit(peek(r)))
		return refuse(r, "a digit");
	for (; is_digit(peek(r)); r->at++, unit /= 10)
		out->micro += (peek(r) - '0') * unit;
	return MR_OK;
}

static enum mr_code take_clock(struct reader *r, enum mr_time_form form, struct civil *out)
{
	enum mr_code rc = take_number(r, 2, "an hour from 00 to 23", 0, 23, &out->hour);

	if (!rc)
		rc = take_one(r, ":", "':'");
	if (!rc)
		rc = take_number(r, 2, "a minute from 00 to 59", 0, 59, &out->minute);
	if (rc || (form == MR_TIME_LENIENT && peek(r) != ':'))
		return rc;
	rc = take_one(r, ":", "':'");
	if (!rc)
		rc = take_number(r, 2, "a second from 00 to 59", 0, 59, &out->second);
	if (!rc && peek(r) == '.')
		rc = take_fraction(r, out);
	return rc;
}

/* 'Z', and of the lenient form 'z', an offset or nothing. */
static enum mr_code take_zone(struct reader *r, enum mr_time_form form, int64_t *out_us)
{
	bool west = peek(r) == '-';
	int64_t hours;
	int64_t minutes = 0;
	enum mr_code rc;

	if (form == MR_TIME_STRICT)
		return take_one(r, "Z", "'Z'");
	if (r->at == r->end)
		return MR_OK;
	rc = take_one(r, "Zz+-", "'Z' or an offset such as +02:00");
	if (rc || r->at[-1] == 'Z' || r->at[-1] == 'z')
		return rc;
	rc = take_number(r, 2, "an offset's hours from 00 to 23", 0, 23, &hours);
	if (!rc && r->at < r->end) {
		if (peek(r) == ':')
			r->at++;
		rc = take_number(r, 2, "an offset's minutes from 00 to 59", 0, 59, &minutes);
	}
	if (!rc)
		*out_us = (hours * MR_TIME_HOUR + minutes * MR_TIME_MIN) * (west ? -1 : 1);
	return rc;
}

enum mr_code mr_time_parse(const char *text, enum mr_time_form form, int64_t *out_us,
	struct mr_err *err)
{
	size_t len = strlen(text);
	struct reader r = { .text = text, .at = text, .err = err };
	struct civil civil = { 0 };
	int64_t offset_us = 0;
	enum mr_code rc;

	if (mr_utf8_is_valid(text, len, NULL))
		mr_utf8_strip(&r.at, &len);
	r.end = r.at + len;
	rc = take_date(&r, form, &civil);
	if (!rc && (form == MR_TIME_STRICT || r.at < r.end)) {
		rc = take_one(&r, "Tt ", "'T'");
		if (!rc)
			rc = take_clock(&r, form, &civil);
		if (!rc)
			rc = take_zone(&r, form, &offset_us);
	}
	if (rc)
		return rc;
	if (r.at < r.end)
		return refuse(&r, "nothing more");

	int64_t us = us_of(&civil) - offset_us;

	if (us < first_us || us > last_us)
		return mr_err_set(err, MR_EINVAL, "time is outside the years 0000 to 9999 in UTC");
	*out_us = form == MR_TIME_STRICT ? us - civil.micro : us;
	return MR_OK;
}

/* What stands for a number of the time; everything else is itself. */
static const char *const patterns[] = {
	[MR_TIME_SECONDS] = "y-m-dTH:M:SZ",
	[MR_TIME_SECONDS_OFFSET] = "y-m-dTH:M:S+00:00",
	[MR_TIME_MICROS] = "y-m-dTH:M:S.uZ",
	[MR_TIME_MICROS_OFFSET] = "y-m-dTH:M:S.u+00:00",
	[MR_TIME_COMPACT] = "ymdTHMSZ",
	[MR_TIME_COMPACT_DASH] = "ymd-HMSZ",
	[MR_TIME_COMPACT_DATE] = "ymd",
	[MR_TIME_DATE] = "y-m-d",
	[MR_TIME_FILE] = "y-m-dTH-M-SZ",
	[MR_TIME_MONTH_PATH] = "y/m",
};

static char *put_digits(char *out, int64_t value, int digits)
{
	for (int i = digits; i-- > 0; value /= 10)
		out[i] = (char)('0' + value % 10);
	return out + digits;
}

const char *mr_time_write(char out[MR_TIME_BYTES], int64_t us, enum mr_time_style style)
{
	struct civil c = civil_of(us < first_us ? first_us : us > last_us ? last_us : us);
	char *at = out;

	for (const char *p = patterns[style]; *p; p++) {
		switch (*p) {
		case 'y':
			at = put_digits(at, c.year, 4);
			break;
		case 'm':
			at = put_digits(at, c.month, 2);
			break;
		case 'd':
			at = put_digits(at, c.day, 2);
			break;
		case 'H':
			at = put_digits(at, c.hour, 2);
			break;
		case 'M':
			at = put_digits(at, c.minute, 2);
			break;
		case 'S':
			at = put_digits(at, c.second, 2);
			break;
		case 'u':
			at = put_digits(at, c.micro, 6);
			break;
		default:
			*at++ = *p;
		}
	}
	*at = '\0';
	return out;
}

const char *mr_time_format(struct mr_arena *arena, int64_t us, enum mr_time_style style)
{
	char text[MR_TIME_BYTES];

	return mr_arena_strdup(arena, mr_time_write(text, us, style));
}

const char *mr_time_ago(struct mr_arena *arena, int64_t then_us, int64_t now_us)
{
	bool future = then_us > now_us;
	/* In unsigned arithmetic no difference overflows. */
	uint64_t gap = future ? (uint64_t)then_us - (uint64_t)now_us
			      : (uint64_t)now_us - (uint64_t)then_us;
	uint64_t seconds = gap / MR_TIME_S + (gap % MR_TIME_S >= MR_TIME_S / 2);
	const char *before = future ? "in " : "";
	const char *after = future ? "" : " ago";
	uint64_t count = (seconds + 43200) / 86400;
	const char *unit = count == 1 ? "day" : "days";

	if (seconds == 0 || (seconds < 60 && !future))
		return mr_arena_strdup(arena, "just now");
	if (seconds < 60) {
		count = seconds;
		unit = "s";
	} else if (seconds < 3600 - 30) {
		count = (seconds + 30) / 60;
		unit = "min";
	} else if (seconds < 86400 - 1800) {
		count = (seconds + 1800) / 3600;
		unit = "h";
	}
	return mr_arena_printf(arena, "%s%llu %s%s", before, (unsigned long long)count, unit,
		after);
}

enum mr_code mr_time_parse_duration(const char *text, int64_t *out_us, struct mr_err *err)
{
	static const struct {
		const char *unit;
		int64_t us;
	} units[] = {
		{ "ms", MR_TIME_MS },
		{ "s", MR_TIME_S },
		{ "m", MR_TIME_MIN },
		{ "h", MR_TIME_HOUR },
		{ "d", MR_TIME_DAY },
	};
	const int64_t longest = last_us - first_us;
	const char *at = text;
	int64_t value = 0;

	if (!is_digit(*at))
		return mr_err_set(err, MR_EINVAL, "duration does not begin with a number");
	for (; is_digit(*at); at++) {
		if (value <= longest)
			value = value * 10 + (*at - '0');
	}
	for (size_t i = 0; i < MR_LEN(units); i++) {
		if (!mr_str_eq(at, units[i].unit))
			continue;
		if (value > longest / units[i].us)
			return mr_err_set(err, MR_ELIMIT, "duration is longer than %lld d",
				(long long)(longest / MR_TIME_DAY));
		*out_us = value * units[i].us;
		return MR_OK;
	}
	return mr_err_set(err, MR_EINVAL, "duration at byte %zu: expected a unit, ms s m h or d",
		(size_t)(at - text));
}
