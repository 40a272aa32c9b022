/* text/query.c - Parses a search query into terms, operators and filters. */
#include "text/query.h"

#include "base/str.h"
#include "base/utf8.h"
#include "text/time.h"

#include <string.h>

static const char UNENDED_QUOTE[] = "a quotation mark has no second one";
static const char UNCLOSED[] = "a parenthesis is opened and not closed";
static const char UNOPENED[] = "a parenthesis is closed and was not opened";
static const char TOO_DEEP[] = "too many parentheses stand in each other";
static const char NO_OPERAND[] = "AND, OR, NOT or a column has nothing to stand with";
static const char NO_WORDS[] = "it has no words";

enum token_kind { TERM, COLUMN, FILTER, OPEN, CLOSE, AND, OR, NOT, MINUS, END };

struct token {
	enum token_kind kind;
	size_t index; /* of the term or the filter */
	int column;   /* of COLUMN */
};

struct lexer {
	struct mr_arena *arena;
	const struct mr_query_key *keys;
	int64_t now_us;
	const char *at;
	struct mr_query *query;
	struct token *tokens;
	size_t count;
	bool full; /* no more terms */
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Ends a word, wherever it stands. */
static bool is_border(char c)
{
	return c == '\0' || is_blank(c) || c == '"' || c == '(' || c == ')';
}

/* The next character, however bad the bytes. */
static size_t next_scalar(const char *text, size_t len, uint32_t *out)
{
	size_t n = mr_utf8_next(text, len, out);

	if (n == 0)
		*out = 0xfffd;
	return n ? n : 1;
}

/* Scripts that put no blanks between words: an index by words finds only whole runs of them. */
static bool is_unspaced(uint32_t c)
{
	return (c >= 0x0e00 && c <= 0x0eff) || (c >= 0x1000 && c <= 0x109f) ||
		(c >= 0x1780 && c <= 0x17ff) || (c >= 0x3040 && c <= 0x30ff) ||
		(c >= 0x3400 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
		(c >= 0x20000 && c <= 0x3ffff);
}

static void put_token(struct lexer *lex, enum token_kind kind, size_t index)
{
	lex->tokens[lex->count++] = (struct token){ .kind = kind, .index = index };
}

/* At most `max` bytes, on a character boundary. */
static size_t cut_at(const char *text, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

static void put_term(struct lexer *lex, const char *text, size_t len, bool prefix)
{
	struct mr_query *query = lex->query;
	struct mr_query_term *term = &query->terms[query->term_count];
	uint32_t scalar;

	if (query->term_count == MR_QUERY_TERMS) {
		lex->full = true;
		return;
	}
	len = cut_at(text, len, MR_QUERY_TERM_BYTES);
	*term = (struct mr_query_term){
		.text = mr_arena_strndup(lex->arena, text, len),
		.prefix = prefix,
	};
	for (size_t i = 0; i < len; i += next_scalar(text + i, len - i, &scalar)) {
		next_scalar(text + i, len - i, &scalar);
		term->has_word |= mr_utf8_is_word(scalar);
		term->unspaced |= is_unspaced(scalar);
	}
	put_token(lex, TERM, query->term_count++);
}

static bool refuse(struct lexer *lex, const struct mr_query_key *key, const char *value,
	const char *expected)
{
	lex->query->bad_key = key->key;
	lex->query->bad_value = value;
	lex->query->bad_expected = expected;
	return false;
}

bool mr_query_time(const char *text, bool is_until, int64_t now_us, int64_t *out_us)
{
	struct mr_err ignored;
	int64_t us;

	if (mr_time_parse(text, MR_TIME_LENIENT, &us, &ignored) == MR_OK) {
		if (is_until)
			us += strlen(text) <= strlen("2026-03-11") ? MR_TIME_DAY : 1;
	} else if (mr_time_parse_duration(text, &us, &ignored) == MR_OK) {
		us = now_us - us;
	} else {
		return false;
	}
	*out_us = us;
	return true;
}

static bool take_time(struct lexer *lex, const struct mr_query_key *key, const char *value,
	int64_t *out)
{
	return mr_query_time(value, key->kind == MR_QUERY_UNTIL, lex->now_us, out) ||
		refuse(lex, key, value, "a date, a time or a duration (2026-03-11, 7d)");
}

static void take_name(struct lexer *lex, const char *value, struct mr_query_filter *filter)
{
	const char *at = strchr(value, '@');

	if (at == value) /* @Name, as in a message */
		at = strchr(++value, '@');
	filter->text = mr_str_lower(lex->arena,
		at ? mr_arena_strndup(lex->arena, value, (size_t)(at - value)) : value);
	if (at && at[1])
		filter->place = mr_str_lower(lex->arena, at + 1);
}

static bool take_choice(struct lexer *lex, const struct mr_query_key *key, const char *value,
	struct mr_query_filter *filter)
{
	for (const char *const *word = key->words; *word; word++) {
		if (mr_str_eq_nocase(*word, value)) {
			filter->text = *word;
			return true;
		}
	}
	return refuse(lex, key, value, key->expected);
}

/* False when the value means nothing. */
static bool take_filter(struct lexer *lex, const struct mr_query_key *key, const char *value,
	bool negated)
{
	struct mr_query *query = lex->query;
	struct mr_query_filter filter = { .kind = key->number, .negated = negated };
	bool ok = true;

	switch (key->kind) {
	case MR_QUERY_NAME:
		take_name(lex, value, &filter);
		break;
	case MR_QUERY_COLUMN:
	case MR_QUERY_TEXT:
		filter.text = value;
		break;
	case MR_QUERY_CHOICE:
		ok = take_choice(lex, key, value, &filter);
		break;
	case MR_QUERY_SINCE:
	case MR_QUERY_UNTIL:
		ok = take_time(lex, key, value, &filter.time_us);
		break;
	}
	if (ok && query->filter_count < MR_QUERY_FILTERS) {
		query->filters[query->filter_count] = filter;
		put_token(lex, FILTER, query->filter_count++);
	}
	return ok;
}

static const struct mr_query_key *find_key(const struct lexer *lex, const char *text, size_t len)
{
	for (const struct mr_query_key *key = lex->keys; key && key->key; key++) {
		if (strlen(key->key) == len && strncasecmp(text, key->key, len) == 0)
			return key;
	}
	return NULL;
}

/* The text between quotes at `lex->at`, which goes past them; NULL when they do not end. */
static const char *take_quoted(struct lexer *lex, size_t *len)
{
	const char *text = lex->at + 1;
	const char *end = strchr(text, '"');

	if (!end)
		return NULL;
	*len = (size_t)(end - text);
	lex->at = end + 1;
	return text;
}

/* Spaces only: nothing to look for. */
static bool is_all_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_blank(text[i]))
			return false;
	}
	return true;
}

