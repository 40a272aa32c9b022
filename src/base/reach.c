/*
 * base/reach.c - Decides whether a caller may name a directory of this machine, by the roots
 * configured for it or reported by its client.
 */
#include "base/reach.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void freep(char **text)
{
	free(*text);
}

/* Without links, in the arena; NULL when it is no directory, or the root of the file system. */
static const char *real_dir(struct mr_arena *arena, const char *path)
{
	char *real MR_CLEANUP(freep) = path && path[0] == '/' ? realpath(path, NULL) : NULL;
	struct stat st;

	if (!real || mr_str_eq(real, "/") || stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
		return NULL;
	return mr_arena_strdup(arena, real);
}

/* Is `path` the directory `dir`, or below it? */
static bool is_in(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	return strncmp(dir, path, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_in_any(struct mr_arena *arena, const struct mr_texts *roots, const char *real)
{
	for (size_t i = 0; i < roots->len; i++) {
		const char *root = real_dir(arena, roots->items[i]);

		if (root && is_in(root, real))
			return true;
	}
	return false;
}

static const char *find(struct mr_ctx *cx, const char *path, const struct mr_texts *more)
{
	const struct mr_reach *reach = cx->reach;
	const char *real, *home;

	/* Without roots nothing is allowed, and the file system is not touched. */
	if (reach->roots.len + more->len == 0)
		return NULL;
	real = real_dir(cx->arena, path);
	home = real_dir(cx->arena, reach->home);
	if (!real || (home && is_in(real, home)))
		return NULL;
	return is_in_any(cx->arena, &reach->roots, real) || is_in_any(cx->arena, more, real) ? real
											     : NULL;
}

/* Below the owner's roots, or below `place` where that is not NULL. */
static const char *find_with(struct mr_ctx *cx, const char *path, const char *place)
{
	const char *home = real_dir(cx->arena, cx->reach->home);
	struct mr_texts more = { &place, 0 };

	place = real_dir(cx->arena, place);
	/* The home directory is no root: programs are often started there by default. */
	more.len = place && !(home && is_in(place, home)) ? 1 : 0;
	return find(cx, path, &more);
}

const char *mr_reach_known(struct mr_ctx *cx, const char *path)
{
	const struct mr_reach *reach = cx->reach;

	if (!reach)
		return real_dir(cx->arena, path);
	return find_with(cx, path, reach->ask ? NULL : reach->place);
}

const char *mr_reach_seen(struct mr_ctx *cx, const char *path)
{
	return cx->reach ? find_with(cx, path, cx->reach->place) : real_dir(cx->arena, path);
}

enum mr_code mr_reach_dir(struct mr_ctx *cx, const char *path, const char **out)
{
	const char *real = mr_reach_known(cx, path);
	struct mr_texts more = { NULL, 0 };
	enum mr_code rc = MR_OK;

	if (!real && cx->reach && cx->reach->ask) {
		rc = cx->reach->ask(cx->reach->ask_arg, cx, &more);
		if (!rc)
			real = find(cx, path, &more);
	}
	if (!rc)
		*out = real;
	return rc;
}
