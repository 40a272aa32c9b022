/*
 * data/match.h - a query that a person typed (text/query.h) as a condition of a search.
 *
 * The columns of the query's keys count from 1 and are those of the search table, in its order.
 */
#pragma once

#include "data/db.h"
#include "text/query.h"

struct mr_bind;

/* Which reading of the query is answered. */
enum mr_match_mode {
	MR_MATCH_FTS,     /* the index, as the query was written */
	MR_MATCH_QUOTED,  /* the index, all its words as plain terms: it cannot be understood */
	MR_MATCH_LIKE,    /* a look at the texts: only signs, only -words, scripts without blanks */
	MR_MATCH_FILTERS, /* there are no words */
};

enum mr_match_mode mr_match_mode(const struct mr_query *query);

/* The expression for mr_db_search_query.match, of the mode MR_MATCH_FTS or MR_MATCH_QUOTED. The
 * longest terms, all of them quotes, fit into MR_DB_MATCH_BYTES. */
void mr_match_put(struct mr_db *db, const struct mr_db_search *search, const struct mr_query *query,
	enum mr_match_mode mode, struct mr_buf *match);

/* A condition on the texts of the table, called t, which ILIKE looks into: its parameters begin at
 * ?`first`, their values are put into `values`, which has room for MR_QUERY_TERMS. How many there
 * are; without terms nothing is written. */
size_t mr_match_like(struct mr_arena *arena, const struct mr_db_search *search,
	const struct mr_query *query, int first, struct mr_bind *values, struct mr_buf *sql);
