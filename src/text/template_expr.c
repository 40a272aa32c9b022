/* text/template_expr.c - tokens to a tree: the expressions, by precedence. */
#include "text/template_private.h"

static const struct mr_tpl_node *or_else(struct mr_tpl_parser *p);

static const struct mr_tpl_node *join(struct mr_tpl_parser *p, enum mr_tpl_node_kind kind,
	unsigned op, const struct mr_tpl_node *a, const struct mr_tpl_node *b)
{
	struct mr_tpl_node *node;

	if (!a || !b)
		return NULL;
	node = mr_tpl_node(p, kind);
	node->line = a->line;
	node->op = op;
	node->a = a;
	node->b = b;
	return mr_tpl_contains(p, node, a) && mr_tpl_contains(p, node, b) ? node : NULL;
}

const struct mr_tpl_node *mr_tpl_expression_plain(struct mr_tpl_parser *p)
{
	const struct mr_tpl_node *node = mr_tpl_enter(p) ? or_else(p) : NULL;

	p->depth--;
	return node;
}

const struct mr_tpl_node *mr_tpl_expression(struct mr_tpl_parser *p)
{
	const struct mr_tpl_node *value = mr_tpl_expression_plain(p);

	while (value && mr_tpl_skip_word(p, "if")) {
		const struct mr_tpl_node *condition = mr_tpl_expression_plain(p);
		struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_CHOICE);

		if (!condition)
			return NULL;
		node->line = value->line;
		node->a = condition;
		node->b = value;
		if (mr_tpl_skip_word(p, "else")) {
			if (!mr_tpl_enter(p))
				return NULL;
			node->c = mr_tpl_expression(p);
			p->depth--;
			if (!node->c)
				return NULL;
		}
		if (!mr_tpl_contains(p, node, node->a) || !mr_tpl_contains(p, node, node->b) ||
			!mr_tpl_contains(p, node, node->c))
			return NULL;
		value = node;
	}
	return value;
}

static const struct mr_tpl_node *signed_value(struct mr_tpl_parser *p)
{
	struct mr_tpl_node *node;

	if (!mr_tpl_is_op(p, '-') && !mr_tpl_is_op(p, '+'))
		return mr_tpl_operand(p);
	if (!mr_tpl_enter(p))
		return NULL;
	node = mr_tpl_node(p, MR_TN_UNARY);
	node->op = mr_tpl_peek(p)->op;
	p->at++;
	node->a = signed_value(p);
	p->depth--;
	return node->a && mr_tpl_contains(p, node, node->a) ? node : NULL;
}

/* A sign and filters bind tighter than a power: -2 ** 2 is 4. */
static const struct mr_tpl_node *power(struct mr_tpl_parser *p)
{
	const struct mr_tpl_node *value = mr_tpl_filtered(p, signed_value(p));

	while (value && mr_tpl_skip_op(p, MR_OP_POWER))
		value = join(p, MR_TN_BINARY, MR_OP_POWER, value,
			mr_tpl_filtered(p, signed_value(p)));
	return value;
}

/* Operators from tight to loose. */
static const unsigned binary_ops[][5] = {
	{ '*', '/', MR_OP_FLOOR, '%', 0 },
	{ '~', 0 },
	{ '+', '-', 0 },
};

static const struct mr_tpl_node *binary(struct mr_tpl_parser *p, size_t level)
{
	const struct mr_tpl_node *value = level ? binary(p, level - 1) : power(p);

	for (const unsigned *op = binary_ops[level]; value && *op;)
		if (mr_tpl_skip_op(p, *op)) {
			value = join(p, MR_TN_BINARY, *op, value,
				level ? binary(p, level - 1) : power(p));
			op = binary_ops[level];
		} else
			op++;
	return value;
}

static const struct mr_tpl_node *comparison(struct mr_tpl_parser *p)
{
	static const unsigned ops[] = { MR_OP_EQ, MR_OP_NE, MR_OP_LE, MR_OP_GE, '<', '>' };
	const struct mr_tpl_node *value = binary(p, 2);

	while (value) {
		unsigned op = 0;

		for (size_t i = 0; i < MR_LEN(ops) && !op; i++)
			if (mr_tpl_skip_op(p, ops[i]))
				op = ops[i];
		if (!op && mr_tpl_skip_word(p, "in"))
			op = MR_OP_IN;
		if (!op && mr_tpl_is_word(p, "not")) {
			p->at++;
			if (!mr_tpl_skip_word(p, "in")) {
				mr_tpl_unexpected(p, "'in'");
				return NULL;
			}
			op = MR_OP_NOT_IN;
		}
		if (!op)
			break;
		value = join(p, MR_TN_BINARY, op, value, binary(p, 2));
	}
	return value;
}

static const struct mr_tpl_node *negation(struct mr_tpl_parser *p)
{
	struct mr_tpl_node *node;

	if (!mr_tpl_is_word(p, "not"))
		return comparison(p);
	if (!mr_tpl_enter(p))
		return NULL;
	node = mr_tpl_node(p, MR_TN_UNARY);
	node->op = MR_OP_NOT;
	p->at++;
	node->a = negation(p);
	p->depth--;
	return node->a && mr_tpl_contains(p, node, node->a) ? node : NULL;
}

static const struct mr_tpl_node *and_also(struct mr_tpl_parser *p)
{
	const struct mr_tpl_node *value = negation(p);

	while (value && mr_tpl_skip_word(p, "and"))
		value = join(p, MR_TN_AND, 0, value, negation(p));
	return value;
}

static const struct mr_tpl_node *or_else(struct mr_tpl_parser *p)
{
	const struct mr_tpl_node *value = and_also(p);

	while (value && mr_tpl_skip_word(p, "or"))
		value = join(p, MR_TN_OR, 0, value, and_also(p));
	return value;
}
