/*
 * team/search.c - Runs a message search: as a full-text query, as a scan of the texts, or by its
 * filters alone.
 */
#include "team/search.h"

#include "team/error.h"
#include "team/limits.h"
#include "team/search_sql.h"

/* How a part of the query can be expressed in FTS5, where NOT needs two operands. */
enum sense {
	NOTHING,  /* signs only: left out */
	FOUND,    /* finds something */
	EXCLUDED, /* only excludes */
	UNSAYABLE,
};

static enum sense sense_of(const struct mr_team_node *node);

static enum sense sense_of_or(const struct mr_team_node *node)
{
	enum sense sum = NOTHING;

	for (const struct mr_team_node *one = node->inside; one; one = one->next) {
		enum sense sense = sense_of(one);

		if (sense == EXCLUDED || sense == UNSAYABLE)
			return UNSAYABLE;
		sum = sense == FOUND ? FOUND : sum;
	}
	return sum;
}

static enum sense sense_of_and(const struct mr_team_node *node)
{
	enum sense sum = NOTHING;

	for (const struct mr_team_node *one = node->inside; one; one = one->next) {
		enum sense sense = sense_of(one);

		if (sense == UNSAYABLE)
			return UNSAYABLE;
		if (sense == FOUND || (sense == EXCLUDED && sum == NOTHING))
			sum = sense;
	}
	return sum;
}

static enum sense sense_of(const struct mr_team_node *node)
{
	enum sense inside;

	switch (node->kind) {
	case MR_TEAM_TERM:
		return node->term->has_word ? FOUND : NOTHING;
	case MR_TEAM_OR:
		return sense_of_or(node);
	case MR_TEAM_AND:
		return sense_of_and(node);
	case MR_TEAM_NOT:
		break;
	}
	inside = sense_of(node->inside);
	return inside == FOUND ? EXCLUDED : inside == NOTHING ? NOTHING : UNSAYABLE;
}

struct writer {
	struct mr_db *db;
	struct mr_buf *match;
};

static void put_term(struct writer *w, const struct mr_team_term *term)
{
	static const char *const columns[] = {
		[MR_TEAM_SUBJECT] = "subject",
		[MR_TEAM_BODY] = "body_md",
	};

	mr_db_search_quote(w->db, w->match, columns[term->column], term->text, term->prefix);
}

static void put_node(struct writer *w, const struct mr_team_node *node);

/* The operands of this sense, in parentheses. */
static bool put_operands(struct writer *w, const struct mr_team_node *node, enum sense sense,
	enum mr_db_search_word between)
{
	bool any = false;

	for (const struct mr_team_node *one = node->inside; one; one = one->next) {
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
static void put_node(struct writer *w, const struct mr_team_node *node)
{
	bool excludes = false;

	if (node->kind == MR_TEAM_TERM) {
		put_term(w, node->term);
		return;
	}
	if (node->kind == MR_TEAM_OR) {
		put_operands(w, node, FOUND, MR_DB_SEARCH_OR);
		return;
	}
	for (const struct mr_team_node *one = node->inside; one; one = one->next)
		excludes |= sense_of(one) == EXCLUDED;
	mr_db_search_word(w->db, w->match, MR_DB_SEARCH_OPEN);
	put_operands(w, node, FOUND, MR_DB_SEARCH_AND);
	if (excludes) {
		mr_db_search_word(w->db, w->match, MR_DB_SEARCH_NOT);
		put_operands(w, node, EXCLUDED, MR_DB_SEARCH_OR);
	}
	mr_db_search_word(w->db, w->match, MR_DB_SEARCH_CLOSE);
}

static void put_all_terms(struct writer *w, const struct mr_team_query *query)
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

/* Choose how to answer the query. */
static enum mr_team_search_mode mode_of(const struct mr_team_query *query)
{
	bool has_word = false;

	if (query->term_count == 0)
		return MR_TEAM_SEARCH_FILTERS;
	for (size_t i = 0; i < query->term_count; i++) {
		if (query->terms[i].unspaced)
			return MR_TEAM_SEARCH_LIKE;
		has_word |= query->terms[i].has_word;
	}
	if (!has_word)
		return MR_TEAM_SEARCH_LIKE;
	if (!query->root)
		return MR_TEAM_SEARCH_QUOTED;
	return sense_of(query->root) == FOUND ? MR_TEAM_SEARCH_FTS : MR_TEAM_SEARCH_LIKE;
}

struct run {
	struct mr_ctx *cx;
	struct mr_db *db;
	const struct mr_team_search *search; /* within its limits */
	const struct mr_team_query *query;
	bool alone; /* nothing comes from other projects */
	struct mr_team_found *found;
	size_t found_count;
};

static enum mr_code ask_index(struct run *run, enum mr_team_search_mode mode)
{
	struct mr_team_where where MR_CLEANUP(mr_team_where_release) = { 0 };
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };
	struct writer w = { run->db, &match };
	enum mr_code rc =
		mr_team_search_where(run->cx, run->search, run->query, run->alone, true, &where);

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	if (rc)
		return rc;
	if (mode == MR_TEAM_SEARCH_FTS)
		put_node(&w, run->query->root);
	else
		put_all_terms(&w, run->query);
	/* The longest terms, all of them quotes, fit: a match that does not is our fault. */
	rc = mr_buf_check(&match, "a search", &run->cx->err);
	if (rc)
		return rc;
	return mr_team_search_index_sql(run->cx, run->db, run->search, mr_buf_text(&match), &where,
		run->found, &run->found_count);
}

static enum mr_code scan(struct run *run, bool like)
{
	struct mr_team_where where MR_CLEANUP(mr_team_where_release) = { 0 };
	int64_t floor = 0;
	enum mr_code rc =
		mr_team_search_where(run->cx, run->search, run->query, run->alone, false, &where);

