/*
 * team/repository.c - Finds the git repository that a directory belongs to, and that repository's
 * main work tree when the directory is in a linked one.
 */
#include "team/repository.h"

#include "base/fs.h"
#include "base/reach.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_BYTES = 8192 };

static const char *below(struct mr_ctx *cx, const char *dir, const char *name)
{
	return mr_arena_printf(cx->arena, "%s/%s", dir, name);
}

static const char *parent_of(struct mr_ctx *cx, const char *path)
{
	return mr_arena_strndup(cx->arena, path, (size_t)(strrchr(path, '/') - path));
}

/* Does the directory hold what git keeps of a repository? */
static bool is_git_dir(struct mr_ctx *cx, const char *dir)
{
	return mr_fs_exists(AT_FDCWD, below(cx, dir, "HEAD")) &&
		mr_fs_exists(AT_FDCWD, below(cx, dir, "objects")) &&
		mr_fs_exists(AT_FDCWD, below(cx, dir, "refs"));
}

/* The directory that a one-line file names, after `prefix`, without links; NULL when there is no
 * such file or directory. A relative one is below `dir`. */
static const char *follow(struct mr_ctx *cx, const char *dir, const char *name, const char *prefix)
{
	struct mr_err ignored = { 0 };
	struct mr_bytes bytes;
	const char *text, *kept;
	char *real;

	/* Whatever is no small file is none of git's. */
	if (mr_fs_read(cx->arena, AT_FDCWD, below(cx, dir, name), LINK_BYTES, &bytes, &ignored))
		return NULL;
	text = (const char *)bytes.data;
	if (!mr_str_starts(text, prefix))
		return NULL;
	text = mr_str_trim(cx->arena, text + strlen(prefix));
	real = realpath(*text == '/' ? text : below(cx, dir, text), NULL);
	kept = mr_arena_strdup(cx->arena, real);
	free(real);
	return kept;
}

/* A .git that is a file: of a linked work tree, of a submodule, or of a repository that lies apart.
 */
static bool read_link(struct mr_ctx *cx, const char *top, struct mr_team_repository *out)
{
	const char *git_dir = follow(cx, top, ".git", "gitdir: ");
	const char *common = git_dir ? follow(cx, git_dir, "commondir", "") : NULL;

	if (!git_dir)
		return false;
	*out = (struct mr_team_repository){ top, top, false };
	if (!common || !is_git_dir(cx, common))
		return is_git_dir(cx, git_dir);
	out->root = mr_str_ends(common, "/.git") ? parent_of(cx, common) : common;
	out->is_worktree = true;
	return true;
}

static bool is_repository(struct mr_ctx *cx, const char *at, struct mr_team_repository *out)
{
	const char *git = below(cx, at, ".git");

	*out = (struct mr_team_repository){ at, at, false };
	if (is_git_dir(cx, git))
		return true;
	if (is_git_dir(cx, at)) {
		if (mr_str_ends(at, "/.git"))
			out->root = out->top = parent_of(cx, at);
		return true;
	}
	return mr_fs_exists(AT_FDCWD, git) && read_link(cx, at, out);
}

/* Programs are often started in the home directory by default, and some keep it in git. */
static bool is_too_wide(const struct mr_ctx *cx, const char *root)
{
	const char *home = cx->reach ? cx->reach->home : NULL;
	size_t len = strlen(root);

	return len <= 1 ||
		(home && strncmp(home, root, len) == 0 && (home[len] == '/' || home[len] == '\0'));
}

bool mr_team_repository_around(struct mr_ctx *cx, const char *dir, struct mr_team_repository *out)
{
	char *at = mr_arena_strdup(cx->arena, dir);

	while (*at == '/' && at[1]) {
		if (is_repository(cx, at, out))
			return !is_too_wide(cx, out->root);
		*strrchr(at, '/') = '\0';
	}
	return false;
}

const char *mr_team_repository_top(struct mr_ctx *cx, const char *path)
{
	const char *there = mr_reach_seen(cx, path);
	struct mr_team_repository found;

	return there && mr_team_repository_around(cx, there, &found) ? found.top : path;
}

/* Is the path `dir`, or below it? */
static bool is_in(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	return strncmp(dir, path, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const char *mr_team_repository_path(struct mr_ctx *cx, const char *root, const char *path)
{
	struct mr_team_repository repository;
	const char *there = NULL;
	char *at;

	if (*path != '/' || !root || *root != '/' || is_in(root, path))
		return path;
	/* A pattern has wildcards, and a file need not be there: look at what is. */
	at = mr_arena_strdup(cx->arena, path);
	while (*at && !(there = mr_reach_seen(cx, at)))
		*strrchr(at, '/') = '\0';
	if (!there || !mr_team_repository_around(cx, there, &repository) ||
		!mr_str_eq(repository.root, root) || !is_in(repository.top, there))
		return path;
	return mr_arena_printf(cx->arena, "%s%s%s", root, there + strlen(repository.top),
		path + strlen(at));
}
