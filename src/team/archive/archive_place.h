/*
 * team/archive/archive_place.h - which storage root keeps the archive, where several share one
 * database.
 *
 * Servers on several machines have a storage root each, and one of these is kept in step with the
 * database: its place is written there. A root is known by the id in its file archive.id. When
 * another server has the duty (team/store/duty.h), it makes its own root the place: what that one
 * lacks is queued again, and while this is not done the place is not whole. Rows leave the queue
 * only for who keeps the archive, which is checked in the same transaction; so a server that was
 * cut off and does not know of its successor takes nothing from it.
 *
 * A database in a file has its archive beside it, and none of this is looked at.
 */
#pragma once

#include "team/store/root.h"

struct mr_team_place {
	bool is_here;     /* no other storage root keeps the archive */
	bool is_whole;    /* what it lacks is queued */
	const char *name; /* for people, HOST:DIRECTORY; NULL while nobody keeps one */
};

MR_CHECK enum mr_code mr_team_place_find(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_place *out);
/* The id of this storage root, which is made at the first use. */
MR_CHECK enum mr_code mr_team_place_own(struct mr_ctx *cx, struct mr_team *team, const char **out);
/* In a change: MR_EBUSY when the archive is not kept here any more. */
MR_CHECK enum mr_code mr_team_place_check(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db);
