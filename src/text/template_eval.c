/* text/template_eval.c - the value of an expression. */
#include "text/template_private.h"

#include <string.h>

enum { NESTING = 1500 };

static enum mr_code binary(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value a, b;
	int order = 0;
	bool is = false;
	enum mr_code rc = mr_tpl_eval(run, node->a, &a);

	if (!rc)
		rc = mr_tpl_eval(run, node->b, &b);
	if (rc)
		return rc;
	run->line = node->line;
	*out = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
	switch (node->op) {
	case '~':
		return mr_tpl_concat(run, &a, &b, run->escape, out);
	case MR_OP_EQ:
	case MR_OP_NE:
		rc = mr_tpl_equal(run, &a, &b, &is);
		is = is == (node->op == MR_OP_EQ);
		break;
	case MR_OP_IN:
	case MR_OP_NOT_IN:
		rc = mr_tpl_contains_value(run, &b, &a, &is);
		is = is == (node->op == MR_OP_IN);
		break;
	case '<':
	case '>':
	case MR_OP_LE:
	case MR_OP_GE:
		rc = mr_tpl_compare(run, &a, &b, &order);
		is = node->op == '<'           ? order < 0
			: node->op == '>'      ? order > 0
			: node->op == MR_OP_LE ? order <= 0
					       : order >= 0;
		break;
	default:
		return mr_tpl_calculate(run, node->op, &a, &b, out);
	}
	*out = mr_tpl_bool(is);
	return rc;
}

static enum mr_code unary(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value value, zero = mr_tpl_int(0);
	enum mr_code rc = mr_tpl_eval(run, node->a, &value);
	bool is_true = false;

	if (rc)
		return rc;
	if (node->op == MR_OP_NOT) {
		rc = mr_tpl_test(run, &value, &is_true);
		*out = mr_tpl_bool(!is_true);
		return rc;
	}
	value = mr_tpl_as_number(&value);
	if (!mr_tpl_is_number(&value))
		return mr_tpl_fail(run, MR_EINVAL, "'%c' does not work with %s", (char)node->op,
			mr_tpl_kind_name(&value));
	*out = value;
	if (node->op == '-' && value.kind == MR_TV_FLOAT)
		out->real = -value.real;
	else if (node->op == '-')
		rc = mr_tpl_calculate(run, '-', &zero, &value, out);
	return rc;
}

static enum mr_code index_of(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value value, key;
	bool is_safe;
	enum mr_code rc = mr_tpl_eval(run, node->a, &value);

	if (!rc)
		rc = mr_tpl_eval(run, node->b, &key);
	if (rc)
		return rc;
	*out = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
	if (value.kind == MR_TV_UNDEFINED)
		return mr_tpl_fail(run, MR_EINVAL, "an item of an undefined value");
	if (key.kind == MR_TV_TEXT)
		return mr_tpl_get(run, &value, key.text, key.len, out);
	is_safe = value.is_safe;
	if (value.kind == MR_TV_TEXT && key.kind == MR_TV_INT) {
		rc = mr_tpl_iterate(run, &value, &value);
		if (rc)
			return rc;
	}
	if (mr_tpl_is_list(&value) && key.kind == MR_TV_INT) {
		int64_t at = key.integer < 0 ? key.integer + (int64_t)value.len : key.integer;

		if (at >= 0 && at < (int64_t)value.len)
			*out = mr_tpl_item(&value, (size_t)at);
		out->is_safe = out->is_safe || is_safe;
	} else if (value.kind == MR_TV_MAP) {
		for (size_t i = 0; !rc && i < value.len; i++) {
			bool is = false;

			rc = mr_tpl_equal(run, &value.pairs[i].key, &key, &is);
			if (is)
				*out = value.pairs[i].value;
		}
	}
	return rc;
}

/* A bound of a slice, within 0 (or -1 when stepping down) and `len`. */
static enum mr_code bound(struct mr_tpl_run *run, const struct mr_tpl_node *node, int64_t len,
	int64_t step, int64_t *io)
{
	struct mr_tpl_value value;
	enum mr_code rc;

	if (!node)
		return MR_OK;
	rc = mr_tpl_eval(run, node, &value);
	if (rc || value.kind == MR_TV_NONE)
		return rc;
	if (value.kind != MR_TV_INT)
		return mr_tpl_fail(run, MR_EINVAL, "a slice needs whole numbers, not %s",
			mr_tpl_kind_name(&value));
	*io = value.integer < 0 ? value.integer + len : value.integer;
	if (*io < 0)
		*io = step < 0 ? -1 : 0;
	if (*io >= len)
		*io = step < 0 ? len - 1 : len;
	return MR_OK;
}

