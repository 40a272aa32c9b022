/* data/history_work.c - the work tree, the note of how far it is, and git's lock files. */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	STATE_BYTES = 4096,
	GITLOCK_MS = 10000, /* git itself holds these for moments */
	GITLOCK_STEP_MS = 5,
};

static const char FILE_TEMP[] = "file.tmp";
static const char STATE_TEMP[] = "state.tmp";
static const char BOOT_ID[] = "/proc/sys/kernel/random/boot_id";

/* --- files --- */

static int write_all(int fd, struct mr_bytes data)
{
	while (data.len > 0) {
		ssize_t n = write(fd, data.data, data.len);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			data.data += n;
			data.len -= (size_t)n;
		}
	}
	return 0;
}

enum mr_code mr_history_temp_write(struct mr_history *history, const char *name,
	struct mr_bytes data, mode_t mode, bool sync, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	int fail = mr_crash_fail("history.temp.write");

	fd = openat(history->own_dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		mode);
	if (fd < 0)
		return mr_err_os(err, errno, "cannot create %s/.git/mailroom/%s", history->path,
			name);
	errno = fail;
	if (fail || write_all(fd, data) != 0 || (sync && fsync(fd) != 0))
		return mr_err_os(err, errno, "cannot write %s/.git/mailroom/%s", history->path,
			name);
	return MR_OK;
}

void mr_history_work_open(struct mr_history_work *work, struct mr_history *history)
{
	*work = (struct mr_history_work){ .history = history, .dir = -1 };
}

void mr_history_work_close(struct mr_history_work *work)
{
	mr_fs_closep(&work->dir);
}

/* Open one directory more, making it when `make`; links are not followed. -1 with errno. */
static int step_into(int dir, const char *name, bool make)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Open the directory `path` stands in and set `*out_name` to its name there. MR_ENOTFOUND when
 * there is none and `make` is false.
 */
static enum mr_code enter(struct mr_history_work *work, const char *path, bool make,
	const char **out_name, struct mr_err *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char part[MR_HISTORY_NAME_BYTES + 1];

	*out_name = slash ? slash + 1 : path;
	if (work->dir >= 0 && strncmp(work->dir_path, path, len) == 0 &&
		work->dir_path[len] == '\0')
		return MR_OK;
	mr_fs_closep(&work->dir);
	work->dir = fcntl(work->history->work_dir, F_DUPFD_CLOEXEC, 0);
	if (work->dir < 0)
		return mr_err_os(err, errno, "cannot open %s", work->history->path);
	for (size_t at = 0; at < len;) {
		size_t part_len = strcspn(path + at, "/");
		int fd;

		snprintf(part, sizeof(part), "%.*s", (int)part_len, path + at);
		fd = step_into(work->dir, part, make);
		if (fd < 0) {
			int number = errno;

			mr_fs_closep(&work->dir);
			if (number == ENOTDIR || number == ELOOP)
				return mr_err_set(err, MR_ECONFLICT,
					"%s/%.*s is in the way of a directory: move it away",
					work->history->path, (int)(at + part_len), path);
			return mr_err_os(err, number, "cannot open %s/%.*s", work->history->path,
				(int)(at + part_len), path);
		}
		mr_fs_closep(&work->dir);
		work->dir = fd;
		at += part_len + 1;
	}
	memcpy(work->dir_path, path, len);
	work->dir_path[len] = '\0';
	return MR_OK;
}

enum mr_code mr_history_work_put(struct mr_history_work *work, const char *path,
	struct mr_bytes data, struct mr_err *err)
{
	struct mr_history *history = work->history;
	const char *name;
	enum mr_code rc = enter(work, path, true, &name, err);

	if (!rc)
		rc = mr_history_temp_write(history, FILE_TEMP, data, 0666, false, err);
	if (rc)
		return rc;
	mr_crash_point("history.file.written");
	if (renameat(history->own_dir, FILE_TEMP, work->dir, name) != 0) {
		if (errno == EISDIR || errno == ENOTEMPTY)
			return mr_err_set(err, MR_ECONFLICT,
				"%s/%s is a directory in the way of a file: move it away",
				history->path, path);
		return mr_err_os(err, errno, "cannot write %s/%s", history->path, path);
	}
	mr_crash_point("history.file.named");
	return MR_OK;
}

