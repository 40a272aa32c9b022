/* team/search_sql.h - the SQL of a message search. */
#pragma once

#include "base/buf.h"
#include "data/rows.h"
#include "team/search.h"
#include "team/search_query.h"

/* A condition on messages, called t, and the values of its parameters, which begin at ?4. */
struct mr_team_where {
	struct mr_buf sql;
	const struct mr_bind *values;
};

/* For MR_CLEANUP. */
void mr_team_where_release(struct mr_team_where *where);
/* Are these all the projects there are? Then nothing comes from elsewhere. */
MR_CHECK enum mr_code mr_team_search_alone_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, bool *out);
/* The projects and the filters; and unless an index looks for the words, these too, in the texts.
 * Empty when the index alone can answer. Initialises `out`. */
MR_CHECK enum mr_code mr_team_search_where(struct mr_ctx *cx, const struct mr_team_search *search,
	const struct mr_query *query, bool alone, bool indexed, struct mr_team_where *out);

struct mr_team_found {
	int64_t id;
	double score;
};
/* Into `out`, which has room for `search->limit`. MR_EINVAL: the index does not take this match. */
MR_CHECK enum mr_code mr_team_search_index_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, const char *match, const struct mr_team_where *where,
	struct mr_team_found *out, size_t *out_len);
/* Newest first, not below the id `floor`. */
MR_CHECK enum mr_code mr_team_search_scan_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, int64_t floor, const struct mr_team_where *where,
	struct mr_team_found *out, size_t *out_len);
/* The id below which a scan does not look; not above 0 when everything is to be looked at. */
MR_CHECK enum mr_code mr_team_search_floor_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, bool alone, int64_t *out);
/* The message and what goes with it; the beginning of the body is in `scratch`. `*found` is false
 * when it is gone. */
MR_CHECK enum mr_code mr_team_search_row_sql(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_arena *scratch, bool *found, struct mr_team_hit *out, const char **out_body);
