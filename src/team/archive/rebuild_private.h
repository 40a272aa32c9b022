/* team/archive/rebuild_private.h - what checking and rebuilding share. */
#pragma once

#include "team/archive/rebuild.h"
#include "team/model.h"

enum {
	MR_TEAM_PROBLEMS = 200,        /* that are listed */
	MR_TEAM_NAMES = 10000000,      /* in one directory */
	MR_TEAM_FILE_BYTES = 64 << 20, /* of the archive */
	MR_TEAM_TREE_DEPTH = 8,
};

struct mr_team_origin;

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
/* --- rebuild_read.c --- */

/* A project as it is found. */
struct mr_team_home_found {
	struct mr_team_project project;
	struct mr_team_origin *origin;
};

/* A message that its archive has, and that could not be read from it. */
struct mr_team_unread {
	int64_t id; /* 0: its name does not tell */
	const char *where;
};

/* An agent of whom the archive says that it was purged. */
struct mr_team_purged {
	const char *slug, *name;
};

/* What the archives contain besides what is now in the database. */
struct mr_team_told {
	struct mr_team_unread *unread;
	size_t unread_count, unread_room;
	struct mr_team_purged *purged;
	size_t purged_count, purged_room;
	bool is_uncertain; /* an archive is damaged and may have contained more */
};

/* A message's file. */
struct mr_team_file_found {
	int64_t id; /* as its name says, 0 when it does not */
	const char *path;
	struct mr_team_home_found *home;
};

struct mr_team_restoring {
	struct mr_ctx *cx;
	struct mr_team *team;
	struct mr_team_rebuilt *counts;
	struct mr_team_problems *problems;
	struct mr_team_told *told;
	struct mr_team_home_found *homes;
	size_t home_count;
	struct mr_team_file_found *found;
	size_t found_count, found_room;
};

/* A file that could not be read. */
void mr_team_restoring_tell(struct mr_team_restoring *r, const struct mr_team_home_found *home,
	const char *path, const char *msg);

/* `items` with room for one more; `*room` is doubled when they were full. */
void *mr_team_one_more(struct mr_arena *arena, void *items, size_t count, size_t *room,
	size_t size);

/* Everything that the archives of `from` (a storage root) have, into an empty database; but for the
 * search index, which is made when all rows are there. */
MR_CHECK enum mr_code mr_team_restore(struct mr_ctx *cx, struct mr_team *team, const char *from,
	struct mr_team_rebuilt *counts, struct mr_team_problems *problems,
	struct mr_team_told *told);

/* --- rebuild_hold.c --- */

/* Leases, slots and links of a project whose agents are there already. */
MR_CHECK enum mr_code mr_team_restore_holdings(struct mr_team_restoring *r,
	struct mr_team_home_found *home);

/* --- rebuild_tree.c --- */

/* Files of a project's directory that are gone, or not as its newest commit has them, are written
 * anew. */
MR_CHECK enum mr_code mr_team_rebuild_tree(struct mr_ctx *cx, struct mr_team *team,
	const char *slug);
