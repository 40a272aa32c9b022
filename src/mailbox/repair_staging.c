/* mailbox/repair_staging.c - quarantine, and the surroundings of a root: directories, lock
 * files, intents and staging/. */
#include "base/boot.h"
#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"
#include "mailbox/limits.h"
#include "mailbox/repair_private.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	LOCK_BYTES = 4096,
	/* An empty lock file may be one that is being written. */
	EMPTY_LOCK_S = 60,
	STAGED_DEPTH = 16, /* of directories in staging/ */
};

static const char LOCK_SUFFIX[] = ".lock";

/* "a.md" becomes "a-1.md" when something is there, then "a-2.md". */
static const char *free_name(struct mr_mailbox_repair_run *run, const char *path)
{
	struct mr_arena *arena = run->cx->arena;
	const char *name = strrchr(path, '/') + 1;
	const char *dot = strrchr(name, '.');
	const char *result = path;

	if (!dot || dot == name)
		dot = name + strlen(name);
	for (int i = 1; mr_fs_exists(run->root->dir, result); i++)
		result = mr_arena_printf(arena, "%.*s-%d%s", (int)(dot - path), path, i, dot);
	return result;
}

/* A free place in today's quarantine whose directory is there. */
static enum mr_code make_place(struct mr_mailbox_repair_run *run, const char *path,
	const char **out)
{
	struct mr_arena *arena = run->cx->arena;
	const char *to = free_name(run,
		mr_arena_printf(arena, MR_MAILBOX_QUARANTINE "/%s/%s", run->stamp, path));
	enum mr_code rc = mr_fs_make_dirs(run->root->dir,
		mr_arena_strndup(arena, to, (size_t)(strrchr(to, '/') - to)), 0700, &run->cx->err);

	if (!rc)
		*out = to;
	return rc;
}

static const char *absolute(struct mr_mailbox_repair_run *run, const char *path)
{
	return mr_mailbox_layout_join(run->cx->arena, run->root->path, path);
}

/* Move `from` to today's quarantine, as `path` there. */
static enum mr_code quarantine(struct mr_mailbox_repair_run *run, const char *from,
	const char *path, const char **out)
{
	const char *to = NULL;
	enum mr_code rc = make_place(run, path, &to);

	if (!rc)
		rc = mr_fs_rename(run->root->dir, from, run->root->dir, to, MR_FS_NEW,
			&run->cx->err);
	if (rc)
		return rc;
	mr_crash_point("repair.quarantine.moved");
	*out = absolute(run, to);
	return MR_OK;
}

enum mr_code mr_mailbox_repair_set_aside(struct mr_mailbox_repair_run *run, const char *path,
	const char **out)
{
	return quarantine(run, path, path, out);
}

enum mr_code mr_mailbox_repair_set_aside_at(struct mr_mailbox_repair_run *run, int dir,
	const char *name, const char *path, const char **out)
{
	struct mr_err *err = &run->cx->err;
	const char *to = NULL;
	enum mr_code rc = make_place(run, path, &to);

	if (rc)
		return rc;
	rc = mr_fs_rename(dir, name, run->root->dir, to, MR_FS_NEW, err);
	if (!rc) {
		mr_crash_point("repair.quarantine.moved");
		*out = absolute(run, to);
		return MR_OK;
	}
	if (err->os_errno != EXDEV)
		return rc;
	to = mr_arena_printf(run->cx->arena, ".%s.foreign-%s.bak", name, run->stamp);
	rc = mr_fs_rename(dir, name, dir, to, MR_FS_REPLACE, err);
	if (!rc)
		*out = to;
	return rc;
}

enum mr_code mr_mailbox_repair_save_text(struct mr_mailbox_repair_run *run, const char *path,
	const char *text, const char **out)
{
	const char *to =
		mr_arena_printf(run->cx->arena, MR_MAILBOX_QUARANTINE "/%s/%s", run->stamp, path);
	enum mr_code rc = mr_fs_make_dirs(run->root->dir,
		mr_arena_strndup(run->cx->arena, to, (size_t)(strrchr(to, '/') - to)), 0700,
		&run->cx->err);

	/* The same text again, when the repair before this one did not come to its end. */
	if (!rc)
		rc = mr_fs_write(run->root->dir, to, mr_bytes_text(text), MR_FS_REPLACE, 0600,
			&run->cx->err);
	if (!rc)
		*out = absolute(run, to);
	return rc;
}

/* Our own files, and what was set aside earlier. */
static bool is_kept(const char *path)
{
	return mr_str_eq(path, MR_MAILBOX_QUARANTINE) || mr_str_eq(path, MR_MAILBOX_INTENTS) ||
		mr_str_eq(path, MR_MAILBOX_TRASH);
}

