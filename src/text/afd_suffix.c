/* text/afd_suffix.c - what the suffix of a key says of its value, put into the value. */
#include "text/afd_private.h"
#include "text/time.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- numbers --- */

/* Whole numbers may be written as floats. */
static bool as_int(const struct mr_value *value, int64_t *out)
{
	if (value->kind == MR_INT) {
		*out = value->integer;
		return true;
	}
	if (value->kind != MR_FLOAT || value->real != floor(value->real) ||
		fabs(value->real) >= 9007199254740992.0)
		return false;
	*out = (int64_t)value->real;
	return true;
}

/* "1e-07" and "1e+20" as "1e-7" and "1e20"; a whole number without its ".0". */
static const char *normal_number(struct mr_arena *arena, const char *text)
{
	size_t mantissa = strcspn(text, "e");
	const char *exponent = text[mantissa] ? text + mantissa + 1 : NULL;
	const char *sign = "";

	if (!exponent && mr_str_ends(text, ".0"))
		return mr_arena_strndup(arena, text, mantissa - 2);
	if (!exponent)
		return mr_arena_strdup(arena, text);
	if (*exponent == '-')
		sign = "-";
	exponent += strspn(exponent, "+-");
	exponent += strspn(exponent, "0");
	return mr_arena_printf(arena, "%.*se%s%s", (int)mantissa, text, sign, exponent);
}

const char *mr_afd_number(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;
	int64_t whole;

	if (as_int(value, &whole))
		return mr_arena_printf(arena, "%lld", (long long)whole);
	mr_buf_init(&buf, 64);
	mr_json_init(&writer, &buf, MR_JSON_COMPACT);
	mr_json_real(&writer, value->real);
	return normal_number(arena, mr_buf_text(&buf));
}

static bool is_number(const struct mr_value *value)
{
	return value->kind == MR_INT || value->kind == MR_FLOAT;
}

/* --- what each suffix does: the text, or NULL when the value is not of its kind --- */

struct job {
	struct mr_arena *arena;
	const struct mr_value *value;
	const char *unit;
};

static const char *epoch(const struct job *job)
{
	/* 0000-01-01 to the end of 9999: other years have no RFC 3339. */
	const int64_t first = -719528 * MR_TIME_DAY, last = 2932897 * MR_TIME_DAY - 1;
	int64_t number, us;

	if (!as_int(job->value, &number))
		return NULL;
	if (*job->unit == 'n') {
		us = number / 1000 - (number % 1000 < 0);
	} else {
		int64_t unit = *job->unit == 's' ? MR_TIME_S : MR_TIME_MS;

		if (number > last / unit || number < first / unit)
			return NULL;
		us = number * unit;
	}
	return mr_arena_printf(job->arena, "%.23sZ",
		mr_time_format(job->arena, us, MR_TIME_MICROS));
}

static const char *grouped(struct mr_arena *arena, int64_t number)
{
	const char *digits = mr_arena_printf(arena, "%lld", (long long)number);
	size_t len = strlen(digits), to = 0;
	char *out = mr_arena_alloc(arena, len * 2 + 1);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[to++] = ',';
		out[to++] = digits[i];
	}
	return out;
}

static const char *money(const struct job *job)
{
	int64_t cents;

	if (!as_int(job->value, &cents) || cents < 0)
		return NULL;
	if (mr_str_eq(job->unit, "¥"))
		return mr_arena_printf(job->arena, "¥%s", grouped(job->arena, cents));
	return mr_arena_printf(job->arena, "%s%lld.%02lld", job->unit, (long long)(cents / 100),
		(long long)(cents % 100));
}

static const char *as_it_is(const struct job *job)
{
	return job->value->kind == MR_TEXT ? job->value->text : NULL;
}

static const char *with_unit(const struct job *job)
{
	if (!is_number(job->value))
		return NULL;
	return mr_arena_printf(job->arena, "%s%s", mr_afd_number(job->arena, job->value),
		job->unit);
}

static const char *bytes(const struct job *job)
{
	static const char *const units[] = { "KB", "MB", "GB", "TB" };
	double size;
	int64_t number;
	size_t unit = 0;

	if (!as_int(job->value, &number))
		return NULL;
	if (number > -1024 && number < 1024)
		return mr_arena_printf(job->arena, "%lldB", (long long)number);
	for (size = (double)number / 1024; fabs(size) >= 1024 && unit < 3; unit++)
		size /= 1024;
	return mr_arena_printf(job->arena, "%.1f%s", size, units[unit]);
}

