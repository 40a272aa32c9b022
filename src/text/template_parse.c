/* text/template_parse.c - tokens to a tree: the statements. */
#include "text/template_private.h"

#include <string.h>

static void add_name(struct mr_tpl_parser *p, struct mr_texts *names, const char *name)
{
	const char **items = mr_arena_array(p->arena, names->len + 2, sizeof(*items));

	if (names->len)
		memcpy(items, names->items, names->len * sizeof(*items));
	items[names->len++] = name;
	names->items = items;
}

static bool end_tag(struct mr_tpl_parser *p)
{
	if (mr_tpl_peek(p)->kind == MR_TOK_BLOCK_END) {
		p->at++;
		return true;
	}
	mr_tpl_unexpected(p, "'%}'");
	return false;
}

/* "a, b" or "(a, b)". */
static bool targets(struct mr_tpl_parser *p, struct mr_texts *out)
{
	bool is_open = mr_tpl_skip_op(p, '(');

	do {
		const char *name = mr_tpl_want_name(p);

		if (!name)
			return false;
		add_name(p, out, name);
	} while (mr_tpl_skip_op(p, ','));
	return !is_open || mr_tpl_want_op(p, ')');
}

static bool own(struct mr_tpl_parser *p, struct mr_tpl_node *node, const struct mr_tpl_node **slot,
	const struct mr_tpl_node *child)
{
	*slot = child;
	return child && mr_tpl_contains(p, node, child);
}

static bool body(struct mr_tpl_parser *p, struct mr_tpl_node *node, const char *end)
{
	const char *ends[] = { end, NULL };

	return end_tag(p) && mr_tpl_body(p, ends, node, &node->body) && mr_tpl_skip_word(p, end);
}

static bool parse_if(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	static const char *const ends[] = { "elif", "else", "endif", NULL };
	static const char *const last[] = { "endif", NULL };

	if (!own(p, node, &node->a, mr_tpl_expression(p)) || !end_tag(p) ||
		!mr_tpl_body(p, ends, node, &node->body))
		return false;
	if (mr_tpl_is_word(p, "elif")) {
		struct mr_tpl_node *inner = mr_tpl_node(p, MR_TN_IF);
		size_t cap = 0;

		p->at++;
		if (!parse_if(p, inner) || !mr_tpl_contains(p, node, inner))
			return false;
		mr_tpl_append(p, &node->other, &cap, inner);
		return true;
	}
	if (mr_tpl_skip_word(p, "else") &&
		(!end_tag(p) || !mr_tpl_body(p, last, node, &node->other)))
		return false;
	p->at++; /* endif */
	return true;
}

static bool parse_for(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	static const char *const ends[] = { "else", "endfor", NULL };
	static const char *const last[] = { "endfor", NULL };

	if (!targets(p, &node->names))
		return false;
	if (!mr_tpl_skip_word(p, "in")) {
		mr_tpl_unexpected(p, "'in'");
		return false;
	}
	if (!own(p, node, &node->a, mr_tpl_expression_plain(p)))
		return false;
	if (mr_tpl_skip_word(p, "if") && !own(p, node, &node->b, mr_tpl_expression(p)))
		return false;
	node->flag = mr_tpl_skip_word(p, "recursive");
	if (!end_tag(p) || !mr_tpl_body(p, ends, node, &node->body))
		return false;
	if (mr_tpl_skip_word(p, "else") &&
		(!end_tag(p) || !mr_tpl_body(p, last, node, &node->other)))
		return false;
	p->at++; /* endfor */
	return true;
}

static bool parse_set(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	if (!targets(p, &node->names))
		return false;
	node->name = node->names.items[0];
	if (node->names.len == 1 && mr_tpl_skip_op(p, '.')) {
		const char *member = mr_tpl_want_name(p);

		if (!member)
			return false;
		node->kind = MR_TN_SET_MEMBER;
		node->names.items[0] = member;
	} else if (node->names.len == 1 && !mr_tpl_is_op(p, '=')) {
		const struct mr_tpl_node *input = mr_tpl_node(p, MR_TN_CAPTURED);

		node->kind = MR_TN_SET_BLOCK;
		return own(p, node, &node->a, mr_tpl_filters(p, input, false)) &&
			body(p, node, "endset");
	}
	if (!mr_tpl_want_op(p, '=') || !own(p, node, &node->a, mr_tpl_expression(p)))
		return false;
	if (mr_tpl_is_op(p, ',')) { /* a, b without parentheses */
		struct mr_tpl_node *list = mr_tpl_node(p, MR_TN_LIST);
		size_t cap = 0;

		mr_tpl_append(p, &list->list, &cap, node->a);
		mr_tpl_contains(p, list, node->a);
		while (mr_tpl_skip_op(p, ',')) {
			const struct mr_tpl_node *item = mr_tpl_expression(p);

			if (!item || !mr_tpl_contains(p, list, item))
				return false;
			mr_tpl_append(p, &list->list, &cap, item);
		}
		return own(p, node, &node->a, list);
	}
	return true;
}

