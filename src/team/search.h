/*
 * team/search.h - full-text search in messages, ranked.
 *
 * A query (team/search_query.h) is answered by the first of these that can: the index, as it was
 * written; the index, all its words as plain terms, when it cannot be understood; and otherwise
 * (nothing but signs, only -words, scripts without blanks) a look at the texts themselves, newest
 * first. Only filters: what passes them, newest first.
 *
 * Ranked by BM25, the subject counting twice. To rank costs time for every message that matches, so
 * of very many the newest are ranked and the others are not found: MR_TEAM_SEARCH_RANKED of them,
 * or MR_TEAM_SEARCH_RANKED_ROWS where the index alone does not tell which are meant, because there
 * are filters or other projects. A word that stands in every message costs no more than one that
 * stands in five hundred. In the same way the texts themselves are looked at for the newest
 * MR_TEAM_SEARCH_SCANNED messages only.
 */
#pragma once

#include "data/match.h"
#include "team/model.h"
#include "team/rights.h"
#include "team/store/root.h"
#include "text/snippet.h"

enum {
	MR_TEAM_SEARCH_RANKED = 500,
	MR_TEAM_SEARCH_RANKED_ROWS = 200,
	MR_TEAM_SEARCH_SCANNED = 100000,
	MR_TEAM_SEARCH_OFFSET_MAX = 10000,
};

struct mr_team_search {
	const int64_t *project_ids; /* one, or those of a product */
	size_t project_count;       /* 0: all projects */
	const char *query;
	int64_t limit;    /* clamped to 1 .. MR_TEAM_SEARCH_MAX; 0 is the default */
	int64_t offset;   /* clamped to 0 .. MR_TEAM_SEARCH_OFFSET_MAX */
	int64_t agent_id; /* for is:unread and ack:pending; 0: any recipient */
	bool newest_first;
	const struct mr_team_rights *rights; /* of the caller */
};

struct mr_team_hit {
	struct mr_team_message message; /* without its body */
	const char *from;
	const char *sender_project; /* the slug of the sender's own */
	bool from_human;            /* the overseer */
	const char *project_slug;
	double score; /* comparable within one answer; 0 where nothing is ranked */
	struct mr_snippet snippet;
};
struct mr_team_hits {
	struct mr_team_hit *items; /* best first */
	size_t len;
	int64_t next; /* the offset of those after them; 0: there are none */
	enum mr_match_mode mode;
};

/*
 * A project's messages are those written there, and those from elsewhere that went openly to one of
 * its agents. No text a user writes is an error but an empty one (INVALID_ARGUMENT) and filters
 * whose value makes no sense (SEARCH_SYNTAX). to: finds names in to and cc; nobody finds who got a
 * blind copy.
 */
MR_CHECK enum mr_code mr_team_search(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, struct mr_team_hits *out);

/* fts, fts_quoted, like, filters. */
const char *mr_team_search_mode_name(enum mr_match_mode mode);
