/* data/history_append.c - opens a repository, makes a handle the only writer, and runs the steps
 * of an append in order. */
#include "base/crash.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/oom.h"
#include "data/history_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	DEFAULT_LOCK_MS = 60000,
	OWN_NAMES = 1000,
	AUTHOR_BYTES = 256,
	GITLOCK_MS = 10000, /* git itself holds these for moments */
	GITLOCK_STEP_MS = 5,
	ATTEMPTS = 8,          /* in case another program commits at the same time */
	LOOK_BYTES = 16 << 20, /* written: time to look at the packs */
	INDEX_BYTES = 1 << 30,
};

/* Files are stored as they are, whatever a .gitattributes says. */
static const char ATTRIBUTES[] = "* -text\n";
/* Within an append: tens of milliseconds. The rest is left to mr_history_tidy(). */
static const struct mr_history_merge_limits merge_limits = { .count = MR_HISTORY_PACKS,
	.some = 4,
	.at_bytes = 32 << 20,
	.max_bytes = 64 << 20 };
/* At once: a second at worst. */
static const struct mr_history_merge_limits tidy_limits = { .count = 4,
	.some = 2,
	.at_bytes = 32 << 20,
	.max_bytes = 256 << 20 };
static const char REF_LOCK[] = MR_HISTORY_REF ".lock";
static const char INDEX_LOCK[] = "index.lock";

enum mr_code mr_history_sync(int dir, const char *name, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int number = mr_crash_fail("history.sync");

	if (number || fd < 0 || fsync(fd) != 0)
		return mr_err_os(err, number ? number : errno, "cannot put %s on disk", name);
	return MR_OK;
}

/* --- git's locks --- */

/* Take one of them, as a link to our own lock. */
static enum mr_code gitlock_take(struct mr_history *history, const char *path, struct mr_err *err)
{
	const struct timespec step = { .tv_nsec = GITLOCK_STEP_MS * 1000000L };

	/* Our own count, so that this ends under a clock that a test holds still. */
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
		nanosleep(&step, NULL);
	}
	mr_crash_point("history.gitlock.taken");
	return MR_OK;
}

static void gitlock_release(struct mr_history *history, const char *path)
{
	unlinkat(history->git_dir, path, 0);
	mr_crash_point("history.gitlock.released");
}

/* What stays in .git/mailroom; all else there is temporary. */
static bool is_kept(const char *name)
{
	return mr_str_eq(name, "lock") || mr_str_eq(name, "state");
}

/* Remove what a dead writer left: links to our lock, and everything temporary. */
static enum mr_code sweep(struct mr_history *history, const struct mr_lock *lock,
	struct mr_err *err)
{
	const char *const links[] = { REF_LOCK, INDEX_LOCK };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names;
	struct stat ours, st;
	enum mr_code rc = mr_fs_list(arena, history->own_dir, ".", OWN_NAMES, &names, err);

