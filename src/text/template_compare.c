/* text/template_compare.c - which values are equal, less, and in another. */
#include "text/template_private.h"

#include <math.h>
#include <string.h>

enum { VALUE_DEPTH = 100 };

static double number(const struct mr_tpl_value *value)
{
	if (value->kind == MR_TV_BOOL)
		return value->boolean;
	return value->kind == MR_TV_INT ? (double)value->integer : value->real;
}

static bool is_numeric(const struct mr_tpl_value *value)
{
	return mr_tpl_is_number(value) || value->kind == MR_TV_BOOL;
}

static int order(double a, double b)
{
	return (a > b) - (a < b);
}

/* Both are numbers or booleans. */
static int compare_numbers(const struct mr_tpl_value *a, const struct mr_tpl_value *b)
{
	if (a->kind == MR_TV_INT && b->kind == MR_TV_INT)
		return (a->integer > b->integer) - (a->integer < b->integer);
	return order(number(a), number(b));
}

static int compare_texts(const struct mr_tpl_value *a, const struct mr_tpl_value *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order_of_bytes = len ? memcmp(a->text, b->text, len) : 0;

	if (order_of_bytes)
		return order_of_bytes < 0 ? -1 : 1;
	return (a->len > b->len) - (a->len < b->len);
}

static enum mr_code equal_at(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, unsigned depth, bool *out);

static enum mr_code equal_maps(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, unsigned depth, bool *out)
{
	*out = a->len == b->len;
	for (size_t i = 0; *out && i < a->len; i++) {
		struct mr_tpl_pair one = mr_tpl_pair_at(a, i), other = one;
		enum mr_code rc = MR_OK;
		bool found = false;

		for (size_t j = 0; !rc && !found && j < b->len; j++) {
			other = mr_tpl_pair_at(b, (i + j) % b->len);
			rc = equal_at(run, &one.key, &other.key, depth + 1, &found);
		}
		*out = found;
		if (!rc && found)
			rc = equal_at(run, &one.value, &other.value, depth + 1, out);
		if (rc)
			return rc;
	}
	return MR_OK;
}

static enum mr_code equal_at(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, unsigned depth, bool *out)
{
	enum mr_code rc = mr_tpl_burn(run, 1);

	if (!rc && depth > VALUE_DEPTH)
		rc = mr_tpl_fail(run, MR_ELIMIT, "a value is nested more than %d deep",
			VALUE_DEPTH);
	if (rc)
		return rc;
	if (is_numeric(a) && is_numeric(b)) {
		*out = compare_numbers(a, b) == 0 && !isnan(number(a)) && !isnan(number(b));
	} else if (a->kind == MR_TV_TEXT && b->kind == MR_TV_TEXT) {
		*out = compare_texts(a, b) == 0;
	} else if (mr_tpl_is_list(a) && mr_tpl_is_list(b)) {
		*out = a->len == b->len;
		for (size_t i = 0; !rc && *out && i < a->len; i++) {
			struct mr_tpl_value one = mr_tpl_item(a, i), other = mr_tpl_item(b, i);

			rc = equal_at(run, &one, &other, depth + 1, out);
		}
	} else if (mr_tpl_is_map(a) && mr_tpl_is_map(b)) {
		rc = equal_maps(run, a, b, depth, out);
	} else {
		*out = a->kind == b->kind &&
			(a->kind <= MR_TV_NONE ||
				(a->kind > MR_TV_RAW_MAP && a->scope == b->scope));
	}
	return rc;
}

enum mr_code mr_tpl_equal(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, bool *out)
{
	return equal_at(run, a, b, 0, out);
}

static enum mr_code compare_at(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, unsigned depth, int *out)
{
	enum mr_code rc = mr_tpl_burn(run, 1);

	if (!rc && depth > VALUE_DEPTH)
		rc = mr_tpl_fail(run, MR_ELIMIT, "a value is nested more than %d deep",
			VALUE_DEPTH);
	if (rc)
		return rc;
	if (is_numeric(a) && is_numeric(b)) {
		*out = compare_numbers(a, b);
	} else if (a->kind == MR_TV_TEXT && b->kind == MR_TV_TEXT) {
		*out = compare_texts(a, b);
	} else if (mr_tpl_is_list(a) && mr_tpl_is_list(b)) {
		*out = 0;
		for (size_t i = 0; !rc && *out == 0 && i < a->len && i < b->len; i++) {
			struct mr_tpl_value one = mr_tpl_item(a, i), other = mr_tpl_item(b, i);

			rc = compare_at(run, &one, &other, depth + 1, out);
		}
		if (!rc && *out == 0)
			*out = (a->len > b->len) - (a->len < b->len);
	} else
		return mr_tpl_fail(run, MR_EINVAL, "%s and %s have no order", mr_tpl_kind_name(a),
			mr_tpl_kind_name(b));
	return rc;
}

enum mr_code mr_tpl_compare(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, int *out)
{
	return compare_at(run, a, b, 0, out);
}

enum mr_code mr_tpl_contains_value(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_value *what, bool *out)
{
	enum mr_code rc = MR_OK;

	*out = false;
	if (in->kind == MR_TV_UNDEFINED)
		return MR_OK;
	if (in->kind == MR_TV_TEXT && what->kind == MR_TV_TEXT) {
		*out = memmem(in->text, in->len, what->text, what->len) != NULL;
		return mr_tpl_burn(run, in->len / 64);
	}
	if (!mr_tpl_is_list(in) && !mr_tpl_is_map(in))
		return mr_tpl_fail(run, MR_EINVAL, "%s cannot contain %s", mr_tpl_kind_name(in),
			mr_tpl_kind_name(what));
	for (size_t i = 0; !rc && !*out && i < in->len; i++) {
		struct mr_tpl_value one =
			mr_tpl_is_map(in) ? mr_tpl_pair_at(in, i).key : mr_tpl_item(in, i);

		rc = mr_tpl_equal(run, &one, what, out);
	}
	return rc;
}
