/* data/followed.c - Follows databases and lock files of this machine, with one inotify descriptor.
 */
#include "data/followed.h"

#include "base/arena.h"
#include "base/fs.h"
#include "base/fs_watch_dirs.h"
#include "base/oom.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum { TRIES = 3 };

struct file {
	TAILQ_ENTRY(file) link;
	char *path;
	const char *name; /* the last part of the path; while its directory is awaited, the part of
			     it that comes next */
	size_t name_len;
	int dir; /* as fs_watch_dirs names it */
	bool is_database, is_awaited;
};

struct mr_followed {
	pthread_mutex_t lock; /* guards what follows */
	struct mr_fs_watch_dirs *watch;
	TAILQ_HEAD(files, file) files; /* the newest last */
	size_t len, max;
};

enum mr_code mr_followed_open(size_t max, struct mr_followed **out, struct mr_err *err)
{
	struct mr_fs_watch_dirs *watch;
	struct mr_followed *follow;
	enum mr_code rc = mr_fs_watch_dirs_open(&watch, err);

	if (rc)
		return rc;
	follow = calloc(1, sizeof(*follow));
	if (!follow)
		mr_oom(sizeof(*follow));
	pthread_mutex_init(&follow->lock, NULL);
	TAILQ_INIT(&follow->files);
	follow->watch = watch;
	follow->max = max;
	*out = follow;
	return MR_OK;
}

/* ---- files, under the lock ---- */

static void forget(struct mr_followed *follow, struct file *file)
{
	struct file *other;
	bool is_shared = false;

	TAILQ_REMOVE(&follow->files, file, link);
	follow->len--;
	TAILQ_FOREACH(other, &follow->files, link)
	is_shared = is_shared || other->dir == file->dir;
	if (!is_shared)
		mr_fs_watch_dirs_remove(follow->watch, file->dir);
	free(file->path);
	free(file);
}

static struct file *find(struct mr_followed *follow, const char *path)
{
	struct file *file;

	TAILQ_FOREACH(file, &follow->files, link)
	if (strcmp(file->path, path) == 0)
		return file;
	return NULL;
}

/* Watch this directory for the part of the file's path that begins at `at`. */
static enum mr_code watch_at(struct mr_followed *follow, struct file *file, size_t at)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *dir = at ? mr_arena_strndup(arena, file->path, at) : ".";
	struct mr_err ignored;

	file->name = file->path + at;
	file->name_len = strcspn(file->name, "/");
	file->is_awaited = file->name[file->name_len] != '\0';
	return mr_fs_watch_dirs_add(follow->watch, dir, true, &file->dir, &ignored);
}

/* Where the part of a path begins that ends before `end`. */
static size_t begin_of(const char *path, size_t end)
{
	while (end > 0 && path[end - 1] != '/')
		end--;
	return end;
}

/* Has the directory come that the file waits for? */
static bool has_come(const struct file *file)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t len = (size_t)(file->name - file->path) + file->name_len;

	return file->is_awaited && mr_fs_exists(AT_FDCWD, mr_arena_strndup(arena, file->path, len));
}

/* Watch the directory of the file, or the nearest one above it that is there. */
static bool watch(struct mr_followed *follow, struct file *file)
{
	enum mr_code rc = MR_OK;

	/* It may come between the two calls that ask for it and for the one above. */
	for (int i = 0; i < TRIES && (i == 0 || (!rc && has_come(file))); i++) {
		size_t at = begin_of(file->path, strlen(file->path));

		while ((rc = watch_at(follow, file, at)) == MR_ENOTFOUND && at > 0)
			at = begin_of(file->path, at - 1);
	}
	return !rc;
}

void mr_followed_add(struct mr_followed *follow, const char *path, bool is_database)
{
	struct file *file;

	pthread_mutex_lock(&follow->lock);
	file = find(follow, path);
	if (file) {
		TAILQ_REMOVE(&follow->files, file, link);
		TAILQ_INSERT_TAIL(&follow->files, file, link);
		pthread_mutex_unlock(&follow->lock);
		return;
	}
	file = calloc(1, sizeof(*file));
	if (!file || !(file->path = strdup(path)))
		mr_oom(sizeof(*file));
	file->is_database = is_database;
	if (watch(follow, file)) {
		TAILQ_INSERT_TAIL(&follow->files, file, link);
		follow->len++;
		if (follow->len > follow->max)
			forget(follow, TAILQ_FIRST(&follow->files));
	} else {
		free(file->path);
		free(file);
	}
	pthread_mutex_unlock(&follow->lock);
}

/* ---- what the kernel tells ---- */

bool mr_followed_is_commit(const char *database, const char *name, unsigned what)
{
	size_t len = strlen(database);

	if (strncmp(name, database, len) != 0)
		return false;
	name += len;
	if (!*name)
		return what & (MR_FS_WATCH_ARRIVED | MR_FS_WATCH_TOUCHED);
	if (strcmp(name, "-journal") == 0)
		return what & (MR_FS_WATCH_REMOVED | MR_FS_WATCH_CLOSED);
	return strcmp(name, "-wal") == 0 && (what & MR_FS_WATCH_WRITTEN);
}

static bool is_change(const struct file *file, const char *name, unsigned what)
{
	if (file->is_awaited)
		return (what & MR_FS_WATCH_ARRIVED) && strlen(name) == file->name_len &&
			strncmp(name, file->name, file->name_len) == 0;
	if (file->is_database)
		return mr_followed_is_commit(file->name, name, what);
	return (what & MR_FS_WATCH_CLOSED) && strcmp(name, file->name) == 0;
}

struct draining {
	struct mr_followed *follow;
	bool changed;
};

static void on_told(void *arg, int dir, const char *name, unsigned what)
{
	struct draining *draining = arg;
	struct file *file, *next;

	for (file = TAILQ_FIRST(&draining->follow->files); file; file = next) {
		bool is_lost = (dir == 0 || dir == file->dir) && (what & MR_FS_WATCH_LOST);
		bool is_changed = dir == file->dir && is_change(file, name, what);

		next = TAILQ_NEXT(file, link);
		draining->changed = draining->changed || is_lost || is_changed;
		/* Whoever reads it again adds it again, where it is then. */
		if ((is_lost && dir) || (is_changed && file->is_awaited))
			forget(draining->follow, file);
	}
}

bool mr_followed_drain(struct mr_followed *follow)
{
	struct draining draining = { .follow = follow };

	pthread_mutex_lock(&follow->lock);
	mr_fs_watch_dirs_drain(follow->watch, on_told, &draining);
	pthread_mutex_unlock(&follow->lock);
	return draining.changed;
}

int mr_followed_fd(const struct mr_followed *follow)
{
	return mr_fs_watch_dirs_fd(follow->watch);
}

void mr_followed_close(struct mr_followed **follow)
{
	if (!*follow)
		return;
	while (!TAILQ_EMPTY(&(*follow)->files))
		forget(*follow, TAILQ_FIRST(&(*follow)->files));
	mr_fs_watch_dirs_close(&(*follow)->watch);
	pthread_mutex_destroy(&(*follow)->lock);
	free(*follow);
	*follow = NULL;
}
