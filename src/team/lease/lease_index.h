/*
 * team/lease/lease_index.h - leases that some patterns may meet, read once and looked through
 * quickly.
 *
 * Every pattern has directories that all it matches is in (mr_glob_literal_prefix). Two patterns
 * can only meet when the prefix of one is that of the other, or above it: so of ten thousand leases
 * those are read that stand on the way to a pattern, and those below it. Only what is then left is
 * compared as patterns, exactly.
 */
#pragma once

#include "team/lease/reservation_sql.h"
#include "text/glob.h"

/* A pattern of this team, normalised as spec 9.3 has it. `root`: the project's path, that absolute
 * patterns lose, or NULL. INVALID_ARGUMENT (paths). */
MR_CHECK enum mr_code mr_team_lease_index_compile(struct mr_ctx *cx, const struct mr_team *team,
	const char *root, const char *text, struct mr_glob **out);

struct mr_team_lease_index {
	unsigned flags;                 /* how patterns are read */
	struct mr_team_lease_rows rows; /* by prefix, then id */
	struct mr_glob **globs;         /* one for each row, NULL until it is needed */
	int64_t cost;                   /* spent on comparisons */
	int64_t max_cost;               /* and the maximum: MR_TEAM_OVERLAP_COST */
};

/*
 * Read the leases that patterns of these prefixes may meet: each lease once. With `rooted` not
 * those that begin with a wildcard. INVALID_ARGUMENT (paths) when there are more than
 * MR_TEAM_LEASES_NEAR.
 */
MR_CHECK enum mr_code mr_team_lease_index_read(struct mr_ctx *cx, const struct mr_team *team,
	struct mr_db *db, const struct mr_team_lease_near *near, const struct mr_texts *prefixes,
	bool rooted, struct mr_team_lease_index *out);
/* The same from rows that are at hand, which are put in order. */
void mr_team_lease_index_take(struct mr_ctx *cx, const struct mr_team *team,
	const struct mr_team_lease_rows *rows, struct mr_team_lease_index *out);

struct mr_team_lease_index_hits {
	const struct mr_team_lease_row **items; /* oldest first */
	size_t len;
	bool has_more;
	/* How far the search went, for one that is made again later (`earlier` below). */
	const struct mr_team_lease_index *index;
	const struct mr_team_lease_row *more; /* the row that set `has_more` ended it */
	size_t more_range;
};
/*
 * Leases of the index that overlap this pattern, at most `max`; with `shared`, only exclusive ones.
 * INVALID_ARGUMENT (paths) when comparing has become too expensive: `cost` is above `max_cost`
 * then.
 *
 * `earlier`, or NULL, is the result of the same search in an index that was read before. Whether
 * two patterns overlap never changes, so only leases that came since are compared.
 */
MR_CHECK enum mr_code mr_team_lease_index_find(struct mr_ctx *cx, struct mr_team_lease_index *index,
	const struct mr_glob *glob, bool shared, size_t max,
	const struct mr_team_lease_index_hits *earlier, struct mr_team_lease_index_hits *out);
