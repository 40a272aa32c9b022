/* team/search_query.c - Parses a search query into terms, operators and filters. */
#include "team/search_query.h"

#include "base/utf8.h"
#include "team/error.h"
#include "team/limits.h"
#include "text/time.h"

#include <string.h>

enum token_kind { TERM, COLUMN, FILTER, OPEN, CLOSE, AND, OR, NOT, MINUS, END };

struct token {
	enum token_kind kind;
	size_t index;               /* of the term or the filter */
	enum mr_team_column column; /* of COLUMN */
};

struct lexer {
	struct mr_ctx *cx;
	const char *at;
	struct mr_team_query *query;
	struct token *tokens;
	size_t count;
	bool full;   /* no more terms */
	bool broken; /* a quote does not end */
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
	struct mr_team_query *query = lex->query;
	struct mr_team_term *term = &query->terms[query->term_count];
	uint32_t scalar;

	if (query->term_count == MR_TEAM_QUERY_TERMS) {
		lex->full = true;
		return;
	}
	len = cut_at(text, len, MR_TEAM_QUERY_TERM_BYTES);
	*term = (struct mr_team_term){
		.text = mr_arena_strndup(lex->cx->arena, text, len),
		.prefix = prefix,
	};
	for (size_t i = 0; i < len; i += next_scalar(text + i, len - i, &scalar)) {
		next_scalar(text + i, len - i, &scalar);
		term->has_word |= mr_utf8_is_word(scalar);
		term->unspaced |= is_unspaced(scalar);
	}
	put_token(lex, TERM, query->term_count++);
}

static enum mr_code refuse(struct lexer *lex, const char *key, const char *value, const char *what)
{
	mr_team_fail(lex->cx, MR_TEAM_SEARCH_SYNTAX,
		"the filter %s:%.64s makes no sense: %s; to look for these words, put them in "
		"quotes",
		key, value, what);
	mr_team_fail_text(lex->cx, "filter", key);
	return mr_team_fail_text(lex->cx, "value", value);
}

/* A time, or how long ago: 7d. A date alone is its whole day: until: ends with it. */
static enum mr_code take_time(struct lexer *lex, const char *key, const char *value, bool until,
	int64_t *out)
{
	struct mr_err ignored;
	int64_t ago;

	if (mr_time_parse(value, MR_TIME_LENIENT, out, &ignored) == MR_OK) {
		if (until)
			*out += strlen(value) <= strlen("2026-03-11") ? MR_TIME_DAY : 1;
		return MR_OK;
	}
	if (mr_time_parse_duration(value, &ago, &ignored) == MR_OK) {
		*out = mr_clock_wall_us(lex->cx->clock) - ago;
		return MR_OK;
	}
	return refuse(lex, key, value, "expected a date, a time or a duration (2026-03-11, 7d)");
}

static void take_name(struct lexer *lex, const char *value, struct mr_team_filter *filter)
{
	const char *at = strchr(value, '@');

	if (at == value) /* @Name, as in a message */
		at = strchr(++value, '@');
	filter->text = mr_str_lower(lex->cx->arena,
		at ? mr_arena_strndup(lex->cx->arena, value, (size_t)(at - value)) : value);
	if (at && at[1])
		filter->project = mr_str_lower(lex->cx->arena, at + 1);
}

static const struct {
	const char *key;
	enum mr_team_filter_kind kind;
	const char *word; /* the only value there is, or NULL */
	const char *words;
} filter_keys[] = {
	{ "from", MR_TEAM_FILTER_FROM, NULL, NULL },
	{ "to", MR_TEAM_FILTER_TO, NULL, NULL },
	{ "thread", MR_TEAM_FILTER_THREAD, NULL, NULL },
	{ "importance", MR_TEAM_FILTER_IMPORTANCE, NULL, NULL },
	{ "since", MR_TEAM_FILTER_SINCE, NULL, NULL },
	{ "until", MR_TEAM_FILTER_UNTIL, NULL, NULL },
	{ "has", MR_TEAM_FILTER_ATTACHMENT, "attachment", "attachments" },
	{ "is", MR_TEAM_FILTER_UNREAD, "unread", "unread" },
	{ "ack", MR_TEAM_FILTER_ACK, "pending", "pending" },
};

