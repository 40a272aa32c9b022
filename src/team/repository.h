/*
 * team/repository.h - the git repository that a directory belongs to.
 *
 * Looks at directories and at the small files by which git ties a worktree to its repository; runs
 * no program, and so may be asked inside a change.
 */
#pragma once

#include "base/ctx.h"

struct mr_team_repository {
	/* The same for all its worktrees: its main work tree, or the repository itself when it is a
	 * bare one. */
	const char *root;
	const char *top;  /* the work tree that has the directory; the root, where that is it */
	bool is_worktree; /* a linked one: its top is not the root */
};

/*
 * The repository around `dir`, an absolute path without links; false when there is none. Never the
 * root of the file system, and for callers with limits (base/reach.h) never the owner's home
 * directory or what is above it.
 */
bool mr_team_repository_around(struct mr_ctx *cx, const char *dir, struct mr_team_repository *out);
/* The top of the work tree that a path is in, without links; the path itself when it is in none. */
const char *mr_team_repository_top(struct mr_ctx *cx, const char *path);
/*
 * A path or pattern as it stands below `root`, when it is an absolute one that leads there through
 * a link or is in another worktree of the repository `root`; else as it is. Only where the caller
 * may look.
 */
const char *mr_team_repository_path(struct mr_ctx *cx, const char *root, const char *path);
