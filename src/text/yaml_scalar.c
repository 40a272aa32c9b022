/* text/yaml_scalar.c - Determines the YAML 1.1 type and value of a plain scalar. */
#include "text/yaml_scalar.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

enum number_shape {
	NO_NUMBER,
	INT_BINARY,
	INT_OCTAL,
	INT_DECIMAL,
	INT_HEX,
	INT_BASE60,
	FLOAT_DECIMAL,
	FLOAT_BASE60,
	FLOAT_INF,
	FLOAT_NAN,
};

static const char PAST_64_BITS[] = "is an integer past 64 bits";
static const char NO_DIGITS[] = "is a number without digits";
static const char PAST_DOUBLE[] = "is a number past what a float holds";

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(text, *words) == 0)
			return true;
	}
	return false;
}

static bool is_null(const char *text)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

	return is_one_of(text, words);
}

static bool is_true(const char *text)
{
	static const char *const words[] = { "yes", "Yes", "YES", "true", "True", "TRUE", "on",
		"On", "ON", NULL };

	return is_one_of(text, words);
}

static bool is_false(const char *text)
{
	static const char *const words[] = { "no", "No", "NO", "false", "False", "FALSE", "off",
		"Off", "OFF", NULL };

	return is_one_of(text, words);
}

/* All of `text` is one or more of `set`. */
static bool is_all(const char *text, const char *set)
{
	size_t n = strspn(text, set);

	return n > 0 && text[n] == '\0';
}

/* Past one or more ":MM", minutes and seconds of one digit or two; NULL when there is none. */
static const char *skip_base60(const char *at)
{
	if (*at != ':')
		return NULL;
	while (*at == ':') {
		size_t n = strspn(at + 1, DIGITS);

		if (n == 0 || n > 2 || (n == 2 && at[1] > '5'))
			return NULL;
		at += 1 + n;
	}
	return at;
}

static enum number_shape int_shape(const char *s)
{
	if (s[0] == '0') {
		if (s[1] == 'b')
			return is_all(s + 2, "01_") ? INT_BINARY : NO_NUMBER;
		if (s[1] == 'x')
			return is_all(s + 2, DIGITS "abcdefABCDEF_") ? INT_HEX : NO_NUMBER;
		if (s[1] == '\0')
			return INT_DECIMAL;
		return is_all(s + 1, "01234567_") ? INT_OCTAL : NO_NUMBER;
	}
	if (s[0] < '1' || s[0] > '9')
		return NO_NUMBER;

	const char *rest = s + strspn(s, DIGITS "_");

	if (*rest == '\0')
		return INT_DECIMAL;
	rest = skip_base60(rest);
	return rest && *rest == '\0' ? INT_BASE60 : NO_NUMBER;
}

/* After the digits behind the point: nothing, or an exponent, whose sign must stand. */
static bool ends_as_float(const char *s)
{
	if (*s == '\0')
		return true;
	return (*s == 'e' || *s == 'E') && (s[1] == '+' || s[1] == '-') && is_all(s + 2, DIGITS);
}

static enum number_shape float_shape(const char *s, bool has_sign)
{
	static const char *const inf[] = { ".inf", ".Inf", ".INF", NULL };
	static const char *const nan[] = { ".nan", ".NaN", ".NAN", NULL };

	if (*s == '.') {
		if (is_one_of(s, inf))
			return FLOAT_INF;
		if (has_sign)
			return NO_NUMBER;
		if (is_one_of(s, nan))
			return FLOAT_NAN;
		if (s[1] < '0' || s[1] > '9')
			return NO_NUMBER;
		return ends_as_float(s + 1 + strspn(s + 1, DIGITS "_")) ? FLOAT_DECIMAL : NO_NUMBER;
	}
	if (*s < '0' || *s > '9')
		return NO_NUMBER;

	const char *rest = s + strspn(s, DIGITS "_");

	if (*rest == '.')
		return ends_as_float(rest + 1 + strspn(rest + 1, DIGITS "_")) ? FLOAT_DECIMAL
									      : NO_NUMBER;
	rest = skip_base60(rest);
	if (!rest || *rest != '.')
		return NO_NUMBER;
	rest++;
	return rest[strspn(rest, DIGITS "_")] == '\0' ? FLOAT_BASE60 : NO_NUMBER;
}

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return (unsigned)(c - 'A') + 10;
}

