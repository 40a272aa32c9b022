/* team/rebuild_private.h - what checking and rebuilding share. */
#pragma once

#include "team/model.h"
#include "team/rebuild.h"

enum {
	MR_TEAM_PROBLEMS = 200,       /* that are listed */
	MR_TEAM_NAMES = 10000000,     /* in one directory */
	MR_TEAM_FILE_BYTES = 64 << 20 /* of the archive */
};

struct mr_team_problems {
	struct mr_arena *arena;
	struct mr_team_problem *items;
	size_t len, dropped;
};
void mr_team_problems_init(struct mr_team_problems *problems, struct mr_arena *arena);
/* `kind` is a constant; `where` is copied. */
void mr_team_problems_add(struct mr_team_problems *problems, const char *kind, const char *where,
	const char *fmt, ...) MR_PRINTF(4, 5);

/* Read one file of a project's directory; MR_ENOTFOUND. */
MR_CHECK enum mr_code mr_team_archive_file(struct mr_arena *arena, int dir, const char *path,
	struct mr_bytes *out, struct mr_err *err);
/* The directories of projects: their names, which are the slugs. */
MR_CHECK enum mr_code mr_team_archive_slugs(struct mr_ctx *cx, const char *storage_root,
	struct mr_texts *out);
/* Is this agent's deleted.json there, and says that its rows went too? */
bool mr_team_is_purged(struct mr_arena *arena, int dir, const char *agent);

/* --- rebuild_read.c --- */

/* Everything that the archives of `from` (a storage root) have, into an empty database. */
MR_CHECK enum mr_code mr_team_restore(struct mr_ctx *cx, struct mr_team *team, const char *from,
	struct mr_team_rebuilt *counts, struct mr_team_problems *problems);

/* --- rebuild_tree.c --- */

/* Files of a project's directory that are gone, or not as its newest commit has them, are written
 * anew. */
MR_CHECK enum mr_code mr_team_rebuild_tree(struct mr_ctx *cx, struct mr_team *team,
	const char *slug);