static enum mr_code join_texts(struct mr_tpl_run *run, const struct mr_tpl_value *list,
	struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_tpl_buf_init(run, &buf);
	for (size_t i = 0; i < list->len; i++)
		mr_buf_add(&buf, list->items[i].text, list->items[i].len);
	return mr_tpl_buf_take(run, &buf, out);
}

static enum mr_code slice(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value value, step = mr_tpl_int(1), all;
	int64_t from, to, len, count = 0;
	struct mr_tpl_value *items;
	bool is_text;
	enum mr_code rc = mr_tpl_eval(run, node->a, &value);

	if (!rc && node->d)
		rc = mr_tpl_eval(run, node->d, &step);
	if (rc)
		return rc;
	if (step.kind == MR_TV_NONE)
		step = mr_tpl_int(1);
	if (step.kind != MR_TV_INT || step.integer == 0 || step.integer < -INT32_MAX ||
		step.integer > INT32_MAX)
		return mr_tpl_fail(run, MR_EINVAL, "the step of a slice is a whole number but 0");
	is_text = value.kind == MR_TV_TEXT;
	rc = mr_tpl_iterate(run, &value, &all);
	if (rc)
		return rc;
	len = (int64_t)all.len;
	from = step.integer < 0 ? len - 1 : 0;
	to = step.integer < 0 ? -1 : len;
	rc = bound(run, node->b, len, step.integer, &from);
	if (!rc)
		rc = bound(run, node->c, len, step.integer, &to);
	if (rc)
		return rc;
	items = mr_tpl_alloc(run, all.len, sizeof(*items));
	if (!items)
		return run->err->code;
	for (; step.integer < 0 ? from > to : from < to; from += step.integer)
		items[count++] = mr_tpl_item(&all, (size_t)from);
	*out = mr_tpl_list(items, (size_t)count);
	if (!is_text)
		return MR_OK;
	rc = join_texts(run, out, out);
	out->is_safe = value.is_safe;
	return rc;
}

static enum mr_code literal(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	bool is_map = node->kind == MR_TN_MAP;
	size_t len = is_map ? node->list.len / 2 : node->list.len, used = 0;
	struct mr_tpl_pair *pairs = is_map ? mr_tpl_alloc(run, len, sizeof(*pairs)) : NULL;
	struct mr_tpl_value *items = is_map ? NULL : mr_tpl_alloc(run, len, sizeof(*items));
	enum mr_code rc = MR_OK;

	if (!pairs && !items)
		return run->err->code;
	for (size_t i = 0; !is_map && !rc && i < len; i++)
		rc = mr_tpl_eval(run, node->list.items[i], &items[i]);
	for (size_t i = 0; is_map && !rc && i < len; i++) {
		struct mr_tpl_value key;
		size_t at = 0;

		rc = mr_tpl_eval(run, node->list.items[2 * i], &key);
		for (; !rc && at < used;
			at++) { /* a key that is there already gets the new value */
			bool is = false;

			rc = mr_tpl_equal(run, &pairs[at].key, &key, &is);
			if (is)
				break;
		}
		if (rc)
			break;
		pairs[at].key = key;
		used += at == used;
		rc = mr_tpl_eval(run, node->list.items[2 * i + 1], &pairs[at].value);
	}
	if (rc)
		return rc;
	*out = mr_tpl_list(items, len);
	if (is_map)
		*out = (struct mr_tpl_value){ .kind = MR_TV_MAP, .pairs = pairs, .len = used };
	return MR_OK;
}

static enum mr_code arguments(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_args *out)
{
	struct mr_tpl_value *items = NULL;
	struct mr_tpl_pair *named = NULL;
	enum mr_code rc = MR_OK;

	*out = (struct mr_tpl_args){ 0 };
	if (!node->list.len)
		return MR_OK;
	items = mr_tpl_alloc(run, node->list.len, sizeof(*items));
	named = items ? mr_tpl_alloc(run, node->list.len, sizeof(*named)) : NULL;
	if (!named)
		return run->err->code;
	for (size_t i = 0; !rc && i < node->list.len; i++) {
		const char *key = node->keys[i];

		if (!key) {
			rc = mr_tpl_eval(run, node->list.items[i], &items[out->len++]);
			continue;
		}
		named[out->named_len].key = mr_tpl_text(key, strlen(key));
		rc = mr_tpl_eval(run, node->list.items[i], &named[out->named_len++].value);
	}
	out->items = items;
	out->named = named;
	return rc;
}