static enum mr_code take_filter(struct lexer *lex, size_t which, const char *value, bool negated)
{
	struct mr_team_query *query = lex->query;
	const char *key = filter_keys[which].key, *word = filter_keys[which].word;
	struct mr_team_filter filter = { .kind = filter_keys[which].kind, .negated = negated };
	enum mr_code rc = MR_OK;

	switch (filter.kind) {
	case MR_TEAM_FILTER_FROM:
	case MR_TEAM_FILTER_TO:
		take_name(lex, value, &filter);
		break;
	case MR_TEAM_FILTER_THREAD:
		filter.text = value;
		break;
	case MR_TEAM_FILTER_IMPORTANCE:
		if (!mr_team_importance_of(value, &filter.importance))
			rc = refuse(lex, key, value, "expected low, normal, high or urgent");
		break;
	case MR_TEAM_FILTER_SINCE:
	case MR_TEAM_FILTER_UNTIL:
		rc = take_time(lex, key, value, filter.kind == MR_TEAM_FILTER_UNTIL,
			&filter.time_us);
		break;
	case MR_TEAM_FILTER_ATTACHMENT:
	case MR_TEAM_FILTER_UNREAD:
	case MR_TEAM_FILTER_ACK:
		if (!mr_str_eq_nocase(value, word) &&
			!mr_str_eq_nocase(value, filter_keys[which].words))
			rc = refuse(lex, key, value,
				mr_arena_printf(lex->cx->arena, "expected %s", word));
		break;
	}
	if (!rc && query->filter_count < MR_TEAM_QUERY_FILTERS) {
		query->filters[query->filter_count] = filter;
		put_token(lex, FILTER, query->filter_count++);
	}
	return rc;
}

