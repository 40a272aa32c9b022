/* data/match.c - Turns a parsed query into an expression of full-text search, or into SQL that
 * looks at the texts. */
#include "data/match.h"

#include "data/rows.h"

#include <string.h>

/* How a part of the query can be expressed in FTS5, where NOT needs two operands. */
enum sense {
	NOTHING,  /* signs only: left out */
	FOUND,    /* finds something */
	EXCLUDED, /* only excludes */
	UNSAYABLE,
};

static enum sense sense_of(const struct mr_query_node *node);

static enum sense sense_of_or(const struct mr_query_node *node)
{
	enum sense sum = NOTHING;

	for (const struct mr_query_node *one = node->inside; one; one = one->next) {
		enum sense sense = sense_of(one);

		if (sense == EXCLUDED || sense == UNSAYABLE)
			return UNSAYABLE;
		sum = sense == FOUND ? FOUND : sum;
	}
	return sum;
}

static enum sense sense_of_and(const struct mr_query_node *node)
{
	enum sense sum = NOTHING;

	for (const struct mr_query_node *one = node->inside; one; one = one->next) {
		enum sense sense = sense_of(one);

		if (sense == UNSAYABLE)
			return UNSAYABLE;
		if (sense == FOUND || (sense == EXCLUDED && sum == NOTHING))
			sum = sense;
	}
	return sum;
}

static enum sense sense_of(const struct mr_query_node *node)
{
	enum sense inside;

	switch (node->kind) {
	case MR_QUERY_TERM:
		return node->term->has_word ? FOUND : NOTHING;
	case MR_QUERY_OR:
		return sense_of_or(node);
	case MR_QUERY_AND:
		return sense_of_and(node);
	case MR_QUERY_NOT:
		break;
	}
	inside = sense_of(node->inside);
	return inside == FOUND ? EXCLUDED : inside == NOTHING ? NOTHING : UNSAYABLE;
}

struct writer {
	struct mr_db *db;
	const struct mr_db_search *search;
	struct mr_buf *match;
};

static void put_term(struct writer *w, const struct mr_query_term *term)
{
	mr_db_search_quote(w->db, w->search, w->match,
		term->column == MR_QUERY_ANY_COLUMN ? NULL : w->search->columns[term->column - 1],
		term->text, term->prefix);
}

static void put_node(struct writer *w, const struct mr_query_node *node);

/* The operands of this sense, in parentheses. */
static bool put_operands(struct writer *w, const struct mr_query_node *node, enum sense sense,
	enum mr_db_search_word between)
{
	bool any = false;

	for (const struct mr_query_node *one = node->inside; one; one = one->next) {
		if (sense_of(one) != sense)
			continue;
		mr_db_search_word(w->db, w->match, any ? between : MR_DB_SEARCH_OPEN);
		put_node(w, sense == EXCLUDED ? one->inside : one);
		any = true;
	}
	if (any)
		mr_db_search_word(w->db, w->match, MR_DB_SEARCH_CLOSE);
	return any;
}

/* Of a node that finds something. */
static void put_node(struct writer *w, const struct mr_query_node *node)
{
	bool excludes = false;

	if (node->kind == MR_QUERY_TERM) {
		put_term(w, node->term);
		return;
	}
	if (node->kind == MR_QUERY_OR) {
		put_operands(w, node, FOUND, MR_DB_SEARCH_OR);
		return;
	}
	for (const struct mr_query_node *one = node->inside; one; one = one->next)
		excludes |= sense_of(one) == EXCLUDED;
	mr_db_search_word(w->db, w->match, MR_DB_SEARCH_OPEN);
	put_operands(w, node, FOUND, MR_DB_SEARCH_AND);
	if (excludes) {
		mr_db_search_word(w->db, w->match, MR_DB_SEARCH_NOT);
		put_operands(w, node, EXCLUDED, MR_DB_SEARCH_OR);
	}
	mr_db_search_word(w->db, w->match, MR_DB_SEARCH_CLOSE);
}