/* The digits up to ':' or the end; false when they pass 64 bits. */
static bool read_digits(const char **at, unsigned base, uint64_t *out, size_t *out_count)
{
	uint64_t sum = 0;
	size_t count = 0;

	for (; **at && **at != ':'; (*at)++) {
		if (**at == '_')
			continue;
		count++;
		if (__builtin_mul_overflow(sum, base, &sum) ||
			__builtin_add_overflow(sum, digit_value(**at), &sum))
			return false;
	}
	*out = sum;
	*out_count = count;
	return true;
}

static const char *read_int(const char *s, enum number_shape shape, bool negative, int64_t *out)
{
	static const unsigned bases[] = { [INT_BINARY] = 2,
		[INT_OCTAL] = 8,
		[INT_DECIMAL] = 10,
		[INT_HEX] = 16,
		[INT_BASE60] = 10 };
	const uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	uint64_t sum = 0;

	if (shape == INT_BINARY || shape == INT_HEX)
		s += 2;
	for (;;) {
		uint64_t part;
		size_t count;

		if (!read_digits(&s, bases[shape], &part, &count) ||
			__builtin_mul_overflow(sum, 60, &sum) ||
			__builtin_add_overflow(sum, part, &sum))
			return PAST_64_BITS;
		if (count == 0)
			return NO_DIGITS;
		if (*s != ':')
			break;
		s++;
	}
	if (sum > limit)
		return PAST_64_BITS;
	*out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
	return NULL;
}

/*
 * "h:m:s.f", whose colons become ends. From the last part to the first, in the order the reference
 * adds them up.
 */
static double read_base60(char *text, size_t len)
{
	double sum = 0;
	double weight = 1;

	for (size_t at = len; at > 0; at--) {
		if (text[at - 1] == ':') {
			sum += strtod(text + at, NULL) * weight;
			weight *= 60;
			text[at - 1] = '\0';
		}
	}
	return sum + strtod(text, NULL) * weight;
}

static const char *read_float(const char *s, enum number_shape shape, bool negative, double *out)
{
	double number;

	if (shape == FLOAT_INF) {
		number = (double)INFINITY;
	} else if (shape == FLOAT_NAN) {
		number = (double)NAN;
	} else {
		struct mr_buf digits MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&digits, strlen(s) + 1);
		for (; *s; s++) {
			if (*s != '_')
				mr_buf_putc(&digits, *s);
		}
		number = shape == FLOAT_BASE60 ? read_base60(digits.data, digits.len)
					       : strtod(digits.data, NULL);
		if (shape == FLOAT_BASE60 && !isfinite(number))
			return PAST_DOUBLE;
	}
	*out = negative ? -number : number;
	return NULL;
}

static const char *read_number(const char *text, struct mr_value *out, bool *out_is_number)
{
	bool has_sign = *text == '-' || *text == '+';
	bool negative = *text == '-';
	const char *s = text + has_sign;
	enum number_shape shape = int_shape(s);
	const char *wrong;

	*out_is_number = true;
	if (shape != NO_NUMBER) {
		int64_t integer;

		wrong = read_int(s, shape, negative, &integer);
		if (!wrong)
			*out = (struct mr_value){ .kind = MR_INT, .integer = integer };
		return wrong;
	}
	shape = float_shape(s, has_sign);
	if (shape != NO_NUMBER) {
		double real;

		wrong = read_float(s, shape, negative, &real);
		if (!wrong)
			*out = (struct mr_value){ .kind = MR_FLOAT, .real = real };
		return wrong;
	}
	*out_is_number = false;
	return NULL;
}

const char *mr_yaml_scalar_read(const char *text, struct mr_value *out)
{
	bool is_number;
	const char *wrong = read_number(text, out, &is_number);

	if (is_number)
		return wrong;
	if (is_null(text))
		*out = (struct mr_value){ .kind = MR_NULL };
	else if (is_true(text) || is_false(text))
		*out = (struct mr_value){ .kind = MR_BOOL, .boolean = is_true(text) };
	else
		*out = (struct mr_value){ .kind = MR_TEXT, .text = text };
	return NULL;
}

bool mr_yaml_scalar_is_keyword(const char *text)
{
	static const char *const short_words[] = { "y", "Y", "n", "N", NULL };

	return is_null(text) || is_true(text) || is_false(text) || is_one_of(text, short_words);
}
