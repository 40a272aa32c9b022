/* text/template_is.c - the tests: what can stand after "is". */
#include "text/template_private.h"

#include "base/utf8.h"

#include <string.h>

#define TEST_FN(fn)                                                                                \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

/* A test that only looks at the value. */
#define TEST_OF(fn, condition)                                                                     \
	TEST_FN(fn)                                                                                \
	{                                                                                          \
		(void)run;                                                                         \
		(void)args;                                                                        \
		*out = mr_tpl_bool(condition);                                                     \
		return MR_OK;                                                                      \
	}

TEST_OF(is_defined, in->kind != MR_TV_UNDEFINED)
TEST_OF(is_undefined, in->kind == MR_TV_UNDEFINED)
TEST_OF(is_none, in->kind == MR_TV_NONE)
TEST_OF(is_string, in->kind == MR_TV_TEXT)
TEST_OF(is_number, mr_tpl_is_number(in))
TEST_OF(is_integer, in->kind == MR_TV_INT)
TEST_OF(is_float, in->kind == MR_TV_FLOAT)
TEST_OF(is_boolean, in->kind == MR_TV_BOOL)
TEST_OF(is_true, in->kind == MR_TV_BOOL && in->boolean)
TEST_OF(is_false, in->kind == MR_TV_BOOL && !in->boolean)
TEST_OF(is_sequence, mr_tpl_is_list(in))
TEST_OF(is_mapping, mr_tpl_is_map(in))
TEST_OF(is_iterable,
	mr_tpl_is_list(in) || mr_tpl_is_map(in) || in->kind == MR_TV_TEXT ||
		in->kind == MR_TV_UNDEFINED)
TEST_OF(is_callable, in->kind >= MR_TV_MACRO && in->kind != MR_TV_SCOPE)
TEST_OF(is_safe, in->is_safe)
TEST_OF(is_odd, in->kind == MR_TV_INT && in->integer % 2 != 0)
TEST_OF(is_even, in->kind == MR_TV_INT && in->integer % 2 == 0)

/* Is there a letter, and do all letters have this case? */
static bool has_case(const struct mr_tpl_value *in, uint32_t (*to)(uint32_t))
{
	bool found = false;

	for (size_t i = 0; in->kind == MR_TV_TEXT && i < in->len;) {
		uint32_t scalar = 0xfffd;
		size_t len = mr_utf8_next(in->text + i, in->len - i, &scalar);

		if (to(scalar) != scalar)
			return false;
		found = found || mr_utf8_upper(scalar) != scalar || mr_utf8_lower(scalar) != scalar;
		i += len ? len : 1;
	}
	return found;
}

TEST_OF(is_upper, has_case(in, mr_utf8_upper))
TEST_OF(is_lower, has_case(in, mr_utf8_lower))
TEST_OF(is_filter, in->kind == MR_TV_TEXT && mr_tpl_filter(in->text, in->len))
TEST_OF(is_test, in->kind == MR_TV_TEXT && mr_tpl_is(in->text, in->len))

static enum mr_code want_one(struct mr_tpl_run *run, const struct mr_tpl_args *args)
{
	return args->len == 1 ? MR_OK : mr_tpl_fail(run, MR_EINVAL, "this test needs an argument");
}

static enum mr_code compare(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_args *args, int low, int high, struct mr_tpl_value *out)
{
	int order = 0;
	enum mr_code rc = want_one(run, args);

	if (!rc)
		rc = mr_tpl_compare(run, in, &args->items[0], &order);
	*out = mr_tpl_bool(order >= low && order <= high);
	return rc;
}

TEST_FN(is_lt)
{
	return compare(run, in, args, -1, -1, out);
}

TEST_FN(is_le)
{
	return compare(run, in, args, -1, 0, out);
}

TEST_FN(is_gt)
{
	return compare(run, in, args, 1, 1, out);
}

TEST_FN(is_ge)
{
	return compare(run, in, args, 0, 1, out);
}

TEST_FN(is_eq)
{
	bool is = false;
	enum mr_code rc = want_one(run, args);

	if (!rc)
		rc = mr_tpl_equal(run, in, &args->items[0], &is);
	*out = mr_tpl_bool(is);
	return rc;
}

