/*
 * base/reach.h - which directories of this machine a caller may name.
 *
 * The command line runs with its user's own rights and may name any directory: its `cx->reach` is
 * NULL. All other callers (over HTTP, or through a client that started `mailroom mcp`) may name the
 * directories at and below its roots and no others, whatever a project's key says.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

struct mr_reach {
	struct mr_texts roots; /* that the owner allows: absolute paths */
	const char *home;      /* the owner's home directory, or NULL */
	/* Where the process was started: one more root, unless that is the home directory or above
	 * it, or the client names its own; or NULL. */
	const char *place;
	/* Asks the client for its roots, when they are needed; or NULL. The list and what it holds
	 * live in cx->arena. */
	enum mr_code (*ask)(void *arg, struct mr_ctx *cx, struct mr_texts *out);
	void *ask_arg;
};

/*
 * The directory at this absolute path, without links, when the caller may name it. `*out` is NULL
 * when the caller may not, and when there is no such directory: the two are not told apart. The
 * root of the file system is never given out; to callers with roots neither are the owner's home
 * directory and the directories above it. Fails only when the client does not name its roots.
 */
MR_CHECK enum mr_code mr_reach_dir(struct mr_ctx *cx, const char *path, const char **out);
/* The same by what is known already: the client is not asked. NULL when the caller may not. */
const char *mr_reach_known(struct mr_ctx *cx, const char *path);
/* The same, and the place where the process was started counts although the client has roots of its
 * own: enough to tell which repository a path belongs to, not to read what is there. */
const char *mr_reach_seen(struct mr_ctx *cx, const char *path);