static void lex_phrase(struct lexer *lex)
{
	size_t len = 0;
	const char *text = take_quoted(lex, &len);

	if (!text) {
		lex->query->problem = UNENDED_QUOTE;
		lex->at++;
		return;
	}
	if (is_all_blank(text, len))
		return;
	put_term(lex, text, len, *lex->at == '*');
	if (*lex->at == '*')
		lex->at++;
}

static size_t word_len(const char *text)
{
	size_t len = 0;

	while (!is_border(text[len]))
		len++;
	return len;
}

/* Does what follows begin an operand, so that the '-' before it means not? */
static bool is_operand(const char *text)
{
	return *text == '"' || *text == '(' || (unsigned char)*text >= 0x80 ||
		(*text >= '0' && *text <= '9') || ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z');
}

/* The value of a filter at `lex->at`, which goes past it. NULL: there is none, and nothing is
 * taken. */
static const char *take_value(struct lexer *lex)
{
	const char *start = lex->at, *value = start;
	size_t len;

	if (*start == '"') {
		value = take_quoted(lex, &len);
		if (!value)
			lex->query->problem = UNENDED_QUOTE;
		if (!value || len == 0) {
			lex->at = start;
			return NULL;
		}
	} else {
		len = word_len(value);
		lex->at += len;
	}
	return mr_arena_strndup(lex->arena, value, cut_at(value, len, MR_QUERY_TERM_BYTES));
}

/* "key:" and something right behind it? `*done` says whether it was taken. False when its value
 * means nothing. */
static bool lex_key(struct lexer *lex, size_t len, bool negated, bool *done)
{
	const char *colon = memchr(lex->at, ':', len);
	const struct mr_query_key *key;
	const char *value;

	*done = false;
	if (!colon || is_blank(colon[1]) || colon[1] == '\0' || colon[1] == ')')
		return true;
	key = find_key(lex, lex->at, (size_t)(colon - lex->at));
	if (!key || (key->kind != MR_QUERY_COLUMN && colon[1] == '('))
		return true;
	lex->at = colon + 1;
	if (key->kind == MR_QUERY_COLUMN) {
		if (negated)
			put_token(lex, MINUS, 0);
		put_token(lex, COLUMN, 0);
		lex->tokens[lex->count - 1].column = key->number;
		*done = true;
		return true;
	}
	value = take_value(lex);
	*done = value != NULL;
	return !value || take_filter(lex, key, value, negated);
}