static bool parse_with(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	size_t cap = 0;

	while (mr_tpl_peek(p)->kind != MR_TOK_BLOCK_END) {
		const char *name = mr_tpl_want_name(p);
		const struct mr_tpl_node *value;

		if (!name || !mr_tpl_want_op(p, '='))
			return false;
		value = mr_tpl_expression(p);
		if (!value || !mr_tpl_contains(p, node, value))
			return false;
		add_name(p, &node->names, name);
		mr_tpl_append(p, &node->list, &cap, value);
		if (!mr_tpl_skip_op(p, ','))
			break;
	}
	return body(p, node, "endwith");
}

/* "(a, b=1)" of a macro or of a call block's caller. */
static bool parameters(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	size_t cap = 0;

	if (!mr_tpl_want_op(p, '('))
		return false;
	while (!mr_tpl_is_op(p, ')')) {
		const char *name = mr_tpl_want_name(p);
		const struct mr_tpl_node *fallback = NULL;

		if (!name)
			return false;
		if (mr_tpl_skip_op(p, '=')) {
			fallback = mr_tpl_expression(p);
			if (!fallback || !mr_tpl_contains(p, node, fallback))
				return false;
		}
		add_name(p, &node->names, name);
		mr_tpl_append(p, &node->list, &cap, fallback);
		if (!mr_tpl_skip_op(p, ','))
			break;
	}
	return mr_tpl_want_op(p, ')');
}

static bool parse_macro(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	node->name = mr_tpl_want_name(p);
	return node->name && parameters(p, node) && body(p, node, "endmacro");
}

static bool parse_call(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	struct mr_tpl_node *caller = mr_tpl_node(p, MR_TN_MACRO);

	caller->name = "caller";
	if (mr_tpl_is_op(p, '(') && !parameters(p, caller))
		return false;
	if (!own(p, node, &node->a, mr_tpl_expression(p)))
		return false;
	if (node->a->kind != MR_TN_CALL) {
		mr_tpl_refuse(p, "a call block needs the call of a macro");
		return false;
	}
	return body(p, caller, "endcall") && own(p, node, &node->b, caller);
}

static bool parse_filter(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	const struct mr_tpl_node *input = mr_tpl_node(p, MR_TN_CAPTURED);

	return own(p, node, &node->a, mr_tpl_filters(p, input, true)) && body(p, node, "endfilter");
}

static bool parse_block(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	node->name = mr_tpl_want_name(p);
	if (!node->name)
		return false;
	for (size_t i = 0; i < p->blocks.len; i++)
		if (mr_str_eq(p->blocks.items[i]->name, node->name)) {
			mr_tpl_refuse(p, "there are two blocks '%s'", node->name);
			return false;
		}
	mr_tpl_append(p, &p->blocks, &p->blocks_cap, node);
	if (!body(p, node, "endblock"))
		return false;
	mr_tpl_skip_word(p, node->name); /* {% endblock NAME %} */
	return true;
}

static bool parse_autoescape(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	return own(p, node, &node->a, mr_tpl_expression(p)) && body(p, node, "endautoescape");
}

/* "with context", "without context": they make no difference here. */
static void skip_context(struct mr_tpl_parser *p)
{
	if (mr_tpl_is_word(p, "with") || mr_tpl_is_word(p, "without")) {
		p->at++;
		mr_tpl_skip_word(p, "context");
	}
}

static bool parse_include(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	if (!own(p, node, &node->a, mr_tpl_expression(p)))
		return false;
	if (mr_tpl_skip_word(p, "ignore")) {
		if (!mr_tpl_skip_word(p, "missing")) {
			mr_tpl_unexpected(p, "'missing'");
			return false;
		}
		node->flag = true;
	}
	skip_context(p);
	return true;
}

static bool parse_import(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	if (!own(p, node, &node->a, mr_tpl_expression(p)))
		return false;
	if (!mr_tpl_skip_word(p, "as")) {
		mr_tpl_unexpected(p, "'as'");
		return false;
	}
	node->name = mr_tpl_want_name(p);
	skip_context(p);
	return node->name;
}