static bool is_key(const char *text, size_t len, const char *key)
{
	return strlen(key) == len && strncasecmp(text, key, len) == 0;
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
		lex->broken = true;
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

/* "key:" and something right behind it? `*done` says whether it was taken. */
static enum mr_code lex_key(struct lexer *lex, size_t len, bool negated, bool *done)
{
	const char *colon = memchr(lex->at, ':', len);
	size_t key_len = colon ? (size_t)(colon - lex->at) : 0;
	const char *value;

	*done = false;
	if (!colon || is_blank(colon[1]) || colon[1] == '\0' || colon[1] == ')')
		return MR_OK;
	for (size_t i = 0; i < 3; i++) {
		static const char *const columns[] = { "subject", "body", "body_md" };

		if (is_key(lex->at, key_len, columns[i])) {
			if (negated)
				put_token(lex, MINUS, 0);
			put_token(lex, COLUMN, 0);
			lex->tokens[lex->count - 1].column = i ? MR_TEAM_BODY : MR_TEAM_SUBJECT;
			lex->at = colon + 1;
			*done = true;
			return MR_OK;
		}
	}
	for (size_t i = 0; i < MR_LEN(filter_keys); i++) {
		if (!is_key(lex->at, key_len, filter_keys[i].key) || colon[1] == '(')
			continue;
		lex->at = colon + 1;
		if (*lex->at == '"') {
			value = take_quoted(lex, &len);
			if (!value || len == 0) {
				lex->broken |= !value;
				lex->at = colon + 1;
				return MR_OK;
			}
		} else {
			value = lex->at;
			len = word_len(value);
			lex->at += len;
		}
		*done = true;
		return take_filter(lex, i,
			mr_arena_strndup(lex->cx->arena, value,
				cut_at(value, len, MR_TEAM_QUERY_TERM_BYTES)),
			negated);
	}
	return MR_OK;
}

static enum mr_code lex_word(struct lexer *lex)
{
	static const struct {
		const char *word;
		enum token_kind kind;
	} operators[] = { { "AND", AND }, { "OR", OR }, { "NOT", NOT } };
	bool negated = lex->at[0] == '-' && is_operand(lex->at + 1);
	size_t len;
	bool done;
	enum mr_code rc;

	lex->at += negated;
	len = word_len(lex->at);
	rc = lex_key(lex, len, negated, &done);
	if (rc || done)
		return rc;
	if (negated)
		put_token(lex, MINUS, 0);
	len = word_len(lex->at); /* an empty filter has moved it */
	for (size_t i = 0; i < MR_LEN(operators); i++) {
		if (strlen(operators[i].word) == len && !negated &&
			memcmp(lex->at, operators[i].word, len) == 0) {
			put_token(lex, operators[i].kind, 0);
			lex->at += len;
			return MR_OK;
		}
	}
	if (len > 1 && lex->at[len - 1] == '*')
		put_term(lex, lex->at, len - 1, true);
	else if (len > 0)
		put_term(lex, lex->at, len, false);
	lex->at += len;
	return MR_OK;
}

static enum mr_code lex_all(struct lexer *lex)
{
	enum mr_code rc = MR_OK;

	while (!rc && !lex->full && *lex->at) {
		if (is_blank(*lex->at)) {
			lex->at++;
		} else if (*lex->at == '(' || *lex->at == ')') {
			put_token(lex, *lex->at == '(' ? OPEN : CLOSE, 0);
			lex->at++;
		} else if (*lex->at == '"') {
			lex_phrase(lex);
		} else {
			rc = lex_word(lex);
		}
	}
	put_token(lex, END, 0);
	return rc;
}

/* Recursive descent: or, and, not, operand. */
struct parser {
	struct mr_arena *arena;
	struct mr_team_query *query;
	const struct token *at;
	bool cut, broken;
	unsigned depth;
	bool negated;               /* an odd number of NOTs is around */
	enum mr_team_column column; /* whose filter is around */
};

/* Parse functions return NULL for operands without terms (filters, empty parentheses). */
static struct mr_team_node *parse_or(struct parser *p);

static struct mr_team_node *new_node(struct parser *p, enum mr_team_node_kind kind)
{
	struct mr_team_node *node = mr_arena_alloc(p->arena, sizeof(*node));

	node->kind = kind;
	return node;
}

static struct mr_team_node *parse_group(struct parser *p)
{
	struct mr_team_node *node = NULL;

	p->at++;
	if (p->depth == MR_TEAM_QUERY_DEPTH) {
		p->broken = true;
		return NULL;
	}
	p->depth++;
	if (p->at->kind != CLOSE)
		node = parse_or(p);
	p->depth--;
	if (p->at->kind == CLOSE)
		p->at++;
	else if (!p->cut)
		p->broken = true;
	return node;
}

static struct mr_team_node *parse_operand(struct parser *p)
{
	enum mr_team_column around = p->column;
	struct mr_team_node *node = NULL;
	struct mr_team_term *term;

	if (p->at->kind == COLUMN) {
		p->column = p->at->column;
		p->at++;
	}
	switch (p->at->kind) {
	case TERM:
		term = &p->query->terms[p->at->index];
		term->column = p->column;
		term->negated = p->negated;
		node = new_node(p, MR_TEAM_TERM);
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
		p->broken |= !p->cut || p->at->kind != END;
	}
	p->column = around;
	return node;
}

static struct mr_team_node *parse_not(struct parser *p)
{
	struct mr_team_node *inside, *node;
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
	if (inside->kind == MR_TEAM_NOT)
		return (struct mr_team_node *)inside->inside;
	node = new_node(p, MR_TEAM_NOT);
	node->inside = inside;
	return node;
}

/* Operands of an AND or an OR, in their order. */
struct operands {
	struct mr_team_node *first, *last;
};

static void add_operand(struct operands *all, enum mr_team_node_kind kind,
	struct mr_team_node *node)
{
	if (!node)
		return;
	/* (a b) c is a b c. */
	if (node->kind == kind)
		node = (struct mr_team_node *)node->inside;
	if (all->last)
		all->last->next = node;
	else
		all->first = node;
	while (node->next)
		node = (struct mr_team_node *)node->next;
	all->last = node;
}

static struct mr_team_node *joined(struct parser *p, const struct operands *all,
	enum mr_team_node_kind kind)
{
	struct mr_team_node *node;

	if (!all->first || !all->first->next)
		return all->first;
	node = new_node(p, kind);
	node->inside = all->first;
	return node;
}

static struct mr_team_node *parse_and(struct parser *p)
{
	struct operands all = { NULL, NULL };

	do {
		add_operand(&all, MR_TEAM_AND, parse_not(p));
		if (p->at->kind == AND) {
			p->at++;
			if (p->at->kind == CLOSE || p->at->kind == OR ||
				(p->at->kind == END && !p->cut))
				p->broken = true;
		}
	} while (!p->broken && p->at->kind != CLOSE && p->at->kind != OR && p->at->kind != END);
	return joined(p, &all, MR_TEAM_AND);
}

static struct mr_team_node *parse_or(struct parser *p)
{
	struct operands all = { NULL, NULL };

	add_operand(&all, MR_TEAM_OR, parse_and(p));
	while (!p->broken && p->at->kind == OR) {
		p->at++;
		add_operand(&all, MR_TEAM_OR, parse_and(p));
	}
	return joined(p, &all, MR_TEAM_OR);
}

/* `cut`: there was more than is looked at. */
static const struct mr_team_node *parse(struct lexer *lex, bool cut)
{
	struct parser p = {
		.arena = lex->cx->arena,
		.query = lex->query,
		.at = lex->tokens,
		.cut = cut || lex->full,
		.broken = lex->broken,
	};
	const struct mr_team_node *root = NULL;

	if (!p.broken && p.at->kind != END)
		root = parse_or(&p);
	if (!p.broken && p.at->kind == END)
		return root;
	for (size_t i = 0; i < p.query->term_count; i++) {
		p.query->terms[i].negated = false;
		p.query->terms[i].column = MR_TEAM_ANY_COLUMN;
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

enum mr_code mr_team_query_parse(struct mr_ctx *cx, const char *text, struct mr_team_query *out)
{
	struct mr_team_query query = { NULL };
	size_t len = text ? strlen(text) : 0;
	size_t used = cut_at(text, len, MR_TEAM_QUERY_BYTES);
	struct lexer lex = { .cx = cx, .query = &query };
	enum mr_code rc;

	if (len == 0 || is_all_blank(text, len))
		return mr_team_refuse(cx, "query", "there is nothing to look for: query is empty");
	lex.at = mr_arena_strndup(cx->arena, text, used);
	/* A character is at most a token and the '-' before it, and may come again as a word. */
	lex.tokens = mr_arena_array(cx->arena, 2 * used + 4, sizeof(*lex.tokens));
	query.terms = mr_arena_array(cx->arena, MR_TEAM_QUERY_TERMS, sizeof(*query.terms));
	query.filters = mr_arena_array(cx->arena, MR_TEAM_QUERY_FILTERS, sizeof(*query.filters));
	rc = lex_all(&lex);
	if (rc)
		return rc;
	query.root = parse(&lex, used < len);
	if (query.term_count == 0 && query.filter_count == 0) {
		take_operators(&lex);
		/* Only signs: ( ) " and their like. */
		text = mr_str_trim(cx->arena, text);
		if (query.term_count == 0)
			put_term(&lex, text, cut_at(text, strlen(text), MR_TEAM_QUERY_BYTES),
				false);
	}
	*out = query;
	return MR_OK;
}
