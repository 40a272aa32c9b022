/* text/template_operand.c - tokens to a tree: values, and what stands directly after them. */
#include "text/template_private.h"

#include <string.h>

/* Arguments up to the closing parenthesis; the opening one is read. */
static bool arguments(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	size_t cap = 0, keys_cap = 0;

	while (!mr_tpl_is_op(p, ')')) {
		const char *key = NULL;
		const struct mr_tpl_node *value;

		if (mr_tpl_peek(p)->kind == MR_TOK_NAME && p->tokens[p->at + 1].kind == MR_TOK_OP &&
			p->tokens[p->at + 1].op == '=') {
			key = mr_tpl_want_name(p);
			p->at++;
		} else if (node->list.len && node->keys[node->list.len - 1]) {
			mr_tpl_refuse(p, "an argument without a name follows one with a name");
			return false;
		}
		value = mr_tpl_expression(p);
		if (!value || !mr_tpl_contains(p, node, value))
			return false;
		if (node->list.len == keys_cap) {
			size_t more = keys_cap ? keys_cap * 2 : 4;
			const char **keys = mr_arena_array(p->arena, more, sizeof(*keys));

			if (keys_cap)
				memcpy(keys, node->keys, keys_cap * sizeof(*keys));
			node->keys = keys;
			keys_cap = more;
		}
		node->keys[node->list.len] = key;
		mr_tpl_append(p, &node->list, &cap, value);
		if (!mr_tpl_skip_op(p, ','))
			break;
	}
	return mr_tpl_want_op(p, ')');
}

/* A list up to `close`; the opening bracket is read. `first` may be there already. */
static const struct mr_tpl_node *list_of(struct mr_tpl_parser *p, const struct mr_tpl_node *first,
	unsigned close)
{
	struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_LIST);
	size_t cap = 0;

	if (first) {
		mr_tpl_append(p, &node->list, &cap, first);
		if (!mr_tpl_contains(p, node, first))
			return NULL;
	}
	while (!mr_tpl_is_op(p, close)) {
		const struct mr_tpl_node *item = mr_tpl_expression(p);

		if (!item || !mr_tpl_contains(p, node, item))
			return NULL;
		mr_tpl_append(p, &node->list, &cap, item);
		if (!mr_tpl_skip_op(p, ','))
			break;
	}
	return mr_tpl_want_op(p, close) ? node : NULL;
}

static const struct mr_tpl_node *map_of(struct mr_tpl_parser *p)
{
	struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_MAP);
	size_t cap = 0;

	while (!mr_tpl_is_op(p, '}')) {
		for (int i = 0; i < 2; i++) {
			const struct mr_tpl_node *item;

			if (i && !mr_tpl_want_op(p, ':'))
				return NULL;
			item = mr_tpl_expression(p);
			if (!item || !mr_tpl_contains(p, node, item))
				return NULL;
			mr_tpl_append(p, &node->list, &cap, item);
		}
		if (!mr_tpl_skip_op(p, ','))
			break;
	}
	return mr_tpl_want_op(p, '}') ? node : NULL;
}

static const struct mr_tpl_node *constant(struct mr_tpl_parser *p, struct mr_tpl_value value)
{
	struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_CONST);

	node->value = value;
	p->at++;
	return node;
}

static const struct mr_tpl_node *name_or_word(struct mr_tpl_parser *p)
{
	static const struct {
		const char *lower, *upper;
		struct mr_tpl_value value;
	} words[] = {
		{ "true", "True", { .kind = MR_TV_BOOL, .boolean = true } },
		{ "false", "False", { .kind = MR_TV_BOOL } },
		{ "none", "None", { .kind = MR_TV_NONE } },
	};
	struct mr_tpl_node *node;

	for (size_t i = 0; i < MR_LEN(words); i++)
		if (mr_tpl_is_word(p, words[i].lower) || mr_tpl_is_word(p, words[i].upper))
			return constant(p, words[i].value);
	if (mr_tpl_is_word(p, "not") || mr_tpl_is_word(p, "in") || mr_tpl_is_word(p, "is") ||
		mr_tpl_is_word(p, "and") || mr_tpl_is_word(p, "or") || mr_tpl_is_word(p, "if") ||
		mr_tpl_is_word(p, "else")) {
		mr_tpl_unexpected(p, "a value");
		return NULL;
	}
	node = mr_tpl_node(p, MR_TN_NAME);
	node->name = mr_tpl_want_name(p);
	return node;
}