static bool parse_from(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	if (!own(p, node, &node->a, mr_tpl_expression(p)))
		return false;
	if (!mr_tpl_skip_word(p, "import")) {
		mr_tpl_unexpected(p, "'import'");
		return false;
	}
	do {
		const char *name = mr_tpl_want_name(p), *alias = name;

		if (name && mr_tpl_skip_word(p, "as"))
			alias = mr_tpl_want_name(p);
		if (!alias)
			return false;
		add_name(p, &node->names, name);
		add_name(p, &node->aliases, alias);
	} while (mr_tpl_skip_op(p, ','));
	skip_context(p);
	return true;
}

static bool parse_one(struct mr_tpl_parser *p, struct mr_tpl_node *node)
{
	return own(p, node, &node->a, mr_tpl_expression(p));
}

static const struct {
	const char *word;
	enum mr_tpl_node_kind kind;
	bool (*parse)(struct mr_tpl_parser *p, struct mr_tpl_node *node);
} statements[] = {
	{ "if", MR_TN_IF, parse_if },
	{ "for", MR_TN_FOR, parse_for },
	{ "set", MR_TN_SET, parse_set },
	{ "with", MR_TN_WITH, parse_with },
	{ "macro", MR_TN_MACRO, parse_macro },
	{ "call", MR_TN_CALL_BLOCK, parse_call },
	{ "filter", MR_TN_FILTER_BLOCK, parse_filter },
	{ "block", MR_TN_BLOCK, parse_block },
	{ "autoescape", MR_TN_AUTOESCAPE, parse_autoescape },
	{ "include", MR_TN_INCLUDE, parse_include },
	{ "import", MR_TN_IMPORT, parse_import },
	{ "from", MR_TN_FROM, parse_from },
	{ "extends", MR_TN_EXTENDS, parse_one },
	{ "do", MR_TN_DO, parse_one },
};

static const struct mr_tpl_node *statement(struct mr_tpl_parser *p)
{
	for (size_t i = 0; i < MR_LEN(statements); i++)
		if (mr_tpl_is_word(p, statements[i].word)) {
			struct mr_tpl_node *node = mr_tpl_node(p, statements[i].kind);

			p->at++;
			return statements[i].parse(p, node) && end_tag(p) ? node : NULL;
		}
	mr_tpl_unexpected(p, "a statement");
	return NULL;
}

static const struct mr_tpl_node *piece(struct mr_tpl_parser *p)
{
	const struct mr_tpl_token *token = mr_tpl_peek(p);
	struct mr_tpl_node *node;

	p->at++;
	if (token->kind == MR_TOK_BLOCK)
		return statement(p);
	p->at--;
	node = mr_tpl_node(p, token->kind == MR_TOK_TEXT ? MR_TN_TEXT : MR_TN_PRINT);
	p->at++;
	if (token->kind == MR_TOK_TEXT) {
		node->name = token->text;
		node->len = token->len;
		return node;
	}
	if (!own(p, node, &node->a, mr_tpl_expression(p)))
		return NULL;
	if (mr_tpl_peek(p)->kind != MR_TOK_PRINT_END) {
		mr_tpl_unexpected(p, "'}}'");
		return NULL;
	}
	p->at++;
	return node;
}

static const char *last_of(const char *const *words)
{
	while (words[1])
		words++;
	return *words;
}

/* Pieces up to "{% END", of which END is then the next token; `owner` NULL: to the end. */
bool mr_tpl_body(struct mr_tpl_parser *p, const char *const *ends, struct mr_tpl_node *owner,
	struct mr_tpl_nodes *out)
{
	size_t cap = 0;

	if (++p->depth > MR_TEMPLATE_HEIGHT) {
		p->code = p->code ? p->code
				  : mr_err_set(p->err, MR_ELIMIT, "%s:%u: nested more than %d deep",
					    p->name, mr_tpl_peek(p)->line, MR_TEMPLATE_HEIGHT);
		return false;
	}
	for (;;) {
		const struct mr_tpl_node *node;

		if (mr_tpl_peek(p)->kind == MR_TOK_END) {
			if (owner)
				mr_tpl_refuse(p, "the statement of line %u has no '%s'",
					owner->line, last_of(ends));
			break;
		}
		if (mr_tpl_peek(p)->kind == MR_TOK_BLOCK) {
			p->at++;
			for (const char *const *end = ends; end && *end; end++)
				if (mr_tpl_is_word(p, *end)) {
					p->depth--;
					return true;
				}
			p->at--;
		}
		node = piece(p);
		if (!node || (owner && !mr_tpl_contains(p, owner, node)))
			return false;
		mr_tpl_append(p, out, &cap, node);
	}
	p->depth--;
	return !p->code;
}
