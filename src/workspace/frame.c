/* workspace/frame.c - finds, locks and opens a workspace; reads its files and writes projections.
 */
#include "workspace/frame.h"

#include "data/db.h"
#include "text/json.h"
#include "text/time.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	RESUME_US = 60 * 1000 * 1000,
	RESUME_PAUSE_NS = 5 * 1000 * 1000,
};

static bool holds_workspace(struct mr_arena *arena, const char *path)
{
	struct stat st;

	return stat(mr_work_join(arena, path, MR_WORK_STATE), &st) == 0 && S_ISDIR(st.st_mode);
}

enum mr_code mr_work_find(struct mr_ctx *cx, const char *from, const char **out_root)
{
	char *path = mr_arena_strdup(cx->arena, from);

	for (;;) {
		char *slash;

		if (holds_workspace(cx->arena, path)) {
			*out_root = *path ? path : "/";
			return MR_OK;
		}
		slash = strrchr(path, '/');
		if (!slash || !*path)
			break;
		*slash = '\0';
	}
	return mr_work_refuse(cx, MR_WORK_WORKSPACE_NOT_FOUND,
		"neither %s nor a directory above it has a workspace", from);
}

/* A reader opens the lock file for reading: when it closes it, nobody is told of a change. */
static int open_lock(const struct mr_work *work)
{
	int fd = -1;

	if (work->access == MR_WORK_READ)
		fd = openat(work->dir, MR_WORK_LOCK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (work->access == MR_WORK_READ && (fd >= 0 || errno != ENOENT))
		return fd;
	return openat(work->dir, MR_WORK_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
}

/* flock(2), and at once or not at all; other programs hold the same lock the same way. */
static enum mr_code take_lock(struct mr_ctx *cx, struct mr_work *work)
{
	int got;

	work->lock = open_lock(work);
	if (work->lock < 0 && work->access == MR_WORK_READ && (errno == EROFS || errno == EACCES))
		return MR_OK; /* we cannot write here, and cannot see who does */
	if (work->lock < 0) {
		mr_err_os(&cx->err, errno, "cannot open %s/%s", work->root, MR_WORK_LOCK);
		return mr_work_store_error(cx);
	}
	do
		got = flock(work->lock,
			(work->access == MR_WORK_WRITE ? LOCK_EX : LOCK_SH) | LOCK_NB);
	while (got != 0 && errno == EINTR);
	if (got == 0)
		return MR_OK;
	if (errno == EWOULDBLOCK)
		return mr_work_refuse(cx, MR_WORK_WORKSPACE_LOCKED,
			"the workspace %s is in use by another command", work->root);
	mr_err_os(&cx->err, errno, "cannot lock %s/%s", work->root, MR_WORK_LOCK);
	return mr_work_store_error(cx);
}

/* Put the lock file's time forward, so that a command that rests sees that there was a writer. */
static void mark_written(struct mr_work *work)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct stat st;

	if (work->access != MR_WORK_WRITE || fstat(work->lock, &st) != 0)
		return;
	clock_gettime(CLOCK_REALTIME, &times[1]);
	if (times[1].tv_sec < st.st_mtim.tv_sec ||
		(times[1].tv_sec == st.st_mtim.tv_sec && times[1].tv_nsec <= st.st_mtim.tv_nsec)) {
		times[1] = st.st_mtim;
		times[1].tv_nsec = times[1].tv_nsec < 999999999 ? times[1].tv_nsec + 1 : 0;
		times[1].tv_sec += times[1].tv_nsec == 0;
	}
	if (futimens(work->lock, times) == 0 && fstat(work->lock, &st) == 0)
		work->written = st.st_mtim;
}

/* Whoever follows the workspace looks when a writer closes the lock file (data/followed.h): one
 * that rests does so without giving up its own. */
static void tell_followers(const struct mr_work *work)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;

	if (work->access == MR_WORK_WRITE)
		fd = openat(work->dir, MR_WORK_LOCK, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
}

void mr_work_rest(struct mr_work *work)
{
	if (work->is_resting || work->lock < 0)
		return;
	(void)flock(work->lock, LOCK_UN);
	work->is_resting = true;
	tell_followers(work);
}

/* Forget what was loaded; what was allocated for it goes with the command's arena. */
static void forget(struct mr_work *work)
{
	mr_arena_freep(&work->holds_arena);
	mr_db_closep(&work->index);
	work->config = NULL;
	work->queue = NULL;
	work->templates = NULL;
	work->contacts = NULL;
	work->suggestions = NULL;
	work->holds = NULL;
	work->unsearched = NULL;
}

enum mr_code mr_work_resume(struct mr_ctx *cx, struct mr_work *work, bool *out_changed)
{
	int64_t deadline = mr_clock_mono_us(cx->clock) + RESUME_US;
	bool changed = false;
	struct stat st;

	if (out_changed)
		*out_changed = false;
	if (!work->is_resting)
		return MR_OK;
	/* Whoever takes the lock does not wait for it, so nobody can be waited for: look again. */
	while (flock(work->lock, LOCK_EX | LOCK_NB) != 0) {
		const struct timespec pause = { .tv_nsec = RESUME_PAUSE_NS };

		if (errno != EWOULDBLOCK && errno != EINTR) {
			mr_err_os(&cx->err, errno, "cannot lock %s/%s", work->root, MR_WORK_LOCK);
			return mr_work_store_error(cx);
		}
		if (mr_clock_mono_us(cx->clock) > deadline)
			return mr_work_refuse(cx, MR_WORK_WORKSPACE_LOCKED,
				"the workspace %s is in use by another command", work->root);
		nanosleep(&pause, NULL);
	}
	work->is_resting = false;
	changed = fstat(work->lock, &st) != 0 || st.st_mtim.tv_sec != work->written.tv_sec ||
		st.st_mtim.tv_nsec != work->written.tv_nsec;
	if (changed)
		forget(work);
	mark_written(work);
	if (out_changed)
		*out_changed = changed;
	return MR_OK;
}

void mr_work_set_now(struct mr_ctx *cx, struct mr_work *work)
{
	work->now_us = mr_clock_wall_us(cx->clock) / MR_TIME_S * MR_TIME_S;
	work->now = mr_time_format(cx->arena, work->now_us, MR_TIME_SECONDS);
}

enum mr_code mr_work_open(struct mr_ctx *cx, const char *root, enum mr_work_access access,
	struct mr_work **out)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc;

	work = mr_arena_alloc(cx->arena, sizeof(*work));
	*work = (struct mr_work){ .dir = -1, .lock = -1, .access = access };
	work->root = mr_arena_strdup(cx->arena, root);
	mr_work_set_now(cx, work);
	mr_ctx_reads(cx, mr_work_join(cx->arena, root, MR_WORK_LOCK), false);
	rc = mr_fs_open_dir(AT_FDCWD, root, &work->dir, &cx->err);
	if (rc && rc != MR_ENOTFOUND)
		return mr_work_store_error(cx);
	if (rc || !mr_work_is_dir(work, MR_WORK_STATE))
		return mr_work_refuse(cx, MR_WORK_WORKSPACE_NOT_FOUND,
			"%s is not a workspace: it has no directory %s", root, MR_WORK_STATE);
	if (access != MR_WORK_UNLOCKED) {
		rc = take_lock(cx, work);
		if (rc)
			return rc;
		mark_written(work);
	}
	*out = work;
	work = NULL;
	return MR_OK;
}