	if (rc)
		return rc;
	if (fstat(lock->fd, &ours) != 0)
		return mr_err_os(err, errno, "cannot look at the lock of %s", history->path);
	for (size_t i = 0; ours.st_nlink > 1 && i < MR_LEN(links); i++) {
		if (fstatat(history->git_dir, links[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_ino == ours.st_ino && st.st_dev == ours.st_dev)
			unlinkat(history->git_dir, links[i], 0);
	}
	for (size_t i = 0; i < names.len; i++) {
		if (!is_kept(names.items[i]))
			unlinkat(history->own_dir, names.items[i], 0);
	}
	return MR_OK;
}

static enum mr_code take_lock(struct mr_history *history, int timeout_ms, struct mr_lock *out,
	struct mr_err *err)
{
	enum mr_code rc;

	if (history->mode == MR_HISTORY_READ)
		return mr_err_set(err, MR_EPERM, "archive %s was opened for reading only",
			history->path);
	rc = mr_lock_take(history->own_dir, "lock", "mailroom history", timeout_ms, history->clock,
		out, err);
	if (!rc)
		rc = sweep(history, out, err);
	return rc ? mr_err_wrap(err, "archive %s", history->path) : MR_OK;
}

enum mr_code mr_history_become_writer(struct mr_history *history, int timeout_ms,
	struct mr_lock *out, struct mr_err *err)
{
	enum mr_code rc = take_lock(history, timeout_ms, out, err);

	return rc ? rc : mr_history_work_complete(history, err);
}

/* --- opening --- */

/*
 * HEAD, which makes it a repository, comes last: so a second attempt completes a first that was
 * killed. The library's own locks can only be left of that.
 */
static enum mr_code make_repository(struct mr_history *history, struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = take_lock(history, history->lock_timeout_ms, &lock, err);
	size_t swept;

	if (rc || mr_fs_exists(history->git_dir, "HEAD"))
		return rc;
	unlinkat(history->git_dir, "config.lock", 0);
	unlinkat(history->git_dir, "HEAD.lock", 0);
	rc = mr_fs_make_dirs(history->git_dir, "info", 0777, err);
	mr_crash_point("history.make.info");
	if (!rc)
		rc = mr_fs_sweep_temporaries(history->git_dir, "info", &swept, err);
	if (!rc)
		rc = mr_fs_write(history->git_dir, "info/attributes", mr_bytes_text(ATTRIBUTES),
			MR_FS_REPLACE, 0666, err);
	if (!rc)
		rc = mr_history_make_repository(history, err);
	if (!rc && !mr_fs_exists(history->own_dir, "state"))
		rc = mr_history_work_begin(history, err);
	mr_crash_point("history.make.done");
	if (!rc && syncfs(history->git_dir) != 0)
		rc = mr_err_os(err, errno, "cannot put %s on disk", history->path);
	return rc;
}

static enum mr_code open_dirs(struct mr_history *history, struct mr_err *err)
{
	bool create = history->mode == MR_HISTORY_CREATE;
	enum mr_code rc = MR_OK;

	if (create)
		rc = mr_fs_make_dirs(AT_FDCWD, history->path, 0777, err);
	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD, history->path, &history->work_dir, err);
	if (!rc && create && !mr_fs_exists(history->work_dir, ".git"))
		rc = mr_fs_make_dirs(history->work_dir, ".git", 0777, err);
	if (rc)
		return rc;
	history->git_dir =
		openat(history->work_dir, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (history->git_dir < 0 && (errno == ENOTDIR || errno == ELOOP))
		return mr_err_set(err, MR_ECONFLICT,
			"%s/.git is not a directory: the work tree of another repository",
			history->path);
	if (history->git_dir < 0 && errno != ENOENT)
		return mr_err_os(err, errno, "cannot open %s/.git", history->path);
	if (history->git_dir < 0 || (!create && !mr_fs_exists(history->git_dir, "HEAD")))
		return mr_err_set(err, MR_ENOTFOUND, "there is no archive at %s", history->path);
	if (history->mode == MR_HISTORY_READ)
		return MR_OK;
	rc = mr_fs_make_dirs(history->git_dir, "mailroom", 0777, err);
	if (!rc)
		rc = mr_fs_open_dir(history->git_dir, "mailroom", &history->own_dir, err);
	return rc ? mr_err_wrap(err, "archive %s", history->path) : MR_OK;
}

static enum mr_code open_all(struct mr_history *history, struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = open_dirs(history, err);

	if (!rc && history->mode == MR_HISTORY_CREATE && !mr_fs_exists(history->git_dir, "HEAD"))
		rc = make_repository(history, err);
	if (!rc)
		rc = mr_history_open_repository(history, err);
	if (rc || history->mode == MR_HISTORY_READ)
		return rc;
	/* The current holder of the lock has done this, or the next one will. */
	rc = mr_history_become_writer(history, 0, &lock, err);
	return rc == MR_EBUSY ? MR_OK : rc;
}

/* A name that would break the line it stands in. */
static bool is_bad_author(const char *text, const char *more)
{
	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f || strchr(more, *at))
			return true;
	}
	return *text == '\0' || strlen(text) > AUTHOR_BYTES;
}

static enum mr_code set_author(struct mr_history *history, const struct mr_history_options *options,
	struct mr_err *err)
{
	const char *name = options->author_name ? options->author_name : MR_HISTORY_AUTHOR_NAME;
	const char *email = options->author_email ? options->author_email : MR_HISTORY_AUTHOR_EMAIL;

	if (is_bad_author(name, "<>"))
		return mr_err_set(err, MR_EINVAL, "\"%s\" cannot be an author's name", name);
	if (is_bad_author(email, "<> "))
		return mr_err_set(err, MR_EINVAL, "\"%s\" cannot be an author's address", email);
	history->author_name = strdup(name);
	history->author_email = strdup(email);
	if (!history->author_name || !history->author_email)
		mr_oom(0);
	return MR_OK;
}

enum mr_code mr_history_open(const char *path, const struct mr_history_options *options,
	const struct mr_clock *clock, struct mr_history **out, struct mr_err *err)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = calloc(1, sizeof(*history));
	struct mr_history_appended appended;
	struct mr_history_id head = { "" };
	enum mr_code rc;

	if (!history || !(history->path = strdup(path)))
		mr_oom(0);
	history->work_dir = history->git_dir = history->own_dir = -1;
	history->mode = options->mode;
	history->clock = clock;
	history->lock_timeout_ms =
		options->lock_timeout_ms > 0 ? options->lock_timeout_ms : DEFAULT_LOCK_MS;
	rc = set_author(history, options, err);
	if (!rc)
		rc = open_all(history, err);
	/* A reader may want to salvage a damaged repository. */
	if (!rc && options->mode != MR_HISTORY_READ)
		rc = mr_history_get_head(history, &head, err);
	/* When two writers both find it empty, both append: the second finds everything there. */
	if (!rc && options->initial && options->mode == MR_HISTORY_CREATE && !head.hex[0])
		rc = mr_history_append(history, options->initial, &appended, err);
	if (rc)
		return rc;
	*out = history;
	history = NULL;
	return MR_OK;
}

