/* team/search.h - finding messages by what they say, ranked. */
#pragma once

#include "team/model.h"
#include "team/root.h"

/* Which reading of the query answered. */
enum mr_team_search_mode { MR_TEAM_SEARCH_FTS, MR_TEAM_SEARCH_QUOTED, MR_TEAM_SEARCH_LIKE };

struct mr_team_search {
	const int64_t *project_ids; /* one, or those of a product */
	size_t project_count;
	const char *query;
	int64_t limit; /* clamped to 1 .. MR_TEAM_SEARCH_MAX; 0 is the default */
	int64_t offset;
	int64_t agent_id; /* whose is:unread and ack:pending; or 0: anybody's */
	bool newest_first;
};

struct mr_team_hit {
	struct mr_team_message message; /* without its body */
	const char *from;
	const char *project_slug;
	double score;
	const char *snippet;   /* plain text around the hits */
	size_t *starts, *ends; /* of the hits in it, in bytes */
	size_t hit_count;
};
struct mr_team_hits {
	struct mr_team_hit *items; /* best first */
	size_t len;
	enum mr_team_search_mode mode;
};

/* No text a user writes is an error but an empty one (INVALID_ARGUMENT) and filters whose value
 * makes no sense (SEARCH_SYNTAX). Words in bcc lists are not found. */
MR_CHECK enum mr_code mr_team_search(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, struct mr_team_hits *out);