enum mr_code mr_history_work_remove(struct mr_history_work *work, const char *path,
	struct mr_err *err)
{
	struct mr_history *history = work->history;
	char parent[MR_HISTORY_PATH_BYTES + 1];
	const char *name;
	struct mr_err missing;
	enum mr_code rc = enter(work, path, false, &name, &missing);
	char *slash;

	/* Not there, or something of the user's in its place: nothing of ours to remove. */
	if (rc == MR_ENOTFOUND || rc == MR_ECONFLICT)
		return MR_OK;
	if (rc) {
		*err = missing;
		return rc;
	}
	if (unlinkat(work->dir, name, 0) != 0 && errno != ENOENT && errno != EISDIR)
		return mr_err_os(err, errno, "cannot remove %s/%s", history->path, path);
	mr_crash_point("history.file.removed");
	snprintf(parent, sizeof(parent), "%s", path);
	while ((slash = strrchr(parent, '/'))) {
		*slash = '\0';
		/* Through links this could only ever remove an empty directory. */
		if (unlinkat(history->work_dir, parent, AT_REMOVEDIR) != 0)
			break;
		mr_fs_closep(&work->dir);
	}
	return MR_OK;
}

/* --- from one commit to another --- */

struct follow {
	struct mr_history *history;
	struct mr_history_work work;
	bool removing; /* first pass, so that directories can take the place of files */
	size_t written;
};

/* Has the file on disk these very bytes? */
static bool is_on_disk(struct follow *follow, const char *path, const struct mr_tree_entry *entry)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *name;
	struct mr_bytes data;
	struct mr_oid id;
	struct stat st;
	struct mr_err ignored;

	if (enter(&follow->work, path, false, &name, &ignored))
		return false;
	fd = openat(follow->work.dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	return mr_fs_read_fd(arena, fd, MR_HISTORY_OBJECT_BYTES, &data, &ignored) == MR_OK &&
		mr_history_hash(data, MR_PACK_BLOB, &id, &ignored) == MR_OK &&
		mr_oid_eq(&id, &entry->id);
}

static enum mr_code follow_one(void *arg, const char *path, const struct mr_tree_entry *before,
	const struct mr_tree_entry *after, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct follow *follow = arg;
	struct mr_bytes data;
	struct mr_err ignored;
	enum mr_code rc;

	/* A path we would refuse is a person's own commit, and theirs to look after. */
	if (mr_history_check_path(path, &ignored))
		return MR_OK;
	if (follow->removing) {
		if (!mr_tree_is_file(before->mode) || mr_tree_is_file(after->mode))
			return MR_OK;
		return mr_history_work_remove(&follow->work, path, err);
	}
	/* Links and submodules are a person's doing; we never write them. */
	if (!mr_tree_is_file(after->mode) || is_on_disk(follow, path, after))
		return MR_OK;
	arena = mr_arena_new();
	rc = mr_history_get(arena, follow->history, &after->id, MR_PACK_BLOB, &data, err);
	if (!rc)
		rc = mr_history_work_put(&follow->work, path, data, err);
	follow->written++;
	return rc;
}

enum mr_code mr_history_work_follow(struct mr_history *history, const struct mr_oid *before,
	const struct mr_oid *after, size_t *out_written, struct mr_err *err)
{
	struct follow follow = { .history = history, .removing = true };
	enum mr_code rc;

	mr_history_work_open(&follow.work, history);
	rc = mr_history_diff(history, before, after, follow_one, &follow, err);
	follow.removing = false;
	if (!rc)
		rc = mr_history_diff(history, before, after, follow_one, &follow, err);
	mr_history_work_close(&follow.work);
	if (!rc && out_written)
		*out_written = follow.written;
	return rc ? mr_err_wrap(err, "work tree") : MR_OK;
}

/* --- the note --- */

/* Which boot this is; "?" never equals what was noted. */
static const char *boot_id(struct mr_arena *arena)
{
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (mr_fs_read(arena, AT_FDCWD, BOOT_ID, STATE_BYTES, &bytes, &ignored))
		return "?";
	return mr_str_trim(arena, (const char *)bytes.data);
}

