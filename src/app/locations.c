/*
 * app/locations.c - Finds the running program, the project directory, a client's configuration
 * files, the user's state directory and the server's URL.
 */
#include "app/locations.h"

#include "app/settings.h"
#include "base/fs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *mr_locations_in_path(struct mr_arena *arena, const char *program)
{
	const char *path = getenv("PATH");
	struct mr_texts dirs = mr_str_split(arena, path ? path : "", ':');

	for (size_t i = 0; i < dirs.len; i++) {
		const char *file = mr_arena_printf(arena, "%s/%s", dirs.items[i], program);

		if (access(file, X_OK) == 0)
			return file;
	}
	return NULL;
}

const char *mr_locations_program(struct mr_arena *arena)
{
	return mr_locations_in_path(arena, "mailroom") ? "mailroom"
						       : mr_locations_program_file(arena);
}

const char *mr_locations_program_file(struct mr_arena *arena)
{
	static const char gone[] = " (deleted)";
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self));

	if (len <= 0)
		return "mailroom";
	/* The program file was replaced by a newer one while it ran. */
	if ((size_t)len > strlen(gone) &&
		memcmp(self + len - strlen(gone), gone, strlen(gone)) == 0)
		len -= (ssize_t)strlen(gone);
	return mr_arena_strndup(arena, self, (size_t)len);
}

static const char *working_directory(struct mr_arena *arena)
{
	char cwd[PATH_MAX];

	return getcwd(cwd, sizeof(cwd)) ? mr_arena_strdup(arena, cwd) : ".";
}

const char *mr_locations_absolute(struct mr_arena *arena, const char *path)
{
	return *path == '/' ? mr_arena_strdup(arena, path)
			    : mr_arena_printf(arena, "%s/%s", working_directory(arena), path);
}

/* The nearest directory from `path` upwards that has a .git, or NULL. */
static const char *find_repository(struct mr_arena *arena, const char *path)
{
	char *at = mr_arena_strdup(arena, path);

	for (;;) {
		char *slash = strrchr(at, '/');

		if (mr_fs_exists(AT_FDCWD, mr_arena_printf(arena, "%s/.git", at)))
			return *at ? at : "/";
		if (!slash)
			return NULL;
		*slash = '\0';
	}
}

static const char *real_path(struct mr_arena *arena, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? mr_arena_strdup(arena, real) : NULL;
}

enum mr_code mr_locations_project(struct mr_arena *arena, const char *path, const char **out,
	struct mr_err *err)
{
	const char *real = real_path(arena, path ? path : ".");
	const char *repository;
	struct stat st;

	if (!real)
		return mr_err_os(err, errno, "%s", path ? path : "the working directory");
	if (stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
		return mr_err_set(err, MR_EINVAL, "%s is not a directory", real);
	repository = path ? NULL : find_repository(arena, real);
	*out = repository ? repository : real;
	return MR_OK;
}

static bool is_inside(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* $CODEX_HOME stands for ~/.codex. */
static const char *home_file(struct mr_arena *arena, const char *path)
{
	const char *codex = getenv("CODEX_HOME"), *home = getenv("HOME");

	if (!mr_str_is_empty(codex) && mr_str_starts(path, ".codex/"))
		return mr_arena_printf(arena, "%s%s", codex, path + strlen(".codex"));
	return mr_str_is_empty(home) ? NULL : mr_arena_printf(arena, "%s/%s", home, path);
}

enum mr_code mr_locations_file(struct mr_arena *arena, const char *project,
	const struct mr_client_file *file, const char **out, struct mr_err *err)
{
	const char *path = file->is_in_home ? home_file(arena, file->path)
					    : mr_arena_printf(arena, "%s/%s", project, file->path);
	const char *real, *parent, *slash;

	if (!path)
		return mr_err_set(err, MR_ENOTFOUND, "HOME is not set: where is ~/%s to be found?",
			file->path);
	path = mr_locations_absolute(arena, path);
	slash = strrchr(path, '/');
	parent = real_path(arena, mr_arena_strndup(arena, path, (size_t)(slash - path)));
	if (parent)
		path = mr_arena_printf(arena, "%s%s", parent, slash);
	real = real_path(arena, path);
	if (!real && mr_fs_exists(AT_FDCWD, path))
		return mr_err_set(err, MR_ENOTFOUND, "%s is a link that leads nowhere", path);
	if (!file->is_in_home && !is_inside(real ? real : path, project))
		return mr_err_set(err, MR_EPERM, "%s/%s is a link that leads out of the project",
			project, file->path);
	*out = real ? real : path;
	return MR_OK;
}

enum mr_code mr_locations_state(struct mr_arena *arena, const char **out, struct mr_err *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	/* A relative one is to be ignored, says the XDG specification. */
	if (state && *state == '/')
		*out = mr_arena_printf(arena, "%s/mailroom", state);
	else if (!mr_str_is_empty(home))
		*out = mr_arena_printf(arena, "%s/.local/state/mailroom", home);
	else
		return mr_err_set(err, MR_ENOTFOUND,
			"HOME is not set: where is what files said before to be kept? Set HOME, or "
			"XDG_STATE_HOME");
	return MR_OK;
}

const char *mr_locations_server(struct mr_arena *arena, const struct mr_settings *settings)
{
	const char *host = mr_settings_text(settings, "http.host");

	if (mr_str_eq(host, "0.0.0.0") || mr_str_eq(host, "::"))
		host = "127.0.0.1";
	return mr_arena_printf(arena, strchr(host, ':') ? "http://[%s]:%lld" : "http://%s:%lld",
		host, (long long)mr_settings_int(settings, "http.port"));
}

const char *mr_locations_url(struct mr_arena *arena, const struct mr_settings *settings)
{
	return mr_arena_printf(arena, "%s/mcp", mr_locations_server(arena, settings));
}