void mr_history_close(struct mr_history *history)
{
	if (!history)
		return;
	mr_history_close_repository(history);
	mr_history_kept_free(history);
	mr_fs_closep(&history->own_dir);
	mr_fs_closep(&history->git_dir);
	mr_fs_closep(&history->work_dir);
	free(history->author_name);
	free(history->author_email);
	free(history->path);
	free(history);
}

void mr_history_closep(struct mr_history **history)
{
	mr_history_close(*history);
}

/* --- appending --- */

static int op_order(const void *a, const void *b)
{
	const struct mr_history_op *left = a, *right = b;
	int order = mr_history_path_order(left->file->path, right->file->path);

	return order ? order : (left->file > right->file) - (left->file < right->file);
}

/* The batch's files, sorted, each path once. */
static enum mr_code take_files(struct mr_arena *arena, const struct mr_history_batch *batch,
	struct mr_history_op **out, size_t *out_count, struct mr_err *err)
{
	struct mr_history_op *ops;
	size_t total = 0, kept = 0;

	if (batch->file_count > MR_HISTORY_FILES)
		return mr_err_set(err, MR_ELIMIT, "a batch has %zu files, more than %d",
			batch->file_count, MR_HISTORY_FILES);
	ops = mr_arena_array(arena, batch->file_count + 1, sizeof(*ops));
	for (size_t i = 0; i < batch->file_count; i++) {
		const struct mr_history_file *file = &batch->files[i];
		size_t len = file->remove ? 0 : file->data.len;
		enum mr_code rc = mr_history_check_path(file->path, err);

		if (rc)
			return rc;
		if (len > MR_HISTORY_FILE_BYTES)
			return mr_err_set(err, MR_ELIMIT, "%s has %zu bytes, more than %d",
				file->path, len, MR_HISTORY_FILE_BYTES);
		total += len;
		if (total > MR_HISTORY_BATCH_BYTES)
			return mr_err_set(err, MR_ELIMIT, "a batch has more than %d bytes",
				MR_HISTORY_BATCH_BYTES);
		ops[i].file = file;
	}
	qsort(ops, batch->file_count, sizeof(*ops), op_order);
	for (size_t i = 0; i < batch->file_count; i++) {
		if (kept > 0 && mr_str_eq(ops[kept - 1].file->path, ops[i].file->path))
			kept--;
		ops[kept++] = ops[i];
	}
	*out = ops;
	*out_count = kept;
	return MR_OK;
}

/* Move the branch; `*out_moved` is false when another program has moved it. */
static enum mr_code move_branch(struct mr_history *history, const struct mr_history_id *from,
	const struct mr_history_id *to, bool *out_moved, struct mr_err *err)
{
	struct mr_history_id now;
	char line[MR_HISTORY_ID_BYTES + 1];
	enum mr_code rc;

	snprintf(line, sizeof(line), "%s\n", to->hex);
	rc = mr_history_temp_write(history, MR_HISTORY_NEXT, mr_bytes_text(line), err);
	if (!rc)
		rc = mr_history_sync(history->own_dir, MR_HISTORY_NEXT, err);
	mr_crash_point("history.ref.written");
	if (!rc)
		rc = gitlock_take(history, REF_LOCK, err);
	if (rc)
		return rc;
	rc = mr_history_get_head(history, &now, err);
	*out_moved = !rc && mr_str_eq(now.hex, from->hex);
	if (*out_moved &&
		renameat(history->own_dir, MR_HISTORY_NEXT, history->git_dir, MR_HISTORY_REF) != 0)
		rc = mr_err_os(err, errno, "cannot write %s", MR_HISTORY_REF);
	mr_crash_point("history.ref.named");
	if (*out_moved && !rc)
		rc = mr_fs_sync_dir(history->git_dir, "refs/heads", err);
	mr_crash_point("history.ref.synced");
	gitlock_release(history, REF_LOCK);
	return rc;
}

/*
 * Merge packs when it is time; a failure is ignored, and the next append tries again. A process
 * that appends only once checks for this in one of sixteen cases, by the commit's last digit.
 */