enum mr_code mr_mailbox_repair_note_staging(struct mr_mailbox_repair_run *run)
{
	struct mr_ctx *cx = run->cx;
	enum mr_code rc = mr_fs_list(cx->arena, run->root->dir, MR_MAILBOX_STAGING,
		MR_MAILBOX_ENTRIES, &run->staged, &cx->err);
	struct stat st;

	if (rc)
		return rc;
	run->staged_inodes =
		mr_arena_array(cx->arena, run->staged.len + 1, sizeof(*run->staged_inodes));
	for (size_t i = 0; i < run->staged.len; i++) {
		const char *path =
			mr_mailbox_layout_join(cx->arena, MR_MAILBOX_STAGING, run->staged.items[i]);

		if (fstatat(run->root->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
			run->staged_inodes[i] = st.st_ino;
	}
	return MR_OK;
}

/* Lock a file against its delivery, until `*out` is closed; false when one is under way. */
static bool lock_staged(int dir, const char *path, int *out)
{
	*out = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return *out < 0 || flock(*out, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static enum mr_fs_next find_use(void *arg, const struct mr_fs_entry *entry)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	bool *is_used = arg;

	if (entry->type == DT_REG)
		*is_used = !lock_staged(entry->dir, entry->name, &fd);
	return *is_used ? MR_FS_STOP : MR_FS_GO_ON;
}

/* May what was noted be cleared? `*out` holds a file until it is closed. */
static bool take_staged(struct mr_mailbox_repair_run *run, size_t i, const char *path, int *out)
{
	struct mr_err ignored;
	bool is_used = false;
	struct stat st;

	*out = -1;
	if (is_kept(path) || fstatat(run->root->dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		st.st_ino != run->staged_inodes[i])
		return false;
	if (S_ISREG(st.st_mode))
		return lock_staged(run->root->dir, path, out);
	if (S_ISDIR(st.st_mode))
		(void)!mr_fs_walk(run->root->dir, path, STAGED_DEPTH, find_use, &is_used, &ignored);
	return !is_used;
}

enum mr_code mr_mailbox_repair_clean_staging(struct mr_mailbox_repair_run *run, bool remove,
	struct mr_texts *out)
{
	struct mr_ctx *cx = run->cx;
	const char **paths = mr_arena_array(cx->arena, run->staged.len + 1, sizeof(*paths));
	enum mr_code rc = MR_OK;
	size_t len = 0;

	for (size_t i = 0; i < run->staged.len && !rc; i++) {
		const char *path =
			mr_mailbox_layout_join(cx->arena, MR_MAILBOX_STAGING, run->staged.items[i]);
		int held MR_CLEANUP(mr_fs_closep) = -1;

		if (!take_staged(run, i, path, &held))
			continue;
		paths[len] = absolute(run, path);
		if (remove)
			rc = mr_fs_remove_all(run->root->dir, path, &cx->err);
		else
			rc = quarantine(run, path, run->staged.items[i], &paths[len]);
		mr_crash_point("repair.staging.cleaned");
		len += rc == MR_OK;
	}
	if (!rc && remove && len > 0)
		rc = mr_fs_sync_dir(run->root->dir, MR_MAILBOX_STAGING, &cx->err);
	if (!rc)
		*out = (struct mr_texts){ paths, len };
	return rc;
}

/* Why no living process can hold this lock file; NULL when that cannot be told. */
static const char *why_stale(struct mr_mailbox_repair_run *run, struct mr_arena *arena,
	const char *path)
{
	struct mr_boot_facts boot = mr_boot_facts();
	struct mr_bytes content;
	struct mr_err ignored;
	struct stat st;
	char *end = NULL;
	long pid = 0;

	if (fstatat(run->root->dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
		mr_fs_read(arena, run->root->dir, path, LOCK_BYTES, &content, &ignored))
		return NULL;
	if (mr_boot_is_before(&boot, &st.st_mtim))
		return "is from before the machine was last started";
	if (mr_str_starts((const char *)content.data, "pid="))
		pid = strtol((const char *)content.data + 4, &end, 10);
	if (pid > 0 && pid <= INT32_MAX)
		return kill((pid_t)pid, 0) != 0 && errno == ESRCH
			? mr_arena_printf(arena, "process %ld does not run", pid)
			: NULL;
	if (mr_clock_wall_us(run->cx->clock) / 1000000 - st.st_mtime <= EMPTY_LOCK_S)
		return NULL;
	return "names no process";
}

static void look_at_locks(struct mr_mailbox_repair_run *run)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names = { NULL, 0 };
	struct mr_err ignored;
	const char *why = why_stale(run, arena, MR_MAILBOX_INDEX_LOCK);

	if (why)
		mr_mailbox_repair_found(run, "stale_lock", MR_MAILBOX_INDEX_LOCK, "%s", why);
	if (mr_fs_list(arena, run->root->dir, MR_MAILBOX_ADDRESS_LOCKS, MR_MAILBOX_ENTRIES, &names,
		    &ignored))
		return;
	for (size_t i = 0; i < names.len; i++) {
		const char *path =
			mr_mailbox_layout_join(arena, MR_MAILBOX_ADDRESS_LOCKS, names.items[i]);

		why = mr_str_ends(path, LOCK_SUFFIX) ? why_stale(run, arena, path) : NULL;
		if (why)
			mr_mailbox_repair_found(run, "stale_lock", path, "%s", why);
	}
}

/* Was the intent the same unlocked file before and after the look? One that was removed or
 * replaced meanwhile had an owner. */
static bool is_left(int dir, const char *path)
{
	struct stat before, after;

	return fstatat(dir, path, &before, AT_SYMLINK_NOFOLLOW) == 0 &&
		!mr_lock_is_held(dir, path) &&
		fstatat(dir, path, &after, AT_SYMLINK_NOFOLLOW) == 0 &&
		before.st_dev == after.st_dev && before.st_ino == after.st_ino &&
		before.st_ctim.tv_sec == after.st_ctim.tv_sec &&
		before.st_ctim.tv_nsec == after.st_ctim.tv_nsec;
}

/*
 * Intents without an owner: a delivery in progress holds the lock of its intent. Names that begin
 * with a dot are intents being written. Roots made by other programs have none.
 */
static struct mr_texts list_left_intents(struct mr_mailbox_repair_run *run, struct mr_arena *arena)
{
	struct mr_texts names = { NULL, 0 };
	struct mr_err ignored;
	size_t len = 0;

	if (mr_fs_list(arena, run->root->dir, MR_MAILBOX_INTENTS, MR_MAILBOX_ENTRIES, &names,
		    &ignored))
		return names;
	for (size_t i = 0; i < names.len; i++) {
		const char *path =
			mr_mailbox_layout_join(arena, MR_MAILBOX_INTENTS, names.items[i]);

		if (names.items[i][0] != '.' && is_left(run->root->dir, path))
			names.items[len++] = path;
	}
	names.len = len;
	return names;
}

bool mr_mailbox_repair_has_left_intents(struct mr_mailbox_repair_run *run)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	return list_left_intents(run, arena).len > 0;
}

static void look_at_intents(struct mr_mailbox_repair_run *run)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts paths = list_left_intents(run, arena);

	for (size_t i = 0; i < paths.len; i++)
		mr_mailbox_repair_found(run, "leftover_intent", paths.items[i],
			"an operation was begun and not finished");
}

static bool is_own(const char *path)
{
	for (const char *const *own = mr_mailbox_own_directories; *own; own++) {
		if (mr_str_eq(path, *own))
			return true;
	}
	return false;
}

static enum mr_code look_at_directories(struct mr_mailbox_repair_run *run)
{
	enum mr_code rc = MR_OK;

	for (const char *const *path = mr_mailbox_directories; *path && !rc; path++) {
		if (mr_fs_exists(run->root->dir, *path))
			continue;
		/* Ours are made when they are needed. */
		if (!is_own(*path))
			mr_mailbox_repair_found(run, "missing_directory", *path, "%s",
				run->hands ? "made" : "every root has one");
		if (run->hands)
			rc = mr_fs_make_dirs(run->root->dir, *path, 0700, &run->cx->err);
	}
	return rc;
}

enum mr_code mr_mailbox_repair_surroundings(struct mr_mailbox_repair_run *run)
{
	enum mr_code rc = look_at_directories(run);

	if (rc)
		return rc;
	look_at_locks(run);
	look_at_intents(run);
	if (!mr_fs_exists(run->root->dir, MR_MAILBOX_VERSION_FILE))
		mr_mailbox_repair_found(run, "missing_version", MR_MAILBOX_VERSION_FILE,
			"run `mailroom mailbox init` to write it");
	return MR_OK;
}

enum mr_code mr_mailbox_repair_set_intents_aside(struct mr_mailbox_repair_run *run)
{
	struct mr_arena *arena = run->cx->arena;
	struct mr_texts paths = list_left_intents(run, arena);
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < paths.len && !rc; i++) {
		const char *to = NULL;

		rc = quarantine(run, paths.items[i],
			mr_arena_printf(arena, "intents/%s", strrchr(paths.items[i], '/') + 1),
			&to);
		if (!rc)
			mr_mailbox_repair_found(run, "leftover_intent", paths.items[i],
				"could not be finished; it is now %s", to);
	}
	return rc;
}
