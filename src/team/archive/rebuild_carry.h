/*
 * team/archive/rebuild_carry.h - copies what only the old database has into the new one, and
 * compares both.
 *
 * The new database was filled from the archives. The old one may have more: what was not archived
 * yet, what an archive lost, and what no archive holds (who has read what, products, keys). Rows
 * are the same when they mean the same: a project by its slug, an agent by project and name, a
 * message by its uid, a lease by its agent, pattern and time. What the new one has not got is
 * copied with its id where that is free, and queued for the archive. Agents that an archive records
 * as purged are not copied.
 *
 * The old one may be damaged: messages and their recipients are copied in ranges of ids, and where
 * one cannot be read row by row, so that only rows on a damaged page are left behind.
 */
#pragma once

#include "team/archive/rebuild_private.h"

enum { MR_TEAM_LOST_SHOWN = 5 };

struct mr_team_carry_counts {
	int64_t projects, agents, reservations, links;
};

struct mr_team_carried {
	bool is_compared; /* the old database could tell which messages it has */
	int64_t messages; /* copied: the archives did not have them */
	int64_t recipients;
	struct mr_team_carry_counts counts;
	int64_t kept_state;   /* read and acknowledged times */
	int64_t old_messages; /* it had, when compared */
	/* Messages that the old database or an archive has, and the new one would not have. */
	int64_t lost;
	struct mr_texts lost_first; /* MR_TEAM_LOST_SHOWN of them, for people */
};

/*
 * `db` is the new database, not in a transaction; `old` is the path of the old one, or NULL when
 * there is none. Parts of the old one that cannot be read are reported as problems. An error is one
 * of the new database.
 */
MR_CHECK enum mr_code mr_team_carry(struct mr_ctx *cx, struct mr_db *db, const char *old,
	const struct mr_team_told *told, struct mr_team_problems *problems,
	struct mr_team_carried *out);