enum mr_code mr_tpl_apply(struct mr_tpl_run *run, const struct mr_tpl_filter *filter,
	const struct mr_tpl_value *in, const struct mr_tpl_args *args, struct mr_tpl_value *out)
{
	struct mr_tpl_value result = { .kind = MR_TV_UNDEFINED };
	enum mr_code rc = mr_tpl_burn(run, 1);

	if (rc)
		return rc;
	if (args->len > filter->max)
		return mr_tpl_fail(run, MR_EINVAL, "'%s' takes %u arguments at most", filter->name,
			filter->max);
	for (size_t i = 0; filter->names && i < args->named_len; i++) {
		char *word = mr_arena_printf(run->arena, " %s ", args->named[i].key.text);

		if (!strstr(filter->names, word))
			return mr_tpl_fail(run, MR_EINVAL, "'%s' has no argument '%s'",
				filter->name, args->named[i].key.text);
	}
	rc = filter->apply(run, in, args, &result);
	if (!rc)
		*out = result;
	return rc;
}

static enum mr_code apply_node(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value in;
	struct mr_tpl_args args;
	enum mr_code rc = mr_tpl_eval(run, node->a, &in);

	if (!rc)
		rc = arguments(run, node, &args);
	run->line = node->line;
	if (!rc)
		rc = mr_tpl_apply(run, node->filter, &in, &args, out);
	if (!rc && node->flag)
		out->boolean = !out->boolean;
	return rc;
}

static enum mr_code call(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value callee;
	struct mr_tpl_args args;
	enum mr_code rc = mr_tpl_eval(run, node->a, &callee);

	if (!rc)
		rc = arguments(run, node, &args);
	run->line = node->line;
	if (!rc && callee.kind < MR_TV_MACRO && node->a->name)
		return mr_tpl_fail(run, MR_EINVAL, "'%s' is %s and cannot be called", node->a->name,
			mr_tpl_kind_name(&callee));
	return rc ? rc : mr_tpl_call(run, &callee, &args, out);
}

static enum mr_code choose(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value first;
	bool is_true = false;
	enum mr_code rc = mr_tpl_eval(run, node->a, &first);

	if (!rc)
		rc = mr_tpl_test(run, &first, &is_true);
	if (rc)
		return rc;
	*out = first;
	if (node->kind != MR_TN_CHOICE)
		return is_true == (node->kind == MR_TN_AND) ? mr_tpl_eval(run, node->b, out)
							    : MR_OK;
	*out = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
	if (is_true)
		return mr_tpl_eval(run, node->b, out);
	return node->c ? mr_tpl_eval(run, node->c, out) : MR_OK;
}

static enum mr_code eval_node(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value value;
	enum mr_code rc;

	switch (node->kind) {
	case MR_TN_CONST:
		*out = node->value;
		return MR_OK;
	case MR_TN_NAME:
		return mr_tpl_lookup(run, node->name, out);
	case MR_TN_CAPTURED:
		*out = run->captured;
		return MR_OK;
	case MR_TN_MEMBER:
		rc = mr_tpl_eval(run, node->a, &value);
		return rc ? rc : mr_tpl_get(run, &value, node->name, node->len, out);
	case MR_TN_INDEX:
		return index_of(run, node, out);
	case MR_TN_SLICE:
		return slice(run, node, out);
	case MR_TN_LIST:
	case MR_TN_MAP:
		return literal(run, node, out);
	case MR_TN_FILTER:
	case MR_TN_TEST:
		return apply_node(run, node, out);
	case MR_TN_CALL:
		return call(run, node, out);
	case MR_TN_UNARY:
		return unary(run, node, out);
	case MR_TN_BINARY:
		return binary(run, node, out);
	default:
		return choose(run, node, out);
	}
}

enum mr_code mr_tpl_eval(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	enum mr_code rc;

	run->line = node->line;
	rc = mr_tpl_burn(run, 1);
	if (!rc && run->nesting >= NESTING)
		rc = mr_tpl_fail(run, MR_ELIMIT, "templates and macros are nested too deeply");
	if (rc)
		return rc;
	run->nesting++;
	rc = eval_node(run, node, out);
	run->nesting--;
	return rc;
}