static const char *milliseconds(const struct job *job)
{
	double ms;
	char *text;
	size_t len;

	if (!is_number(job->value))
		return NULL;
	ms = job->value->kind == MR_INT ? (double)job->value->integer : job->value->real;
	if (fabs(ms) < 1000)
		return mr_arena_printf(job->arena, "%sms", mr_afd_number(job->arena, job->value));
	text = mr_arena_printf(job->arena, "%.3f", ms / 1000);
	len = strlen(text);
	while (text[len - 1] == '0' && text[len - 2] != '.')
		text[--len] = '\0';
	return mr_arena_printf(job->arena, "%ss", text);
}

/* --- the table, the longest first --- */

static const struct {
	const char *suffix;
	const char *(*text)(const struct job *job);
	const char *unit;
} suffixes[] = {
	{ "_epoch_ms", epoch, "ms" },
	{ "_epoch_ns", epoch, "ns" },
	{ "_epoch_s", epoch, "s" },
	{ "_usd_cents", money, "$" },
	{ "_eur_cents", money, "€" },
	{ "_rfc3339", as_it_is, NULL },
	{ "_minutes", with_unit, " minutes" },
	{ "_hours", with_unit, " hours" },
	{ "_days", with_unit, " days" },
	{ "_msats", with_unit, "msats" },
	{ "_sats", with_unit, "sats" },
	{ "_bytes", bytes, NULL },
	{ "_percent", with_unit, "%" },
	{ "_secret", as_it_is, NULL },
	{ "_btc", with_unit, " BTC" },
	{ "_jpy", money, "¥" },
	{ "_ns", with_unit, "ns" },
	{ "_us", with_unit, "μs" },
	{ "_ms", milliseconds, NULL },
	{ "_s", with_unit, "s" },
};

static const char *upper(struct mr_arena *arena, const char *text)
{
	char *out = mr_arena_strdup(arena, text);

	for (char *at = out; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return out;
}

/* A suffix is written all in lower case or all in upper case. */
static bool ends_with(struct mr_arena *arena, const char *key, const char *suffix)
{
	return mr_str_ends(key, suffix) || mr_str_ends(key, upper(arena, suffix));
}

/* "_<3 or 4 letters>_cents" of other currencies: the length of the suffix, or 0. */
static size_t currency(struct mr_arena *arena, const char *key, const char **out_code)
{
	size_t len = strlen(key), end_len = strlen("_cents");
	const char *alphabet = mr_str_ends(key, "_cents") ? "abcdefghijklmnopqrstuvwxyz"
							  : "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!ends_with(arena, key, "_cents"))
		return 0;
	for (size_t letters = 3; letters <= 4; letters++) {
		const char *code;

		if (len <= end_len + letters + 1)
			continue;
		code = key + len - end_len - letters;
		if (code[-1] != '_' || strspn(code, alphabet) < letters)
			continue;
		*out_code = mr_arena_strndup(arena, code, letters);
		return end_len + letters + 1;
	}
	return 0;
}

static const char *other_money(struct mr_arena *arena, const struct mr_value *value,
	const char *code)
{
	int64_t cents;

	if (!as_int(value, &cents) || cents < 0)
		return NULL;
	return mr_arena_printf(arena, "%lld.%02lld %s", (long long)(cents / 100),
		(long long)(cents % 100), upper(arena, code));
}

bool mr_afd_suffix(struct mr_arena *arena, const char *key, const struct mr_value *value,
	const char **out_key, const char **out_text)
{
	const char *text = NULL, *code = NULL;
	size_t cut = 0;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (i == 5 && (cut = currency(arena, key, &code)) != 0) {
			text = other_money(arena, value, code);
			break;
		}
		if (!ends_with(arena, key, suffixes[i].suffix))
			continue;
		cut = strlen(suffixes[i].suffix);
		text = suffixes[i].text(&(struct job){ arena, value, suffixes[i].unit });
		break;
	}
	if (!text || cut >= strlen(key))
		return false;
	*out_key = mr_arena_strndup(arena, key, strlen(key) - cut);
	*out_text = text;
	return true;
}