static const struct mr_tpl_node *string_constant(struct mr_tpl_parser *p)
{
	struct mr_buf all MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_tpl_token *token = mr_tpl_peek(p);
	struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_CONST);

	mr_buf_init(&all, MR_TEMPLATE_SOURCE_BYTES);
	for (; token->kind == MR_TOK_STRING; token = mr_tpl_peek(p)) { /* "a" "b" is "ab" */
		mr_buf_add(&all, token->text, token->len);
		p->at++;
	}
	node->value = mr_tpl_text(mr_arena_strndup(p->arena, mr_buf_text(&all), all.len), all.len);
	return node;
}

static const struct mr_tpl_node *primary(struct mr_tpl_parser *p)
{
	const struct mr_tpl_token *token = mr_tpl_peek(p);
	const struct mr_tpl_node *node;

	switch (token->kind) {
	case MR_TOK_NAME:
		return name_or_word(p);
	case MR_TOK_STRING:
		return string_constant(p);
	case MR_TOK_INT:
		return constant(p, mr_tpl_int(token->integer));
	case MR_TOK_FLOAT:
		return constant(p, mr_tpl_real(token->real));
	default:
		break;
	}
	if (mr_tpl_skip_op(p, '[')) {
		return list_of(p, NULL, ']');
	} else if (mr_tpl_skip_op(p, '{')) {
		return map_of(p);
	} else if (mr_tpl_skip_op(p, '(')) {
		if (mr_tpl_is_op(p, ')'))
			return list_of(p, NULL, ')');
		node = mr_tpl_expression(p);
		if (node && mr_tpl_skip_op(p, ','))
			return list_of(p, node, ')');
		return node && mr_tpl_want_op(p, ')') ? node : NULL;
	}
	mr_tpl_unexpected(p, "a value");
	return NULL;
}

/* Inside of brackets: an index or a slice. */
static bool subscript(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	const struct mr_tpl_node **slots[] = { &node->b, &node->c, &node->d };
	size_t at = 0;

	node->kind = MR_TN_INDEX;
	for (;;) {
		if (!mr_tpl_is_op(p, ':') && !mr_tpl_is_op(p, ']')) {
			*slots[at] = mr_tpl_expression(p);
			if (!*slots[at] || !mr_tpl_contains(p, node, *slots[at]))
				return false;
		}
		if (at == 2 || !mr_tpl_skip_op(p, ':'))
			break;
		node->kind = MR_TN_SLICE;
		at++;
	}
	if (node->kind == MR_TN_INDEX && !node->b) {
		mr_tpl_unexpected(p, "an index");
		return false;
	}
	return mr_tpl_want_op(p, ']');
}

/* ".name", "[...]" and "(...)" after a value. */
static const struct mr_tpl_node *postfix(struct mr_tpl_parser *p, const struct mr_tpl_node *value)
{
	while (value && (mr_tpl_is_op(p, '.') || mr_tpl_is_op(p, '[') || mr_tpl_is_op(p, '('))) {
		struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_CALL);
		bool is_good;

		node->a = value;
		if (mr_tpl_skip_op(p, '[')) {
			is_good = subscript(p, node);
		} else if (mr_tpl_skip_op(p, '(')) {
			is_good = arguments(p, node);
		} else {
			p->at++;
			if (mr_tpl_peek(p)->kind == MR_TOK_INT) {
				node->kind = MR_TN_INDEX;
				node->b = primary(p);
				is_good = node->b;
			} else {
				node->kind = MR_TN_MEMBER;
				node->name = mr_tpl_want_name(p);
				node->len = node->name ? strlen(node->name) : 0;
				is_good = node->name;
			}
		}
		value = is_good && mr_tpl_contains(p, node, value) ? node : NULL;
	}
	return value;
}

