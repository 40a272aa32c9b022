/*
 * team/store/standing.h - may this program change the database as it stands?
 *
 * Not when a newer mailroom has given it tables since that this one does not know, and not while it
 * is moved to another place (team/move.h), nor after that.
 */
#pragma once

#include "data/db.h"

struct mr_team_standing {
	int64_t version;   /* of its schema */
	bool is_left;      /* it is moved to `other` ... */
	bool is_filled;    /* or from there */
	bool has_ended;    /* that is over */
	const char *other; /* for people, or NULL */
};

/* The texts are in `arena`. The schema must be there. */
MR_CHECK enum mr_code mr_team_standing_read(struct mr_db *db, struct mr_arena *arena,
	struct mr_team_standing *out, struct mr_err *err);
/* MR_EBUSY while it is moved, MR_ECONFLICT when that is over or a newer mailroom has changed it;
 * the text says what to do. */
MR_CHECK enum mr_code mr_team_standing_check(struct mr_db *db, struct mr_err *err);
