/* team/attachment_source.c - which files may be attached, and reading them. */
#include "base/fs.h"
#include "base/reach.h"
#include "team/attachment_private.h"
#include "team/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void freep(char **text)
{
	free(*text);
}

/* Without links, in the arena; NULL with errno when there is nothing. */
static const char *real_path(struct mr_ctx *cx, const char *path)
{
	char *real MR_CLEANUP(freep) = realpath(path, NULL);

	return real ? mr_arena_strdup(cx->arena, real) : NULL;
}

static const char *real_dir(struct mr_ctx *cx, const char *path)
{
	const char *real = path[0] == '/' ? real_path(cx, path) : NULL;
	struct stat st;

	/* The root directory would allow everything, so it is no source. */
	if (!real || mr_str_eq(real, "/"))
		return NULL;
	return stat(real, &st) == 0 && S_ISDIR(st.st_mode) ? real : NULL;
}

/* The rest of `path` below `dir`, or NULL when it is not below it. */
static const char *below(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	if (strncmp(dir, path, len) != 0 || path[len] != '/')
		return NULL;
	return path + len + 1;
}

enum mr_code mr_team_sources_find(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, struct mr_team_sources *out)
{
	const struct mr_team_config *config = mr_team_config(team);
	const struct mr_texts *roots = &config->attachment_roots;
	const char **dirs = mr_arena_array(cx->arena, roots->len + 3, sizeof(*dirs));
	const char *workspace = NULL;
	enum mr_code rc = mr_reach_dir(cx, project->human_key, &workspace);
	size_t len = 0;

	if (rc)
		return rc;
	*out = (struct mr_team_sources){
		.storage = real_path(cx, config->storage_root),
		.database = real_path(cx, config->database),
		.archive = real_path(cx,
			mr_team_layout_project(cx->arena, config->storage_root, project->slug)),
	};
	if (workspace)
		dirs[len++] = workspace;
	if (out->archive)
		dirs[len++] = out->archive;
	for (size_t i = 0; i < roots->len; i++) {
		const char *root = real_dir(cx, roots->items[i]);

		if (root)
			dirs[len++] = root;
	}
	out->dirs = (struct mr_texts){ dirs, len };
	return MR_OK;
}

/* .git may hold credentials, and content that was deleted from the files. */
static bool is_in_git(const char *real)
{
	const char *at = strstr(real, "/.git");

	while (at && at[5] != '/' && at[5] != '\0')
		at = strstr(at + 5, "/.git");
	return at != NULL;
}

/* The mail of all projects, and what SQLite keeps beside it. */
static bool is_database(const char *database, const char *real)
{
	size_t len = strlen(database);

	return strncmp(real, database, len) == 0 && (real[len] == '\0' || real[len] == '-');
}

/* A workspace may contain the storage. Other projects' mail must not be read that way, nor any
 * repository in it; and of the project's own archive, which holds all its agents' mail, callers
 * other than the command line may read only former attachments. */
static bool is_private(const struct mr_ctx *cx, const struct mr_team_sources *sources,
	const char *real)
{
	const char *own;

	if (is_in_git(real) || (sources->database && is_database(sources->database, real)))
		return true;
	if (!sources->storage || !below(sources->storage, real))
		return false;
	own = sources->archive ? below(sources->archive, real) : NULL;
	if (!own || own[0] == '.' || strstr(own, "/."))
		return true;
	return cx->reach && !mr_team_layout_is_attachment(own);
}

static enum mr_code outside(struct mr_ctx *cx, const char *name)
{
	return mr_err_set(&cx->err, MR_EPERM,
		"%s lies outside the project's directory and those that ATTACHMENT_ROOTS names",
		name);
}

/* `real` is allowed. A link that has replaced one of its directories since is not followed. */
static enum mr_code read_real(struct mr_ctx *cx, const char *real, const char *name, size_t max,
	struct mr_bytes *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_real(real, O_RDONLY, &fd, &cx->err);
	struct stat st;

	if (rc)
		return rc;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return mr_err_set(&cx->err, MR_EINVAL, "%s is no file", name);
	if (st.st_size > (off_t)max)
		return mr_err_set(&cx->err, MR_ELIMIT, "%s has %lld bytes; at most %zu are taken",
			name, (long long)st.st_size, max);
	rc = mr_fs_read_fd(cx->arena, fd, max, out, &cx->err);
	return rc ? mr_err_wrap(&cx->err, "%s", name) : MR_OK;
}

/* The file of this name without links: in the first directory that has one. */
static const char *resolve(struct mr_ctx *cx, const struct mr_team_sources *sources,
	const char *name, int *out_errno)
{
	const char *real = NULL;

	*out_errno = ENOENT;
	if (name[0] == '/') {
		real = real_path(cx, name);
		*out_errno = errno;
		return real;
	}
	for (size_t i = 0; i < sources->dirs.len && !real; i++) {
		real = real_path(cx,
			mr_arena_printf(cx->arena, "%s/%s", sources->dirs.items[i], name));
		if (!real && errno != ENOENT && errno != ENOTDIR)
			*out_errno = errno;
	}
	return real;
}

static enum mr_code read_named(struct mr_ctx *cx, const struct mr_team_sources *sources,
	const char *name, size_t max, struct mr_bytes *out)
{
	int number;
	const char *real = resolve(cx, sources, name, &number);

	if (!real && (number == ENOENT || number == ENOTDIR || number == ENAMETOOLONG))
		return mr_err_set(&cx->err, MR_ENOTFOUND, "there is no file %s", name);
	if (!real)
		return mr_err_set(&cx->err, MR_EPERM, "%s cannot be read: %s", name,
			strerror(number));
	if (is_private(cx, sources, real))
		return outside(cx, name);
	for (size_t i = 0; i < sources->dirs.len; i++) {
		const char *rest = below(sources->dirs.items[i], real);

		if (rest && *rest)
			return read_real(cx, real, name, max, out);
		if (mr_str_eq(sources->dirs.items[i], real))
			return mr_err_set(&cx->err, MR_EINVAL, "%s is no file", name);
	}
	return outside(cx, name);
}

enum mr_code mr_team_source_read(struct mr_ctx *cx, const struct mr_team_sources *sources,
	const char *name, size_t max, struct mr_bytes *out)
{
	enum mr_code rc = read_named(cx, sources, name, max, out);

	if (!rc || rc == MR_ELIMIT || !cx->reach)
		return rc;
	return mr_err_set(&cx->err, MR_ENOTFOUND,
		"%s is no file that may be attached here: files are taken from the project's "
		"directory when the owner of the server (PROJECT_ROOTS), or the client that "
		"started it, allows that, and from ATTACHMENT_ROOTS",
		name);
}
