/*
 * team/move.h - moving a team's database to another place, and to another engine: from a file to a
 * server, and back.
 *
 * While it is copied the old database can be read by everybody, and who writes to it is told where
 * it goes (team/store/standing.h). The copy is made in small transactions, and remembers how far it
 * is: so a move that was interrupted, at whatever moment, goes on when it is begun again. At its
 * end every row of both is read and compared. The old database stays, and stays as it is.
 *
 * Archives are not concerned: they stay in the storage root. What they do not show yet moves with
 * the rest, and is archived by whoever uses the new database.
 */
#pragma once

#include "team/store/root.h"

struct mr_team_moved_table {
	const char *name;
	int64_t rows;
	/* The SHA-256 digests of its rows, added up: the same in whatever order they come. */
	const char *digest;
};

struct mr_team_moved {
	const char *from, *to; /* for people */
	bool was_resumed;      /* a part of it was there already */
	int64_t rows;
	struct mr_team_moved_table *tables;
	size_t len;
};

/*
 * Copy the configured database to the path or URL `to`: one without tables, or one in which an
 * interrupted move of this database to there goes on. MR_ECONFLICT: it has something else, or the
 * database is moved to another place already, or it was changed while it was copied. MR_ENOTFOUND:
 * there is no database to move. Crash points: move.*
 */
MR_CHECK enum mr_code mr_team_move(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *to, struct mr_team_moved *out);
/* Give a move up, or take it back: the configured database can be written again. What was copied
 * stays where it is. MR_ENOTFOUND when it is not moved. */
MR_CHECK enum mr_code mr_team_move_cancel(struct mr_ctx *cx, const struct mr_team_config *config,
	struct mr_team_moved *out);