TEST_FN(is_ne)
{
	enum mr_code rc = is_eq(run, in, args, out);

	out->boolean = !out->boolean;
	return rc;
}

TEST_FN(is_in)
{
	bool is = false;
	enum mr_code rc = want_one(run, args);

	if (!rc)
		rc = mr_tpl_contains_value(run, &args->items[0], in, &is);
	*out = mr_tpl_bool(is);
	return rc;
}

TEST_FN(is_divisible)
{
	enum mr_code rc = want_one(run, args);

	if (!rc && (in->kind != MR_TV_INT || args->items[0].kind != MR_TV_INT))
		rc = mr_tpl_fail(run, MR_EINVAL, "'divisibleby' works with whole numbers");
	if (!rc && args->items[0].integer == 0)
		rc = mr_tpl_fail(run, MR_EINVAL, "division by zero");
	if (!rc)
		*out = mr_tpl_bool(
			args->items[0].integer == -1 || in->integer % args->items[0].integer == 0);
	return rc;
}

static enum mr_code has_edge(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_args *args, bool at_end, struct mr_tpl_value *out)
{
	enum mr_code rc = want_one(run, args);
	const struct mr_tpl_value *edge;

	if (rc)
		return rc;
	edge = &args->items[0];
	if (in->kind != MR_TV_TEXT || edge->kind != MR_TV_TEXT)
		return mr_tpl_fail(run, MR_EINVAL, "this test compares texts");
	*out = mr_tpl_bool(edge->len <= in->len &&
		memcmp(in->text + (at_end ? in->len - edge->len : 0), edge->text, edge->len) == 0);
	return MR_OK;
}

TEST_FN(is_starting)
{
	return has_edge(run, in, args, false, out);
}

TEST_FN(is_ending)
{
	return has_edge(run, in, args, true, out);
}

static const struct mr_tpl_filter tests[] = {
	{ "defined", 0, is_defined, "" },
	{ "undefined", 0, is_undefined, "" },
	{ "none", 0, is_none, "" },
	{ "string", 0, is_string, "" },
	{ "number", 0, is_number, "" },
	{ "integer", 0, is_integer, "" },
	{ "float", 0, is_float, "" },
	{ "boolean", 0, is_boolean, "" },
	{ "true", 0, is_true, "" },
	{ "false", 0, is_false, "" },
	{ "sequence", 0, is_sequence, "" },
	{ "mapping", 0, is_mapping, "" },
	{ "iterable", 0, is_iterable, "" },
	{ "callable", 0, is_callable, "" },
	{ "safe", 0, is_safe, "" },
	{ "escaped", 0, is_safe, "" },
	{ "odd", 0, is_odd, "" },
	{ "even", 0, is_even, "" },
	{ "upper", 0, is_upper, "" },
	{ "lower", 0, is_lower, "" },
	{ "filter", 0, is_filter, "" },
	{ "test", 0, is_test, "" },
	{ "eq", 1, is_eq, "" },
	{ "equalto", 1, is_eq, "" },
	{ "sameas", 1, is_eq, "" },
	{ "ne", 1, is_ne, "" },
	{ "lt", 1, is_lt, "" },
	{ "lessthan", 1, is_lt, "" },
	{ "le", 1, is_le, "" },
	{ "gt", 1, is_gt, "" },
	{ "greaterthan", 1, is_gt, "" },
	{ "ge", 1, is_ge, "" },
	{ "in", 1, is_in, "" },
	{ "divisibleby", 1, is_divisible, "" },
	{ "startingwith", 1, is_starting, "" },
	{ "endingwith", 1, is_ending, "" },
};

const struct mr_tpl_filter *mr_tpl_is(const char *name, size_t len)
{
	for (size_t i = 0; i < MR_LEN(tests); i++)
		if (strlen(tests[i].name) == len && memcmp(tests[i].name, name, len) == 0)
			return &tests[i];
	return NULL;
}

const char *mr_tpl_is_like(const char *name)
{
	const char *names[MR_LEN(tests)];

	for (size_t i = 0; i < MR_LEN(tests); i++)
		names[i] = tests[i].name;
	return mr_str_nearest(name, names, MR_LEN(names));
}
