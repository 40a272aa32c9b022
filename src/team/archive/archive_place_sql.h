/* team/archive/archive_place_sql.h - the storage roots that keep or kept the archive. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

struct mr_team_place_row {
	const char *place; /* the root's id; NULL: nobody keeps an archive */
	const char *name;
	bool is_whole;
	int64_t through; /* messages to this id are in its archive, or were queued since */
};

MR_CHECK enum mr_code mr_team_place_kept(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_place_row *out);
/* Is all that was ever queued still there, so that no archive can have anything? */
MR_CHECK enum mr_code mr_team_place_is_first(struct mr_ctx *cx, struct mr_db *db, bool *out);
/* In a change: `place` keeps it from now on, and `*through` is what it had when it last did. */
MR_CHECK enum mr_code mr_team_place_keep(struct mr_ctx *cx, struct mr_db *db, const char *place,
	const char *name, bool is_whole, int64_t *through);
/* In a change: all that it lacks is queued. */
MR_CHECK enum mr_code mr_team_place_set_whole(struct mr_ctx *cx, struct mr_db *db,
	const char *place);
/* In a change: queue what was ever to be removed from the archives. */
MR_CHECK enum mr_code mr_team_place_queue_removals(struct mr_ctx *cx, struct mr_db *db);
