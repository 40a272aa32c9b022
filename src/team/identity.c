/*
 * team/identity.c - Derives a project's identity from its directory, or from the remote, top level
 * or common directory of its git repository.
 */
#include "team/identity.h"

#include "base/proc.h"
#include "base/reach.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/repository.h"
#include "text/digest.h"
#include "text/token.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GIT_TIMEOUT_MS = 5000, GIT_OUTPUT = 8192, DIGITS = 10 };

/* Of "user:password@host:port" the host. */
static const char *host_of(struct mr_arena *arena, const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len);
	const char *host = at ? at + 1 : text;

	host = mr_arena_strndup(arena, host, len - (size_t)(host - text));
	return mr_str_lower(arena, mr_arena_strndup(arena, host, strcspn(host, ":")));
}

/* "git@host:owner/repo.git" and "ssh://git@host:22/owner/repo" name the same as "https://...". */
const char *mr_team_identity_normalise(struct mr_arena *arena, const char *url)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://" };
	const char *host, *rest = NULL;
	struct mr_texts parts;
	char *path;

	for (size_t i = 0; i < MR_LEN(schemes); i++) {
		if (mr_str_starts(url, schemes[i]))
			rest = url + strlen(schemes[i]);
	}
	if (rest) {
		host = host_of(arena, rest, strcspn(rest, "/"));
		path = mr_arena_strdup(arena, rest + strcspn(rest, "/"));
	} else {
		size_t colon = strcspn(url, ":/");

		if (url[colon] != ':' || !memchr(url, '@', colon))
			return NULL; /* a path of this machine, or something else */
		host = host_of(arena, url, colon);
		path = mr_arena_strdup(arena, url + colon + 1);
	}
	while (mr_str_ends(path, "/"))
		path[strlen(path) - 1] = '\0';
	if (mr_str_ends(path, ".git"))
		path[strlen(path) - strlen(".git")] = '\0';
	parts = mr_str_split(arena, path, '/');
	if (!*host || parts.len < 2)
		return NULL;
	return mr_arena_printf(arena, "%s/%s", host, mr_str_join(arena, &parts, "/"));
}

/* Our environment without git's variables: in a hook they would name another repository. */
static const char *const *environment(struct mr_arena *arena)
{
	const char **kept;
	size_t len = 0;

	while (environ[len])
		len++;
	kept = mr_arena_array(arena, len + 1, sizeof(*kept));
	len = 0;
	for (size_t i = 0; environ[i]; i++) {
		if (!mr_str_starts(environ[i], "GIT_"))
			kept[len++] = environ[i];
	}
	return kept;
}