void mr_work_close(struct mr_work *work)
{
	if (!work)
		return;
	mr_arena_freep(&work->holds_arena);
	mr_db_closep(&work->index);
	if (work->index_aside)
		unlink(work->index_aside);
	work->index_aside = NULL;
	mr_fs_closep(&work->lock);
	mr_fs_closep(&work->dir);
}

void mr_work_closep(struct mr_work **work)
{
	mr_work_close(*work);
	*work = NULL;
}

enum mr_code mr_work_read(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes *out)
{
	return mr_fs_read(cx->arena, work->dir, path, MR_WORK_DOCUMENT_BYTES, out, &cx->err)
		? mr_work_store_error(cx)
		: MR_OK;
}

enum mr_code mr_work_read_opt(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes *out)
{
	struct mr_err err = { 0 };
	enum mr_code rc = mr_fs_read(cx->arena, work->dir, path, MR_WORK_DOCUMENT_BYTES, out, &err);

	if (rc == MR_ENOTFOUND) {
		*out = (struct mr_bytes){ 0 };
		return MR_OK;
	}
	if (!rc)
		return MR_OK;
	cx->err = err;
	return mr_work_store_error(cx);
}

enum mr_code mr_work_read_json(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const struct mr_value **out)
{
	static const struct mr_json_limits limits = { .max_bytes = MR_WORK_DOCUMENT_BYTES,
		.max_depth = 64,
		.max_nodes = 8 << 20 };
	struct mr_bytes bytes;
	enum mr_code rc = mr_work_read_opt(cx, work, path, &bytes);

