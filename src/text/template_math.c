/* text/template_math.c - the operators that make a new value of two. */
#include "text/template_private.h"

#include <math.h>
#include <string.h>

static double number(const struct mr_tpl_value *value)
{
	return value->kind == MR_TV_INT ? (double)value->integer : value->real;
}

struct mr_tpl_value mr_tpl_as_number(const struct mr_tpl_value *value)
{
	return value->kind == MR_TV_BOOL ? mr_tpl_int(value->boolean) : *value;
}

/* Is the power out of range? Of 0, 1 and -1 it is known however large `b` is. */
static bool power(int64_t a, int64_t b, int64_t *out)
{
	*out = 1;
	if (a == 1 || b <= 0)
		return false;
	if (a == -1) {
		*out = b % 2 ? -1 : 1;
		return false;
	}
	for (int64_t i = 0; i < b && *out != 0; i++)
		if (__builtin_mul_overflow(*out, a, out))
			return true;
	return false;
}

/* A remainder is never negative. `b` is not 0. Is the quotient out of range? */
static bool divide(unsigned op, int64_t a, int64_t b, int64_t *out)
{
	if (b == -1 && op != '%')
		return __builtin_sub_overflow((int64_t)0, a, out);
	if (b == -1) {
		*out = 0;
		return false;
	}
	*out = op == '%' ? a % b : a / b;
	if (a % b < 0 && op == '%')
		*out += b > 0 ? b : -b;
	else if (a % b < 0)
		*out += b > 0 ? -1 : 1;
	return false;
}

static enum mr_code whole(struct mr_tpl_run *run, unsigned op, int64_t a, int64_t b, int64_t *out)
{
	bool is_over = false;

	switch (op) {
	case '+':
		is_over = __builtin_add_overflow(a, b, out);
		break;
	case '-':
		is_over = __builtin_sub_overflow(a, b, out);
		break;
	case '*':
		is_over = __builtin_mul_overflow(a, b, out);
		break;
	case MR_OP_POWER:
		is_over = power(a, b, out);
		break;
	default:
		if (b == 0)
			return mr_tpl_fail(run, MR_EINVAL, "division by zero");
		is_over = divide(op, a, b, out);
	}
	return is_over ? mr_tpl_fail(run, MR_EINVAL, "a number is out of range") : MR_OK;
}

static enum mr_code real(struct mr_tpl_run *run, unsigned op, double a, double b, double *out)
{
	switch (op) {
	case '+':
		*out = a + b;
		return MR_OK;
	case '-':
		*out = a - b;
		return MR_OK;
	case '*':
		*out = a * b;
		return MR_OK;
	case MR_OP_POWER:
		*out = pow(a, b);
		return MR_OK;
	}
	if (b == 0)
		return mr_tpl_fail(run, MR_EINVAL, "division by zero");
	if (op == '/') {
		*out = a / b;
	} else if (op == '%') {
		*out = fmod(a, b);
		*out += *out < 0 ? fabs(b) : 0;
	} else
		*out = b > 0 ? floor(a / b) : ceil(a / b);
	return MR_OK;
}

/* A text or a list, so many times. */
static enum mr_code repeat(struct mr_tpl_run *run, const struct mr_tpl_value *what, int64_t count,
	struct mr_tpl_value *out)
{
	size_t times = count > 0 ? (size_t)count : 0, total;
	bool is_text = what->kind == MR_TV_TEXT;
	struct mr_tpl_value *items;
	char *text;

	if (__builtin_mul_overflow(what->len, times, &total) || total >= run->memory)
		return mr_tpl_fail(run, MR_ELIMIT, "rendering takes too much memory");
	if (is_text) {
		text = mr_tpl_alloc(run, total + 1, 1);
		if (!text)
			return run->err->code;
		for (size_t i = 0; what->len && i < total; i += what->len)
			memcpy(text + i, what->text, what->len);
		*out = mr_tpl_text(text, total);
		out->is_safe = what->is_safe;
		return MR_OK;
	}
	items = mr_tpl_alloc(run, total, sizeof(*items));
	if (!items)
		return run->err->code;
	for (size_t i = 0; i < total; i++)
		items[i] = mr_tpl_item(what, i % what->len);
	*out = mr_tpl_list(items, total);
	return MR_OK;
}

static enum mr_code chain(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, struct mr_tpl_value *out)
{
	struct mr_tpl_value *items = mr_tpl_alloc(run, a->len + b->len, sizeof(*items));

	if (!items)
		return run->err->code;
	for (size_t i = 0; i < a->len + b->len; i++)
		items[i] = i < a->len ? mr_tpl_item(a, i) : mr_tpl_item(b, i - a->len);
	*out = mr_tpl_list(items, a->len + b->len);
	return MR_OK;
}

enum mr_code mr_tpl_concat(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, bool may_be_html, struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	bool is_safe = may_be_html && (a->is_safe || b->is_safe);
	const struct mr_tpl_value *both[] = { a, b };
	enum mr_code rc = MR_OK;

	mr_tpl_buf_init(run, &buf);
	for (size_t i = 0; !rc && i < 2; i++) {
		struct mr_tpl_value text;

		rc = mr_tpl_to_text(run, both[i], &text);
		if (!rc && is_safe && !text.is_safe)
			mr_tpl_escape(&buf, text.text, text.len);
		else if (!rc)
			mr_buf_add(&buf, text.text, text.len);
	}
	if (!rc)
		rc = mr_tpl_buf_take(run, &buf, out);
	if (!rc)
		out->is_safe = is_safe;
	return rc;
}

static const char *op_text(unsigned op, char buf[2])
{
	buf[0] = (char)op;
	buf[1] = '\0';
	return op == MR_OP_POWER ? "**" : op == MR_OP_FLOOR ? "//" : buf;
}

enum mr_code mr_tpl_calculate(struct mr_tpl_run *run, unsigned op, const struct mr_tpl_value *left,
	const struct mr_tpl_value *right, struct mr_tpl_value *out)
{
	struct mr_tpl_value a = mr_tpl_as_number(left), b = mr_tpl_as_number(right);
	char text[2];
	enum mr_code rc;

	if (a.kind == MR_TV_INT && b.kind == MR_TV_INT && op != '/' &&
		!(op == MR_OP_POWER && b.integer < 0)) {
		out->kind = MR_TV_INT;
		return whole(run, op, a.integer, b.integer, &out->integer);
	}
	if (mr_tpl_is_number(&a) && mr_tpl_is_number(&b)) {
		double value = 0;

		rc = real(run, op, number(&a), number(&b), &value);
		*out = mr_tpl_real(value);
		return rc;
	}
	if (op == '+' && a.kind == MR_TV_TEXT && b.kind == MR_TV_TEXT)
		return mr_tpl_concat(run, &a, &b, true, out);
	if (op == '+' && mr_tpl_is_list(&a) && mr_tpl_is_list(&b))
		return chain(run, &a, &b, out);
	if (op == '*' && b.kind == MR_TV_INT && (a.kind == MR_TV_TEXT || mr_tpl_is_list(&a)))
		return repeat(run, &a, b.integer, out);
	if (op == '*' && a.kind == MR_TV_INT && (b.kind == MR_TV_TEXT || mr_tpl_is_list(&b)))
		return repeat(run, &b, a.integer, out);
	return mr_tpl_fail(run, MR_EINVAL, "'%s' does not work between %s and %s",
		op_text(op, text), mr_tpl_kind_name(left), mr_tpl_kind_name(right));
}