static bool lex_word(struct lexer *lex)
{
	static const struct {
		const char *word;
		enum token_kind kind;
	} operators[] = { { "AND", AND }, { "OR", OR }, { "NOT", NOT } };
	bool negated = lex->at[0] == '-' && is_operand(lex->at + 1);
	size_t len;
	bool done, ok;

	lex->at += negated;
	len = word_len(lex->at);
	ok = lex_key(lex, len, negated, &done);
	if (!ok || done)
		return ok;
	if (negated)
		put_token(lex, MINUS, 0);
	len = word_len(lex->at); /* an empty filter has moved it */
	for (size_t i = 0; i < MR_LEN(operators); i++) {
		if (strlen(operators[i].word) == len && !negated &&
			memcmp(lex->at, operators[i].word, len) == 0) {
			put_token(lex, operators[i].kind, 0);
			lex->at += len;
			return true;
		}
	}
	if (len > 1 && lex->at[len - 1] == '*')
		put_term(lex, lex->at, len - 1, true);
	else if (len > 0)
		put_term(lex, lex->at, len, false);
	lex->at += len;
	return true;
}

static void lex_all(struct lexer *lex)
{
	bool ok = true;

	while (ok && !lex->full && *lex->at) {
		if (is_blank(*lex->at)) {
			lex->at++;
		} else if (*lex->at == '(' || *lex->at == ')') {
			put_token(lex, *lex->at == '(' ? OPEN : CLOSE, 0);
			lex->at++;
		} else if (*lex->at == '"') {
			lex_phrase(lex);
		} else {
			ok = lex_word(lex);
		}
	}
	put_token(lex, END, 0);
}

/* Recursive descent: or, and, not, operand. */
struct parser {
	struct mr_arena *arena;
	struct mr_query *query;
	const struct token *at;
	bool cut;
	const char *broken; /* why it cannot be understood, or NULL */
	unsigned depth;
	bool negated; /* an odd number of NOTs is around */
	int column;   /* whose filter is around */
};

/* The first reason counts. */
static void break_off(struct parser *p, const char *why)
{
	if (!p->broken)
		p->broken = why;
}

/* Parse functions return NULL for operands without terms (filters, empty parentheses). */
static struct mr_query_node *parse_or(struct parser *p);

static struct mr_query_node *new_node(struct parser *p, enum mr_query_node_kind kind)
{
	struct mr_query_node *node = mr_arena_alloc(p->arena, sizeof(*node));

	node->kind = kind;
	return node;
}

static struct mr_query_node *parse_group(struct parser *p)
{
	struct mr_query_node *node = NULL;

	p->at++;
	if (p->depth == MR_QUERY_DEPTH) {
		p->broken = TOO_DEEP;
		return NULL;
	}
	p->depth++;
	if (p->at->kind != CLOSE)
		node = parse_or(p);
	p->depth--;
	if (p->at->kind == CLOSE)
		p->at++;
	else if (!p->cut)
		break_off(p, UNCLOSED);
	return node;
}

static struct mr_query_node *parse_operand(struct parser *p)
{
	int around = p->column;
	struct mr_query_node *node = NULL;
	struct mr_query_term *term;

	if (p->at->kind == COLUMN) {
		p->column = p->at->column;
		p->at++;
	}
	switch (p->at->kind) {
	case TERM:
		term = &p->query->terms[p->at->index];
		term->column = p->column;
		term->negated = p->negated;
		node = new_node(p, MR_QUERY_TERM);
		node->term = term;
		p->at++;
		break;
	case FILTER:
		if (p->negated)
			p->query->filters[p->at->index].negated ^= true;
		p->at++;
		break;
	case OPEN:
		node = parse_group(p);
		break;
	default:
		if (!p->cut || p->at->kind != END)
			break_off(p, p->at->kind == CLOSE ? UNOPENED : NO_OPERAND);
	}
	p->column = around;
	return node;
}

static struct mr_query_node *parse_not(struct parser *p)
{
	struct mr_query_node *inside, *node;
	bool is_not = false;

	while (p->at->kind == NOT || p->at->kind == MINUS) {
		is_not = !is_not;
		p->at++;
	}
	p->negated ^= is_not;
	inside = parse_operand(p);
	p->negated ^= is_not;
	if (!is_not || !inside)
		return inside;
	/* Not not is nothing: -(-x). */
	if (inside->kind == MR_QUERY_NOT)
		return (struct mr_query_node *)inside->inside;
	node = new_node(p, MR_QUERY_NOT);
	node->inside = inside;
	return node;
}