const struct mr_tpl_node *mr_tpl_filters(struct mr_tpl_parser *p, const struct mr_tpl_node *value,
	bool first)
{
	while (value && (first || mr_tpl_skip_op(p, '|'))) {
		struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_FILTER);
		const char *name = mr_tpl_want_name(p), *near;

		first = false;
		if (!name)
			return NULL;
		node->filter = mr_tpl_filter(name, strlen(name));
		if (!node->filter) {
			near = mr_tpl_filter_like(name);
			mr_tpl_refuse(p, "there is no filter '%s'%s%s%s", name,
				near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
			return NULL;
		}
		node->a = value;
		if (mr_tpl_skip_op(p, '(') && !arguments(p, node))
			return NULL;
		value = mr_tpl_contains(p, node, value) ? node : NULL;
	}
	return value;
}

static bool begins_value(const struct mr_tpl_parser *p)
{
	const struct mr_tpl_token *token = mr_tpl_peek(p);

	if (token->kind == MR_TOK_NAME)
		return !mr_tpl_is_word(p, "and") && !mr_tpl_is_word(p, "or") &&
			!mr_tpl_is_word(p, "else") && !mr_tpl_is_word(p, "is") &&
			!mr_tpl_is_word(p, "in") && !mr_tpl_is_word(p, "not") &&
			!mr_tpl_is_word(p, "if") && !mr_tpl_is_word(p, "recursive");
	return token->kind == MR_TOK_STRING || token->kind == MR_TOK_INT ||
		token->kind == MR_TOK_FLOAT ||
		(token->kind == MR_TOK_OP && (token->op == '[' || token->op == '{'));
}

/* "is not NAME(args)" or "is NAME arg"; "is" is read. */
static const struct mr_tpl_node *test_of(struct mr_tpl_parser *p, const struct mr_tpl_node *value)
{
	struct mr_tpl_node *node = mr_tpl_node(p, MR_TN_TEST);
	const char *name, *near;

	node->flag = mr_tpl_skip_word(p, "not");
	name = mr_tpl_want_name(p);
	if (!name)
		return NULL;
	node->filter = mr_tpl_is(name, strlen(name));
	if (!node->filter) {
		near = mr_tpl_is_like(name);
		mr_tpl_refuse(p, "there is no test '%s'%s%s%s", name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
		return NULL;
	}
	node->a = value;
	if (mr_tpl_skip_op(p, '(')) {
		if (!arguments(p, node))
			return NULL;
	} else if (node->filter->max && begins_value(p)) {
		const struct mr_tpl_node *arg = postfix(p, primary(p));
		size_t cap = 0;

		if (!arg || !mr_tpl_contains(p, node, arg))
			return NULL;
		mr_tpl_append(p, &node->list, &cap, arg);
		node->keys = mr_arena_array(p->arena, 1, sizeof(*node->keys));
	}
	return mr_tpl_contains(p, node, value) ? node : NULL;
}

const struct mr_tpl_node *mr_tpl_filtered(struct mr_tpl_parser *p, const struct mr_tpl_node *value)
{
	while (value) {
		if (mr_tpl_is_op(p, '|'))
			value = mr_tpl_filters(p, value, false);
		else if (mr_tpl_skip_word(p, "is"))
			value = test_of(p, value);
		else if (mr_tpl_is_op(p, '.') || mr_tpl_is_op(p, '[') || mr_tpl_is_op(p, '('))
			value = postfix(p, value);
		else
			break;
	}
	return value;
}

const struct mr_tpl_node *mr_tpl_operand(struct mr_tpl_parser *p)
{
	return postfix(p, primary(p));
}