/* The first line git says, or NULL. */
static const char *ask_git(struct mr_ctx *cx, const char *directory, const char *const *words)
{
	const char *argv[10] = { "git", "-C", directory };
	struct mr_proc proc = { .argv = argv,
		.env = environment(cx->arena),
		.timeout_ms = GIT_TIMEOUT_MS,
		.max_output = GIT_OUTPUT };
	struct mr_proc_result result;
	struct mr_err ignored = { 0 };
	const char *line;

	for (size_t i = 0; words[i]; i++)
		argv[3 + i] = words[i];
	if (mr_proc_run(cx->arena, &proc, &result, &ignored) || result.timed_out ||
		result.exit_status != 0 || result.truncated)
		return NULL;
	line = (const char *)result.out.data;
	line = mr_arena_strndup(cx->arena, line, strcspn(line, "\n"));
	return *line ? line : NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *named(struct mr_ctx *cx, const char *name, const char *whole)
{
	return mr_arena_printf(cx->arena, "%s-%.*s",
		mr_token_slug(cx->arena, name, MR_TEAM_KEY_BYTES - 1 - DIGITS, "repo"), DIGITS,
		mr_digest_sha1(cx->arena, mr_bytes_text(whole)));
}

static const char *real_path(struct mr_ctx *cx, const char *path)
{
	char *real = realpath(path, NULL);
	const char *kept = mr_arena_strdup(cx->arena, real);

	free(real);
	return kept;
}

static const char *of_remote(struct mr_ctx *cx, const char *key, const char *remote)
{
	/* A name that looks like an option is not a remote's. */
	const char *const words[] = { "remote", "get-url", "--", remote, NULL };
	const char *url = ask_git(cx, key, words);
	const char *normal = url ? mr_team_identity_normalise(cx->arena, url) : NULL;

	return normal ? named(cx, last_part(normal), normal) : NULL;
}

static const char *of_toplevel(struct mr_ctx *cx, const char *key)
{
	const char *const words[] = { "rev-parse", "--show-toplevel", NULL };
	const char *top = ask_git(cx, key, words);
	const char *real = top ? real_path(cx, top) : NULL;

	return real ? named(cx, last_part(real), real) : NULL;
}

static const char *of_common_dir(struct mr_ctx *cx, const char *key)
{
	const char *const words[] = { "rev-parse", "--path-format=absolute", "--git-common-dir",
		NULL };
	const char *dir = ask_git(cx, key, words);
	const char *real = dir ? real_path(cx, dir) : NULL;

	return real ? named(cx, "repo", real) : NULL;
}

#define GIVEN "the path is taken as it was given"

/* The repository's path where there is one that fits into a key. */
static void by_repository(struct mr_ctx *cx, const char *key, const char *there,
	struct mr_team_identity *out)
{
	struct mr_team_repository found;

	out->why = GIVEN ": no git repository is seen there (a server looks only below "
			 "PROJECT_ROOTS)";
	if (!there || !mr_team_repository_around(cx, there, &found) ||
		strlen(found.root) > MR_TEAM_KEY_BYTES)
		return;
	out->key = found.root;
	if (found.is_worktree)
		out->why = mr_arena_printf(cx->arena, "%s is in a worktree of the repository %s",
			key, found.root);
	else if (mr_str_eq(found.root, there) && mr_str_eq(there, key))
		out->why = "it is the root of a git repository";
	else if (mr_str_eq(found.root, there))
		out->why = mr_arena_printf(cx->arena, "%s leads to the repository %s", key,
			found.root);
	else
		out->why =
			mr_arena_printf(cx->arena, "%s is in the repository %s", key, found.root);
}

/* The slug that a git mode gives, or NULL. */
static enum mr_code by_git(struct mr_ctx *cx, const char *key, const char *there, const char *mode,
	const char *remote, const char **out)
{
	*out = NULL;
	if (mr_str_eq(mode, MR_TEAM_IDENTITY_REMOTE))
		*out = there ? of_remote(cx, key, remote) : NULL;
	else if (mr_str_eq(mode, MR_TEAM_IDENTITY_TOPLEVEL))
		*out = there ? of_toplevel(cx, key) : NULL;
	else if (mr_str_eq(mode, MR_TEAM_IDENTITY_COMMON_DIR))
		*out = there ? of_common_dir(cx, key) : NULL;
	else if (!mr_str_eq(mode, MR_TEAM_IDENTITY_DIR))
		return mr_team_refuse(cx, "identity_mode",
			"\"%s\" is no identity mode: repository, dir, git-remote, git-toplevel or "
			"git-common-dir",
			mode);
	return MR_OK;
}

enum mr_code mr_team_identity(struct mr_ctx *cx, const char *key, const char *mode,
	const char *remote, struct mr_team_identity *out)
{
	struct mr_team_identity found = { .key = key, .mode = MR_TEAM_IDENTITY_DIR, .why = GIVEN };
	const char *slug = NULL, *there = NULL;
	enum mr_code rc = MR_OK;

	/* Nothing is looked for in directories that the caller may not name. */
	if (mr_str_eq(mode, MR_TEAM_IDENTITY_REPOSITORY)) {
		by_repository(cx, key, mr_reach_seen(cx, key), &found);
	} else {
		if (!mr_str_eq(mode, MR_TEAM_IDENTITY_DIR))
			rc = mr_reach_dir(cx, key, &there);
		if (!rc)
			rc = by_git(cx, key, there, mode, remote, &slug);
	}
	if (rc)
		return rc;
	if (slug) {
		found.mode = mode;
		found.why = mr_arena_printf(cx->arena, "identity mode %s", mode);
	}
	found.slug =
		slug ? slug : mr_token_slug(cx->arena, found.key, MR_TEAM_KEY_BYTES, "project");
	*out = found;
	return MR_OK;
}