static void put_all_terms(struct writer *w, const struct mr_query *query)
{
	bool any = false;

	for (size_t i = 0; i < query->term_count; i++) {
		if (!query->terms[i].has_word)
			continue;
		if (any)
			mr_db_search_word(w->db, w->match, MR_DB_SEARCH_AND);
		put_term(w, &query->terms[i]);
		any = true;
	}
}

enum mr_match_mode mr_match_mode(const struct mr_query *query)
{
	bool has_word = false;

	if (query->term_count == 0)
		return MR_MATCH_FILTERS;
	for (size_t i = 0; i < query->term_count; i++) {
		if (query->terms[i].unspaced)
			return MR_MATCH_LIKE;
		has_word |= query->terms[i].has_word;
	}
	if (!has_word)
		return MR_MATCH_LIKE;
	if (!query->root)
		return MR_MATCH_QUOTED;
	return sense_of(query->root) == FOUND ? MR_MATCH_FTS : MR_MATCH_LIKE;
}

void mr_match_put(struct mr_db *db, const struct mr_db_search *search, const struct mr_query *query,
	enum mr_match_mode mode, struct mr_buf *match)
{
	struct writer w = { db, search, match };

	if (mode == MR_MATCH_FTS)
		put_node(&w, query->root);
	else
		put_all_terms(&w, query);
}

/* --- looking at the texts --- */

struct liker {
	struct mr_arena *arena;
	const char *const *columns;
	struct mr_buf *sql;
	int first;
	struct mr_bind *values;
	size_t count;
};

/* %text%, its own signs escaped. */
static const char *pattern_of(struct mr_arena *arena, const char *text)
{
	char *pattern = mr_arena_alloc(arena, 2 * strlen(text) + 3);
	size_t len = 0;

	pattern[len++] = '%';
	for (; *text; text++) {
		if (*text == '%' || *text == '_' || *text == '\\')
			pattern[len++] = '\\';
		pattern[len++] = *text;
	}
	pattern[len++] = '%';
	return pattern;
}

static void put_like(struct liker *l, const struct mr_query_term *term)
{
	int number = l->first + (int)l->count;
	const char *const *column = l->columns;

	l->values[l->count++] = mr_bind_text(pattern_of(l->arena, term->text));
	if (term->column != MR_QUERY_ANY_COLUMN) {
		mr_buf_printf(l->sql, "t.%s ILIKE ?%d ESCAPE '\\'", column[term->column - 1],
			number);
		return;
	}
	for (; *column; column++)
		mr_buf_printf(l->sql, "%st.%s ILIKE ?%d ESCAPE '\\'",
			column == l->columns ? "(" : " OR ", *column, number);
	mr_buf_putc(l->sql, ')');
}

/* As deep as parentheses may stand in each other. */
static void put_texts(struct liker *l, const struct mr_query_node *node)
{
	const char *between = node->kind == MR_QUERY_OR ? " OR " : " AND ";

	if (node->kind == MR_QUERY_TERM) {
		put_like(l, node->term);
		return;
	}
	mr_buf_puts(l->sql, node->kind == MR_QUERY_NOT ? "NOT (" : "(");
	for (const struct mr_query_node *one = node->inside; one; one = one->next) {
		put_texts(l, one);
		if (one->next && node->kind != MR_QUERY_NOT)
			mr_buf_puts(l->sql, between);
		if (node->kind == MR_QUERY_NOT)
			break;
	}
	mr_buf_putc(l->sql, ')');
}

size_t mr_match_like(struct mr_arena *arena, const struct mr_db_search *search,
	const struct mr_query *query, int first, struct mr_bind *values, struct mr_buf *sql)
{
	struct liker l = { arena, search->columns, sql, first, values, 0 };

	if (query->root)
		put_texts(&l, query->root);
	for (size_t i = 0; !query->root && i < query->term_count; i++) {
		if (i)
			mr_buf_puts(sql, " AND ");
		put_like(&l, &query->terms[i]);
	}
	return l.count;
}
