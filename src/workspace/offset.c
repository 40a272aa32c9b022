/* workspace/offset.c - reads and writes offsets from UTC. */
#include "workspace/offset.h"

#include "base/str.h"
#include "text/time.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

enum { HOURS_MAX = 23, MINUTES_MAX = 59 };

/* One or two digits; returns what is behind them, or NULL. */
static const char *read_number(const char *text, size_t digits, int *out)
{
	int value = 0;

	for (size_t i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)text[i]))
			return NULL;
		value = value * 10 + (text[i] - '0');
	}
	*out = value;
	return text + digits;
}

/* What follows the sign: H, HH, HHMM, H:MM or HH:MM. */
static bool read_hours(const char *text, int *out_hours, int *out_minutes)
{
	size_t len = strlen(text);
	const char *colon = strchr(text, ':');
	const char *end;

	*out_minutes = 0;
	if (colon) {
		if (colon == text || colon - text > 2 || strlen(colon) != 3)
			return false;
		return read_number(text, (size_t)(colon - text), out_hours) &&
			read_number(colon + 1, 2, out_minutes);
	}
	if (len == 1 || len == 2)
		return read_number(text, len, out_hours) != NULL;
	if (len != 4)
		return false;
	end = read_number(text, 2, out_hours);
	return end && read_number(end, 2, out_minutes);
}

bool mr_work_offset_parse(const char *text, int *out_minutes)
{
	int hours, minutes;

	if (mr_str_eq_nocase(text, "UTC") || mr_str_eq_nocase(text, "Z")) {
		*out_minutes = 0;
		return true;
	}
	if ((*text != '+' && *text != '-') || !read_hours(text + 1, &hours, &minutes) ||
		hours > HOURS_MAX || minutes > MINUTES_MAX)
		return false;
	*out_minutes = (hours * 60 + minutes) * (*text == '-' ? -1 : 1);
	return true;
}

const char *mr_work_offset_text(struct mr_arena *arena, int minutes)
{
	unsigned ahead = (unsigned)(minutes < 0 ? -minutes : minutes);

	if (!minutes)
		return "UTC";
	return mr_arena_printf(arena, "%c%02u:%02u", minutes < 0 ? '-' : '+', ahead / 60,
		ahead % 60);
}

int mr_work_offset_of_host(int64_t us)
{
	time_t seconds = (time_t)(us / MR_TIME_S);
	struct tm local;

	if (!localtime_r(&seconds, &local))
		return 0;
	return (int)(local.tm_gmtoff / 60);
}
