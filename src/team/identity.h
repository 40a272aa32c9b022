/*
 * team/identity.h - derives a project's identity from its path or from the git repository there.
 *
 * May run git, for some seconds at most, or ask a client for its roots: never inside a change.
 */
#pragma once

#include "base/ctx.h"

/* What is configured unless something else is: the repository around the path, by its main work
 * tree, for all its directories, worktrees and links; the path as given where there is none. */
#define MR_TEAM_IDENTITY_REPOSITORY "repository"
#define MR_TEAM_IDENTITY_DIR        "dir"            /* the path as given */
#define MR_TEAM_IDENTITY_REMOTE     "git-remote"     /* equal for all clones */
#define MR_TEAM_IDENTITY_TOPLEVEL   "git-toplevel"   /* equal for all paths in a work tree */
#define MR_TEAM_IDENTITY_COMMON_DIR "git-common-dir" /* equal for all work trees of a clone */

struct mr_team_identity {
	const char *slug;
	const char *key;  /* the project's path: the one given, or its repository's */
	const char *mode; /* the one that applied; dir for a repository's path */
	const char *why;  /* a clause for people: how the project was chosen */
};

/*
 * What does not apply here (no repository, no remote, a URL nobody knows, no git) is `dir`, and so
 * is a directory that the caller may not name (base/reach.h): git is not run there.
 * INVALID_ARGUMENT (identity_mode) for a word that is no mode. `key` is checked already.
 */
MR_CHECK enum mr_code mr_team_identity(struct mr_ctx *cx, const char *key, const char *mode,
	const char *remote, struct mr_team_identity *out);

/* "host/owner/repo" of a remote's URL, however it is spelt; NULL for what is none. Pure. */
const char *mr_team_identity_normalise(struct mr_arena *arena, const char *url);
