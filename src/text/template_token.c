/* text/template_token.c - what the parsers ask of tokens, refuse and build. */
#include "text/template_private.h"

#include <stdarg.h>
#include <string.h>

const struct mr_tpl_token *mr_tpl_peek(const struct mr_tpl_parser *p)
{
	return &p->tokens[p->at];
}

void mr_tpl_refuse(struct mr_tpl_parser *p, const char *fmt, ...)
{
	va_list ap;
	char *what;

	if (p->code)
		return;
	va_start(ap, fmt);
	what = mr_arena_vprintf(p->arena, fmt, ap);
	va_end(ap);
	p->code = mr_err_set(p->err, MR_EFORMAT, "%s:%u: %s", p->name, mr_tpl_peek(p)->line, what);
}

void mr_tpl_unexpected(struct mr_tpl_parser *p, const char *what)
{
	const struct mr_tpl_token *token = mr_tpl_peek(p);
	int len = token->len < 40 ? (int)token->len : 40;

	switch (token->kind) {
	case MR_TOK_END:
		mr_tpl_refuse(p, "expected %s, found the end of the template", what);
		break;
	case MR_TOK_PRINT_END:
		mr_tpl_refuse(p, "expected %s, found '}}'", what);
		break;
	case MR_TOK_BLOCK_END:
		mr_tpl_refuse(p, "expected %s, found '%%}'", what);
		break;
	case MR_TOK_STRING:
		mr_tpl_refuse(p, "expected %s, found a text in quotes", what);
		break;
	default:
		mr_tpl_refuse(p, "expected %s, found '%.*s'", what, len, token->text);
	}
}

bool mr_tpl_is_op(const struct mr_tpl_parser *p, unsigned op)
{
	return mr_tpl_peek(p)->kind == MR_TOK_OP && mr_tpl_peek(p)->op == op;
}

bool mr_tpl_is_word(const struct mr_tpl_parser *p, const char *word)
{
	const struct mr_tpl_token *token = mr_tpl_peek(p);

	return token->kind == MR_TOK_NAME && token->len == strlen(word) &&
		memcmp(token->text, word, token->len) == 0;
}

bool mr_tpl_skip_op(struct mr_tpl_parser *p, unsigned op)
{
	bool found = mr_tpl_is_op(p, op);

	p->at += found;
	return found;
}

bool mr_tpl_skip_word(struct mr_tpl_parser *p, const char *word)
{
	bool found = mr_tpl_is_word(p, word);

	p->at += found;
	return found;
}

bool mr_tpl_want_op(struct mr_tpl_parser *p, unsigned op)
{
	char what[] = { '\'', (char)op, '\'', '\0' };

	if (mr_tpl_skip_op(p, op))
		return true;
	mr_tpl_unexpected(p, what);
	return false;
}

const char *mr_tpl_want_name(struct mr_tpl_parser *p)
{
	const struct mr_tpl_token *token = mr_tpl_peek(p);

	if (token->kind != MR_TOK_NAME) {
		mr_tpl_unexpected(p, "a name");
		return NULL;
	}
	p->at++;
	return mr_arena_strndup(p->arena, token->text, token->len);
}

struct mr_tpl_node *mr_tpl_node(struct mr_tpl_parser *p, enum mr_tpl_node_kind kind)
{
	struct mr_tpl_node *node = mr_arena_alloc(p->arena, sizeof(*node));

	node->kind = kind;
	node->line = mr_tpl_peek(p)->line;
	node->height = 1;
	return node;
}

bool mr_tpl_contains(struct mr_tpl_parser *p, struct mr_tpl_node *node,
	const struct mr_tpl_node *child)
{
	if (child && child->height >= node->height)
		node->height = child->height + 1;
	if (node->height > MR_TEMPLATE_HEIGHT && !p->code)
		p->code = mr_err_set(p->err, MR_ELIMIT, "%s:%u: nested more than %d deep", p->name,
			node->line, MR_TEMPLATE_HEIGHT);
	return !p->code;
}

void mr_tpl_append(struct mr_tpl_parser *p, struct mr_tpl_nodes *nodes, size_t *cap,
	const struct mr_tpl_node *node)
{
	if (nodes->len == *cap) {
		size_t more = *cap ? *cap * 2 : 4;
		const struct mr_tpl_node **items = mr_arena_array(p->arena, more, sizeof(*items));

		if (nodes->len)
			memcpy(items, nodes->items, nodes->len * sizeof(*items));
		nodes->items = items;
		*cap = more;
	}
	nodes->items[nodes->len++] = node;
}

bool mr_tpl_enter(struct mr_tpl_parser *p)
{
	if (++p->depth <= MR_TEMPLATE_HEIGHT)
		return true;
	if (!p->code)
		p->code = mr_err_set(p->err, MR_ELIMIT, "%s:%u: nested more than %d deep", p->name,
			mr_tpl_peek(p)->line, MR_TEMPLATE_HEIGHT);
	return false;
}