/* Operands of an AND or an OR, in their order. */
struct operands {
	struct mr_query_node *first, *last;
};

static void add_operand(struct operands *all, enum mr_query_node_kind kind,
	struct mr_query_node *node)
{
	if (!node)
		return;
	/* (a b) c is a b c. */
	if (node->kind == kind)
		node = (struct mr_query_node *)node->inside;
	if (all->last)
		all->last->next = node;
	else
		all->first = node;
	while (node->next)
		node = (struct mr_query_node *)node->next;
	all->last = node;
}

static struct mr_query_node *joined(struct parser *p, const struct operands *all,
	enum mr_query_node_kind kind)
{
	struct mr_query_node *node;

	if (!all->first || !all->first->next)
		return all->first;
	node = new_node(p, kind);
	node->inside = all->first;
	return node;
}

static struct mr_query_node *parse_and(struct parser *p)
{
	struct operands all = { NULL, NULL };

	do {
		add_operand(&all, MR_QUERY_AND, parse_not(p));
		if (p->at->kind == AND) {
			p->at++;
			if (p->at->kind == CLOSE || p->at->kind == OR ||
				(p->at->kind == END && !p->cut))
				break_off(p, NO_OPERAND);
		}
	} while (!p->broken && p->at->kind != CLOSE && p->at->kind != OR && p->at->kind != END);
	return joined(p, &all, MR_QUERY_AND);
}

static struct mr_query_node *parse_or(struct parser *p)
{
	struct operands all = { NULL, NULL };

	add_operand(&all, MR_QUERY_OR, parse_and(p));
	while (!p->broken && p->at->kind == OR) {
		p->at++;
		add_operand(&all, MR_QUERY_OR, parse_and(p));
	}
	return joined(p, &all, MR_QUERY_OR);
}

/* `cut`: there was more than is looked at. */
static const struct mr_query_node *parse(struct lexer *lex, bool cut)
{
	struct parser p = {
		.arena = lex->arena,
		.query = lex->query,
		.at = lex->tokens,
		.cut = cut || lex->full,
		.broken = lex->query->problem,
	};
	const struct mr_query_node *root = NULL;

	if (!p.broken && p.at->kind != END)
		root = parse_or(&p);
	if (!p.broken && p.at->kind == END)
		return root;
	lex->query->problem = p.broken ? p.broken : UNOPENED;
	for (size_t i = 0; i < p.query->term_count; i++) {
		p.query->terms[i].negated = false;
		p.query->terms[i].column = MR_QUERY_ANY_COLUMN;
	}
	return NULL;
}

/* Nothing but AND, OR, NOT: then these are the words. */
static void take_operators(struct lexer *lex)
{
	static const char *const words[] = { [AND] = "AND", [OR] = "OR", [NOT] = "NOT" };
	size_t count = lex->count;

	for (size_t i = 0; i < count; i++) {
		enum token_kind kind = lex->tokens[i].kind;

		if (kind == AND || kind == OR || kind == NOT)
			put_term(lex, words[kind], strlen(words[kind]), false);
	}
}

void mr_query_parse(struct mr_arena *arena, const struct mr_query_key *keys, int64_t now_us,
	const char *text, struct mr_query *out)
{
	size_t len = text ? strlen(text) : 0;
	size_t used = cut_at(text, len, MR_QUERY_BYTES);
	struct lexer lex = { .arena = arena, .keys = keys, .now_us = now_us, .query = out };

	*out = (struct mr_query){ 0 };
	if (len == 0 || is_all_blank(text, len))
		return;
	lex.at = mr_arena_strndup(arena, text, used);
	/* A character is at most a token and the '-' before it, and may come again as a word. */
	lex.tokens = mr_arena_array(arena, 2 * used + 4, sizeof(*lex.tokens));
	out->terms = mr_arena_array(arena, MR_QUERY_TERMS, sizeof(*out->terms));
	out->filters = mr_arena_array(arena, MR_QUERY_FILTERS, sizeof(*out->filters));
	lex_all(&lex);
	if (out->bad_key)
		return;
	out->root = parse(&lex, used < len);
	if (out->term_count == 0 && out->filter_count == 0) {
		if (!out->problem)
			out->problem = NO_WORDS;
		take_operators(&lex);
		/* Only signs: ( ) " and their like. */
		text = mr_str_trim(arena, text);
		if (out->term_count == 0)
			put_term(&lex, text, cut_at(text, strlen(text), MR_QUERY_BYTES), false);
	}
}