	if (!rc && like)
		rc = mr_team_search_floor_sql(run->cx, run->db, run->search, run->alone, &floor);
	if (!rc)
		rc = mr_team_search_scan_sql(run->cx, run->db, run->search, floor, &where,
			run->found, &run->found_count);
	return rc;
}

static enum mr_code find(struct run *run, enum mr_team_search_mode *mode)
{
	enum mr_code rc = MR_EINVAL;

	/* A match that FTS5 rejects is tried again in a simpler form. */
	while (rc == MR_EINVAL && *mode < MR_TEAM_SEARCH_LIKE) {
		rc = ask_index(run, *mode);
		if (rc == MR_EINVAL)
			(*mode)++;
	}
	if (*mode < MR_TEAM_SEARCH_LIKE)
		return rc;
	return scan(run, *mode == MR_TEAM_SEARCH_LIKE);
}

static enum mr_code read_hit(struct run *run, const struct mr_team_found *found, bool inside,
	bool *there, struct mr_team_hit *out)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *body = "";
	enum mr_code rc =
		mr_team_search_row_sql(run->cx, run->db, found->id, scratch, there, out, &body);

	if (rc || !*there)
		return rc;
	mr_team_snippet(run->cx->arena, body, run->query, inside, &out->snippet);
	out->score = found->score;
	return MR_OK;
}

static int64_t clamp(int64_t number, int64_t low, int64_t high)
{
	return number < low ? low : number > high ? high : number;
}

enum mr_code mr_team_search(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, struct mr_team_hits *out)
{
	struct mr_team_search within = *search;
	struct mr_team_query query;
	struct mr_team_hits hits;
	struct run run = { .cx = cx, .db = db, .search = &within, .query = &query };
	enum mr_code rc = mr_team_query_parse(cx, search->query, &query);

	if (rc)
		return rc;
	within.limit =
		search->limit ? clamp(search->limit, 1, MR_TEAM_SEARCH_MAX) : MR_TEAM_LIST_DEFAULT;
	within.offset = clamp(search->offset, 0, MR_TEAM_SEARCH_OFFSET_MAX);
	run.found = mr_arena_array(cx->arena, (size_t)within.limit, sizeof(*run.found));
	hits = (struct mr_team_hits){ .mode = mode_of(&query) };
	rc = mr_team_search_alone_sql(cx, db, &within, &run.alone);
	if (!rc)
		rc = find(&run, &hits.mode);
	if (rc)
		return rc;
	hits.items = mr_arena_array(cx->arena, run.found_count + 1, sizeof(*hits.items));
	for (size_t i = 0; !rc && i < run.found_count; i++) {
		bool there = false;

		rc = read_hit(&run, &run.found[i], hits.mode == MR_TEAM_SEARCH_LIKE, &there,
			&hits.items[hits.len]);
		hits.len += there;
	}
	if (!rc)
		*out = hits;
	return rc;
}

const char *mr_team_search_mode_name(enum mr_team_search_mode mode)
{
	static const char *const names[] = {
		[MR_TEAM_SEARCH_FTS] = "fts",
		[MR_TEAM_SEARCH_QUOTED] = "fts_quoted",
		[MR_TEAM_SEARCH_LIKE] = "like",
		[MR_TEAM_SEARCH_FILTERS] = "filters",
	};

	return names[mode];
}
