/*
 * team/freeze.h - a team's storage as it is at one moment, for a backup.
 *
 * The database is copied into a file, and every archive is locked from before that until the end:
 * so what an archive holds agrees with the queue in the copy. Agents send and read meanwhile; only
 * the archives fall behind, and catch up afterwards.
 */
#pragma once

#include "base/ctx.h"

struct mr_team_freeze;

/*
 * `database` is the file, wherever it is; `copy` a path for its copy, which is the caller's to
 * remove, on failure too. MR_ENOTFOUND: there is no database. MR_EBUSY: it is being rebuilt, or an
 * archive stays locked.
 */
MR_CHECK enum mr_code mr_team_freeze_begin(struct mr_ctx *cx, const char *storage_root,
	const char *database, const char *copy, struct mr_team_freeze **out);
/* Is a path below the storage root part of it? Not the database's own files, locks, and projects
 * that came after the moment. */
bool mr_team_freeze_has(const struct mr_team_freeze *freeze, const char *path);
/* For MR_CLEANUP; NULL inside is fine. */
void mr_team_freeze_endp(struct mr_team_freeze **freeze);
