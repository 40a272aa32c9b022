/* text/template_filter_number.c - filters that make numbers, or count. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILTER(fn)                                                                                 \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

/* A text as a number, when all of it is one. */
static bool read_real(const struct mr_tpl_value *text, double *out)
{
	const char *from = text->text;
	size_t len = text->len;
	char *end;

	mr_utf8_strip(&from, &len);
	if (!len || !strchr("+-.0123456789", *from) || strcspn(from, "xXpP") < len)
		return false;
	*out = strtod(from, &end);
	return end == from + len && isfinite(*out);
}

static bool read_int(const struct mr_tpl_value *text, int64_t *out)
{
	char digits[24];
	const char *from = text->text;
	size_t len = text->len;

	mr_utf8_strip(&from, &len);
	if (len && *from == '+')
		from++, len--;
	if (!len || len >= sizeof(digits))
		return false;
	memcpy(digits, from, len);
	digits[len] = '\0';
	return mr_str_to_int(digits, out);
}

static bool fits_int(double value)
{
	return value > -9.2e18 && value < 9.2e18;
}

FILTER(to_int)
{
	const struct mr_tpl_value *fallback = mr_tpl_arg(args, 0, "default");
	int64_t whole;
	double real;

	(void)run;
	*out = fallback ? *fallback : mr_tpl_int(0);
	if (in->kind == MR_TV_INT)
		*out = *in;
	else if (in->kind == MR_TV_BOOL)
		*out = mr_tpl_int(in->boolean);
	else if (in->kind == MR_TV_FLOAT && fits_int(in->real))
		*out = mr_tpl_int((int64_t)in->real);
	else if (in->kind == MR_TV_TEXT && read_int(in, &whole))
		*out = mr_tpl_int(whole);
	else if (in->kind == MR_TV_TEXT && read_real(in, &real) && fits_int(real))
		*out = mr_tpl_int((int64_t)real);
	return MR_OK;
}

FILTER(to_float)
{
	const struct mr_tpl_value *fallback = mr_tpl_arg(args, 0, "default");
	double real;

	(void)run;
	*out = fallback ? *fallback : mr_tpl_real(0);
	if (in->kind == MR_TV_FLOAT)
		*out = *in;
	else if (in->kind == MR_TV_INT || in->kind == MR_TV_BOOL)
		*out = mr_tpl_real(in->kind == MR_TV_INT ? (double)in->integer : in->boolean);
	else if (in->kind == MR_TV_TEXT && read_real(in, &real))
		*out = mr_tpl_real(real);
	return MR_OK;
}

FILTER(to_bool)
{
	(void)args;
	(void)run;
	*out = mr_tpl_bool(mr_tpl_is_true(in));
	return MR_OK;
}

FILTER(absolute)
{
	(void)args;
	*out = *in;
	if (in->kind == MR_TV_INT && in->integer != INT64_MIN)
		out->integer = in->integer < 0 ? -in->integer : in->integer;
	else if (in->kind == MR_TV_FLOAT)
		out->real = fabs(in->real);
	else
		return mr_tpl_fail(run, MR_EINVAL, "'abs' does not work with %s",
			mr_tpl_kind_name(in));
	return MR_OK;
}

FILTER(round_to)
{
	const struct mr_tpl_value *method = mr_tpl_arg(args, 1, "method");
	int64_t precision = 0;
	double scale, value;
	enum mr_code rc = mr_tpl_arg_int(run, args, 0, "precision", 0, 15, &precision);

	if (rc)
		return rc;
	if (!mr_tpl_is_number(in))
		return mr_tpl_fail(run, MR_EINVAL, "'round' does not work with %s",
			mr_tpl_kind_name(in));
	*out = *in;
	if (in->kind == MR_TV_INT)
		return MR_OK;
	scale = pow(10, (double)precision);
	value = in->real * scale;
	if (method && mr_tpl_is_text(method, "floor"))
		value = floor(value);
	else if (method && mr_tpl_is_text(method, "ceil"))
		value = ceil(value);
	else
		value = round(value);
	if (isfinite(value))
		out->real = value / scale;
	return MR_OK;
}

