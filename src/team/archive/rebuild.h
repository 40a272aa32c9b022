/* team/archive/rebuild.h - comparing database and archive, and making either from the other. */
#pragma once

#include "team/store/root.h"

struct mr_team_problem {
	const char *kind; /* database, search_index, queue, missing_file, wrong_file, unknown_file,
			     missing_row, archive */
	const char *where;
	const char *msg;
};
struct mr_team_report {
	struct mr_team_problem *problems;
	size_t len;
	size_t dropped; /* found, but past what is listed */
	int64_t projects, agents, messages, reservations, files;
	/* Where another server keeps the archive, HOST:DIRECTORY: then it is not compared. Or NULL.
	 */
	const char *kept_by;
};
/* Compare; changes nothing but draining the queue first. */
MR_CHECK enum mr_code mr_team_check(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_report *out);

struct mr_team_rebuilt {
	const char *moved_aside; /* where the old database is now, or NULL */
	int64_t projects, agents, messages, recipients, reservations, links;
	int64_t kept_state; /* read and acknowledged times taken over from the old database */
	int64_t carried;    /* messages that only the old database had */
	int64_t lost;       /* messages that are in neither any more; accepted by the caller */
	/* Nothing is known to be missing. False when messages were lost, or when an archive is
	 * damaged and no old database could be compared. */
	bool is_complete;
	struct mr_team_problem *problems; /* what could not be read */
	size_t len, dropped;
};
/*
 * A new database from the archives' commits (rebuild_origin.h says what of the work tree counts)
 * and from what the old database has besides (rebuild_carry.h). The old one, whatever its state, is
 * moved aside. No other process may have the root open. Afterwards the work trees are repaired.
 *
 * MR_ECONFLICT: more than `accept_loss` messages that the old database or the archives have would
 * not be in the new one. Then nothing is changed: the old database stays in its place.
 */
MR_CHECK enum mr_code mr_team_rebuild_database(struct mr_ctx *cx,
	const struct mr_team_config *config, int64_t accept_loss, struct mr_team_rebuilt *out);
/* Queue everything for the archive, and drain. */
MR_CHECK enum mr_code mr_team_rebuild_archive(struct mr_ctx *cx, struct mr_team *team,
	int64_t *queued);