	*out = NULL;
	if (rc || !bytes.data)
		return rc;
	if (mr_json_parse(cx->arena, bytes, &limits, out, &cx->err)) {
		mr_err_wrap(&cx->err, "%s", path);
		return mr_work_store_error(cx);
	}
	return MR_OK;
}

enum mr_code mr_work_list(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_texts *out)
{
	struct mr_err err = { 0 };
	enum mr_code rc = mr_fs_list(cx->arena, work->dir, path, MR_WORK_LIST_MAX, out, &err);

	if (rc == MR_ENOTFOUND) {
		*out = (struct mr_texts){ 0 };
		return MR_OK;
	}
	if (!rc)
		return MR_OK;
	cx->err = err;
	return mr_work_store_error(cx);
}

bool mr_work_is_dir(struct mr_work *work, const char *path)
{
	struct stat st;

	return fstatat(work->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static enum mr_code make_parent(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return MR_OK;
	if (mr_fs_make_dirs(work->dir, mr_arena_strndup(cx->arena, path, (size_t)(slash - path)),
		    0755, &cx->err))
		return mr_work_store_error(cx);
	return MR_OK;
}

/* A projection that would change. */
static void note(struct mr_arena *arena, struct mr_texts *paths, size_t *cap, const char *path)
{
	if (paths->len == *cap) {
		const char **items;

		*cap = *cap ? *cap * 2 : 64;
		items = mr_arena_array(arena, *cap, sizeof(*items));
		if (paths->len)
			memcpy(items, paths->items, paths->len * sizeof(*items));
		paths->items = items;
	}
	paths->items[paths->len++] = mr_arena_strdup(arena, path);
}

/* The staged file of a command that was killed goes with all that is left in its directory. */
static const char STAGED_PROJECTION[] = MR_WORK_INCOMING "/projection";

static enum mr_code place_projection(struct mr_work *work, const char *path, struct mr_bytes bytes,
	struct mr_err *err)
{
	enum mr_code rc = mr_fs_write_bare(work->dir, STAGED_PROJECTION, bytes, false, 0644, err);

	return rc ? rc : mr_fs_place(work->dir, STAGED_PROJECTION, path, MR_FS_REPLACE, err);
}

enum mr_code mr_work_project(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes bytes, bool *out_written)
{
	struct mr_err ignored = { 0 };
	struct mr_bytes old = { 0 };
	struct stat st;
	enum mr_code rc;

	if (out_written)
		*out_written = false;
	if (fstatat(work->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		(size_t)st.st_size == bytes.len &&
		!mr_fs_read(cx->arena, work->dir, path, bytes.len, &old, &ignored) &&
		old.len == bytes.len && (!old.len || memcmp(old.data, bytes.data, old.len) == 0))
		return MR_OK;
	if (out_written)
		*out_written = true;
	if (work->survey) {
		note(work->survey->arena, &work->survey->written, &work->survey->written_cap, path);
		return MR_OK;
	}
	/* It can be made again: readers never see half of it, but nobody waits for the disk. */
	if (!place_projection(work, path, bytes, &ignored))
		return MR_OK;
	rc = make_parent(cx, work, STAGED_PROJECTION);
	if (!rc)
		rc = make_parent(cx, work, path);
	if (!rc && place_projection(work, path, bytes, &cx->err))
		rc = mr_work_store_error(cx);
	return rc;
}

enum mr_code mr_work_unproject(struct mr_ctx *cx, struct mr_work *work, const char *path,
	bool *out_removed)
{
	if (out_removed)
		*out_removed = false;
	if (work->survey) {
		bool is_there = mr_fs_exists(work->dir, path);

		if (is_there)
			note(work->survey->arena, &work->survey->removed,
				&work->survey->removed_cap, path);
		if (out_removed)
			*out_removed = is_there;
		return MR_OK;
	}
	if (unlinkat(work->dir, path, 0) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return MR_OK;
		mr_err_os(&cx->err, errno, "cannot remove %s", path);
		return mr_work_store_error(cx);
	}
	if (out_removed)
		*out_removed = true;
	return MR_OK;
}

struct mr_bytes mr_work_pretty(struct mr_ctx *cx, const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;

	mr_buf_init(&buf, MR_WORK_DOCUMENT_BYTES);
	mr_json_init(&writer, &buf, MR_JSON_INDENTED);
	mr_json_value(&writer, value);
	mr_buf_putc(&buf, '\n');
	if (buf.failed)
		return (struct mr_bytes){ 0 };
	return mr_bytes_of(mr_arena_memdup(cx->arena, mr_buf_text(&buf), buf.len), buf.len);
}