static void merge_some(struct mr_history *history, const struct mr_history_id *head)
{
	struct mr_err ignored;
	bool merged;

	if (head->hex[MR_HISTORY_ID_BYTES - 2] != '0' && history->unmerged_bytes < LOOK_BYTES)
		return;
	history->unmerged_bytes = 0;
	if (mr_history_merge(history, &merge_limits, &merged, &ignored))
		mr_log(MR_LOG_DEBUG, "history.merge", "%s", ignored.msg);
}

/* The history has it: bring the work tree up to it. */
static enum mr_code follow(struct mr_history *history, const struct mr_history_op *ops,
	size_t count, const struct mr_history_id *head, struct mr_err *err)
{
	struct mr_history_work work MR_CLEANUP(mr_history_work_close) = { history, .dir = -1 };
	enum mr_code rc = MR_OK;

	/* Removals first: a removed file may be where a directory is needed. */
	for (size_t i = 0; !rc && i < 2 * count; i++) {
		const struct mr_history_file *file = ops[i % count].file;

		if (ops[i % count].changed && file->remove == (i < count))
			rc = mr_history_work_set(&work, file->path,
				file->remove ? NULL : &file->data, err);
	}
	if (rc)
		return mr_err_wrap(err, "committed, but not in the work tree yet");
	mr_crash_point("history.append.files");
	rc = mr_history_work_note(history, head, false, err);
	if (!rc)
		merge_some(history, head);
	return rc;
}

enum mr_code mr_history_append(struct mr_history *history, const struct mr_history_batch *batch,
	struct mr_history_appended *out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	int64_t time_us = batch->time_us ? batch->time_us : mr_clock_wall_us(history->clock);
	const char *message = NULL;
	struct mr_history_id head = { "" }, commit = { "" };
	struct mr_history_op *ops = NULL;
	size_t count = 0;
	bool moved = false;
	enum mr_code rc = mr_history_message(arena, batch, &message, err);

	if (!rc && time_us < 0)
		rc = mr_err_set(err, MR_EINVAL, "a commit cannot be older than 1970");
	if (!rc)
		rc = take_files(arena, batch, &ops, &count, err);
	if (!rc)
		rc = mr_history_become_writer(history, history->lock_timeout_ms, &lock, err);
	for (int i = 0; !rc && !moved && i < ATTEMPTS; i++) {
		rc = mr_history_get_head(history, &head, err);
		if (!rc)
			rc = mr_history_commit(history, ops, count, message, time_us, &head,
				&commit, err);
		if (!rc && !commit.hex[0])
			break;
		if (!rc)
			rc = move_branch(history, &head, &commit, &moved, err);
	}
	if (!rc && commit.hex[0] && !moved)
		rc = mr_err_set(err, MR_EBUSY, "archive %s: others keep committing to it",
			history->path);
	if (rc)
		return rc;
	if (moved)
		rc = follow(history, ops, count, &commit, err);
	if (!rc)
		*out = (struct mr_history_appended){ .id = moved ? commit : head,
			.committed = moved };
	return rc;
}

/* --- when there is time --- */

enum mr_code mr_history_tidy_some(struct mr_history *history, bool *more, struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_history_id head;
	enum mr_code rc = mr_history_become_writer(history, history->lock_timeout_ms, &lock, err);

	if (!rc)
		rc = mr_history_merge(history, &tidy_limits, more, err);
	if (rc || *more)
		return rc;
	rc = mr_history_get_head(history, &head, err);
	return rc ? rc : mr_history_work_note(history, &head, true, err);
}

enum mr_code mr_history_tidy(struct mr_history *history, struct mr_err *err)
{
	enum mr_code rc = MR_OK;
	bool more = true;

	while (!rc && more)
		rc = mr_history_tidy_some(history, &more, err);
	return rc;
}

enum mr_code mr_history_sync_index(struct mr_history *history, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_bytes bytes;
	struct mr_err ignored;
	enum mr_code rc = mr_history_become_writer(history, history->lock_timeout_ms, &lock, err);

	if (!rc)
		rc = gitlock_take(history, INDEX_LOCK, err);
	if (rc)
		return rc;
	/* From git's own, for what it knows about files. */
	if (!mr_fs_read(arena, history->git_dir, "index", INDEX_BYTES, &bytes, &ignored))
		rc = mr_history_temp_write(history, MR_HISTORY_INDEX, bytes, err);
	if (!rc)
		rc = mr_history_write_index(history, err);
	mr_crash_point("history.index.written");
	/* Or a power failure leaves an empty one, with which git refuses to work. */
	if (!rc)
		rc = mr_history_sync(history->own_dir, MR_HISTORY_INDEX, err);
	if (!rc && renameat(history->own_dir, MR_HISTORY_INDEX, history->git_dir, "index") != 0)
		rc = mr_err_os(err, errno, "cannot replace %s/.git/index", history->path);
	gitlock_release(history, INDEX_LOCK);
	return rc;
}