enum mr_code mr_history_state_read(struct mr_history *history, struct mr_history_state *out,
	bool *out_found, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_history_state state = { 0 };
	char complete[41], durable[41], boot[64];
	struct mr_bytes bytes;
	enum mr_code rc = mr_fs_read(arena, history->own_dir, "state", STATE_BYTES, &bytes, err);

	*out_found = rc != MR_ENOTFOUND;
	if (rc == MR_ENOTFOUND)
		return MR_OK;
	if (rc)
		return mr_err_wrap(err, "archive %s", history->path);
	/* Torn or foreign, it says nothing: then everything is compared. */
	if (sscanf((const char *)bytes.data, "complete %40s\ndurable %40s\nbehind %u\nboot %63s",
		    complete, durable, &state.behind, boot) == 4 &&
		strlen(complete) == 40 && strlen(durable) == 40 &&
		mr_oid_parse(complete, &state.complete) && mr_oid_parse(durable, &state.durable))
		state.is_this_boot = boot[0] != '?' && strcmp(boot, boot_id(arena)) == 0;
	else
		state = (struct mr_history_state){ 0 };
	*out = state;
	return MR_OK;
}

enum mr_code mr_history_state_write(struct mr_history *history,
	const struct mr_history_state *state, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char complete[41], durable[41];
	enum mr_code rc;

	mr_oid_format(&state->complete, complete);
	mr_oid_format(&state->durable, durable);
	rc = mr_history_temp_write(history, STATE_TEMP,
		mr_bytes_text(
			mr_arena_printf(arena, "complete %s\ndurable %s\nbehind %u\nboot %s\n",
				complete, durable, state->behind, boot_id(arena))),
		0666, false, err);
	if (rc)
		return rc;
	mr_crash_point("history.state.written");
	if (renameat(history->own_dir, STATE_TEMP, history->own_dir, "state") != 0)
		return mr_err_os(err, errno, "cannot write %s/.git/mailroom/state", history->path);
	mr_crash_point("history.state.named");
	return MR_OK;
}

enum mr_code mr_history_state_advance(struct mr_history *history, const struct mr_oid *head,
	bool now, struct mr_err *err)
{
	struct mr_history_state state;
	bool found;
	enum mr_code rc = mr_history_state_read(history, &state, &found, err);

	if (rc)
		return rc;
	if (!found)
		state = (struct mr_history_state){ 0 };
	if (!mr_oid_eq(&state.complete, head))
		state.behind++;
	state.complete = *head;
	if (state.behind >= MR_HISTORY_SYNC_COMMITS || (now && state.behind > 0)) {
		if (syncfs(history->work_dir) != 0)
			return mr_err_os(err, errno, "cannot put %s on disk", history->path);
		state.durable = *head;
		state.behind = 0;
	}
	return mr_history_state_write(history, &state, err);
}

/* --- git's locks --- */

static void sleep_ms(long ms)
{
	struct timespec left = { .tv_nsec = ms * 1000000L };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

enum mr_code mr_history_gitlock_take(struct mr_history *history, const char *path,
	struct mr_err *err)
{
	/* Our own count, too, so that this ends under a clock that a test holds still. */
	for (int waited = 0;; waited += GITLOCK_STEP_MS) {
		if (linkat(history->own_dir, "lock", history->git_dir, path, 0) == 0)
			break;
		if (errno != EEXIST)
			return mr_err_os(err, errno, "cannot create %s/.git/%s", history->path,
				path);
		if (waited >= GITLOCK_MS || waited >= history->lock_timeout_ms)
			return mr_err_set(err, MR_EBUSY,
				"%s/.git/%s is held by a git command; if none is running, remove "
				"that file",
				history->path, path);
		sleep_ms(GITLOCK_STEP_MS);
	}
	mr_crash_point("history.gitlock.taken");
	return MR_OK;
}

void mr_history_gitlock_release(struct mr_history *history, const char *path)
{
	unlinkat(history->git_dir, path, 0);
	mr_crash_point("history.gitlock.released");
}

enum mr_code mr_history_gitlock_sweep(struct mr_history *history, const struct mr_lock *lock,
	struct mr_err *err)
{
	static const char *const paths[] = { MR_HISTORY_REF_LOCK, MR_HISTORY_INDEX_LOCK };
	struct stat ours, st;

	if (fstat(lock->fd, &ours) != 0)
		return mr_err_os(err, errno, "cannot look at the lock of %s", history->path);
	for (size_t i = 0; ours.st_nlink > 1 && i < MR_LEN(paths); i++) {
		if (fstatat(history->git_dir, paths[i], &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			st.st_ino != ours.st_ino || st.st_dev != ours.st_dev)
			continue;
		if (unlinkat(history->git_dir, paths[i], 0) != 0)
			return mr_err_os(err, errno, "cannot remove %s/.git/%s", history->path,
				paths[i]);
	}
	return MR_OK;
}