FILTER(length)
{
	(void)args;
	if (in->kind == MR_TV_TEXT)
		*out = mr_tpl_int((int64_t)mr_utf8_count(in->text, in->len));
	else if (in->kind == MR_TV_UNDEFINED && !run->options->strict)
		*out = mr_tpl_int(0);
	else if (mr_tpl_is_list(in) || mr_tpl_is_map(in))
		*out = mr_tpl_int((int64_t)in->len);
	else
		return mr_tpl_fail(run, MR_EINVAL, "%s has no length", mr_tpl_kind_name(in));
	return mr_tpl_burn(run, in->len / 64);
}

FILTER(wordcount)
{
	struct mr_tpl_value text;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);
	bool in_word = false;
	int64_t count = 0;

	(void)args;
	for (size_t i = 0; !rc && i < text.len;) {
		uint32_t scalar = ' ';
		size_t len = mr_utf8_next(text.text + i, text.len - i, &scalar);
		bool is_word = mr_utf8_is_word(scalar) || scalar == '_';

		count += is_word && !in_word;
		in_word = is_word;
		i += len ? len : 1;
	}
	*out = mr_tpl_int(count);
	return rc;
}

/* The least (-1) or the greatest (1). */
static enum mr_code extreme(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_args *args, int side, struct mr_tpl_value *out)
{
	const struct mr_tpl_value *path = mr_tpl_arg(args, 1, "attribute");
	struct mr_tpl_value list, best_key = { .kind = MR_TV_UNDEFINED };
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	for (size_t i = 0; !rc && i < list.len; i++) {
		struct mr_tpl_value item = mr_tpl_item(&list, i), key = item;
		int order = side;

		if (path)
			rc = mr_tpl_path(run, &item, path, &key);
		if (!rc && i)
			rc = mr_tpl_compare(run, &key, &best_key, &order);
		if (!rc && order == side) {
			*out = item;
			best_key = key;
		}
	}
	return rc;
}

FILTER(least)
{
	return extreme(run, in, args, -1, out);
}

FILTER(greatest)
{
	return extreme(run, in, args, 1, out);
}

FILTER(sum)
{
	const struct mr_tpl_value *path = mr_tpl_arg(args, 0, "attribute");
	const struct mr_tpl_value *start = mr_tpl_arg(args, 1, "start");
	struct mr_tpl_value list;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);
	double real = 0;
	int64_t whole = 0;
	bool is_real = false;

	for (size_t i = 0; !rc && i < list.len + (start != NULL); i++) {
		struct mr_tpl_value item = i < list.len ? mr_tpl_item(&list, i) : *start;

		if (path && i < list.len)
			rc = mr_tpl_path(run, &item, path, &item);
		if (item.kind == MR_TV_UNDEFINED && !rc)
			continue;
		if (!rc && !mr_tpl_is_number(&item))
			rc = mr_tpl_fail(run, MR_EINVAL, "'sum' does not work with %s",
				mr_tpl_kind_name(&item));
		if (!rc && item.kind == MR_TV_INT &&
			__builtin_add_overflow(whole, item.integer, &whole))
			rc = mr_tpl_fail(run, MR_EINVAL, "a number is out of range");
		if (!rc && item.kind == MR_TV_FLOAT) {
			is_real = true;
			real += item.real;
		}
	}
	*out = is_real ? mr_tpl_real(real + (double)whole) : mr_tpl_int(whole);
	return rc;
}

const struct mr_tpl_filter mr_tpl_number_filters[] = {
	{ "int", 1, to_int, " default " },
	{ "float", 1, to_float, " default " },
	{ "bool", 0, to_bool, "" },
	{ "abs", 0, absolute, "" },
	{ "round", 2, round_to, " precision method " },
	{ "length", 0, length, "" },
	{ "count", 0, length, "" },
	{ "wordcount", 0, wordcount, "" },
	{ "min", 2, least, " attribute " },
	{ "max", 2, greatest, " attribute " },
	{ "sum", 2, sum, " attribute start " },
	{ NULL },
};
