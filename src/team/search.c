/*
 * team/search.c - Runs a message search: as a full-text query, as a scan of the texts, or by its
 * filters alone.
 */
#include "team/search.h"

#include "team/error.h"
#include "team/limits.h"
#include "team/search_query.h"
#include "team/search_sql.h"
#include "team/store/schema.h"

struct run {
	struct mr_ctx *cx;
	struct mr_db *db;
	const struct mr_team_search *search; /* within its limits */
	const struct mr_query *query;
	bool alone; /* nothing comes from other projects */
	struct mr_team_found *found;
	size_t found_count;
};

static enum mr_code ask_index(struct run *run, enum mr_match_mode mode)
{
	struct mr_team_where where MR_CLEANUP(mr_team_where_release) = { 0 };
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc =
		mr_team_search_where(run->cx, run->search, run->query, run->alone, true, &where);

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	if (rc)
		return rc;
	mr_match_put(run->db, &mr_team_search_index, run->query, mode, &match);
	/* A match that does not fit is our fault. */
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

static enum mr_code find(struct run *run, enum mr_match_mode *mode)
{
	enum mr_code rc = MR_EINVAL;

	/* A match that FTS5 rejects is tried again in a simpler form. */
	while (rc == MR_EINVAL && *mode < MR_MATCH_LIKE) {
		rc = ask_index(run, *mode);
		if (rc == MR_EINVAL)
			(*mode)++;
	}
	if (*mode < MR_MATCH_LIKE)
		return rc;
	return scan(run, *mode == MR_MATCH_LIKE);
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
	mr_snippet(run->cx->arena, body, run->query, MR_TEAM_BODY, inside, &out->snippet);
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
	int64_t limit =
		search->limit ? clamp(search->limit, 1, MR_TEAM_SEARCH_MAX) : MR_TEAM_LIST_DEFAULT;
	struct mr_query query;
	struct mr_team_hits hits;
	struct run run = { .cx = cx, .db = db, .search = &within, .query = &query };
	enum mr_code rc = mr_team_query_parse(cx, search->query, &query);

	if (rc)
		return rc;
	within.limit = limit + 1; /* one more tells whether there is more */
	within.offset = clamp(search->offset, 0, MR_TEAM_SEARCH_OFFSET_MAX);
	run.found = mr_arena_array(cx->arena, (size_t)within.limit, sizeof(*run.found));
	hits = (struct mr_team_hits){ .mode = mr_match_mode(&query) };
	rc = mr_team_search_alone_sql(cx, db, &within, &run.alone);
	if (!rc)
		rc = find(&run, &hits.mode);
	if (rc)
		return rc;
	if (run.found_count > (size_t)limit) {
		run.found_count = (size_t)limit;
		hits.next = within.offset + limit;
	}
	if (hits.next > MR_TEAM_SEARCH_OFFSET_MAX)
		hits.next = 0;
	hits.items = mr_arena_array(cx->arena, run.found_count + 1, sizeof(*hits.items));
	for (size_t i = 0; !rc && i < run.found_count; i++) {
		bool there = false;

		rc = read_hit(&run, &run.found[i], hits.mode == MR_MATCH_LIKE, &there,
			&hits.items[hits.len]);
		hits.len += there;
	}
	if (!rc)
		*out = hits;
	return rc;
}

const char *mr_team_search_mode_name(enum mr_match_mode mode)
{
	static const char *const names[] = {
		[MR_MATCH_FTS] = "fts",
		[MR_MATCH_QUOTED] = "fts_quoted",
		[MR_MATCH_LIKE] = "like",
		[MR_MATCH_FILTERS] = "filters",
	};

	return names[mode];
}
