/*
 * mailbox/locks.c - Takes and releases the lock files of a mailbox root under a kernel lock, and
 * removes those that dead processes left behind.
 */
#include "mailbox/locks.h"

#include "base/boot.h"
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "text/time.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CONTENT_BYTES = 256,
	/* A lock file is empty for an instant, between its creation and its first write. One that
	 * stayed empty for so long belongs to a process that died between the two. */
	EMPTY_MS = 1000,
	/* The same by the file's own time; a clock that was set may be off by a little. */
	EMPTY_AGE_S = 10,
	/* How long other Mailroom processes wait behind our wait for another program's lock;
	 * then they get a turn. */
	PATIENCE_MS = 200,
};

static const char MARK[] = " by=mailroom\n";

/* A guard, or (with a path) a lock file. */
struct mr_mailbox_lock {
	struct mr_lock guard;
	const char *path; /* relative to the root */
	const char *content;
	dev_t dev;
	ino_t ino;
};

/* The file found at a lock file's name. */
struct found {
	bool is_file;
	dev_t dev;
	ino_t ino;
	struct timespec changed;
	char content[CONTENT_BYTES + 1]; /* as much of it as matters */
};

/* One call of mr_mailbox_locks_take(). */
struct taking {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	struct mr_mailbox_locks *held;
	int64_t start_ms;
	int64_t queued_ms; /* of that, time spent in the queue behind other Mailroom processes */
	int64_t slept_ms;  /* counted as well: a test may hold the clock still */
	struct found in_the_way;
	int64_t in_the_way_since_ms;
	int64_t in_the_way_slept_ms; /* of slept_ms, by then */
	/* Of all lock files; `written`: it is in the file that they are made as links to. */
	const char *content;
	bool is_written;
	dev_t dev;
	ino_t ino;
};

static int left_ms(const struct taking *t)
{
	int64_t gone_ms = mr_clock_mono_ms(t->cx->clock) - t->start_ms - t->queued_ms;

	if (gone_ms < t->slept_ms)
		gone_ms = t->slept_ms;
	return gone_ms >= MR_MAILBOX_LOCK_TIMEOUT_MS ? 0
						     : (int)(MR_MAILBOX_LOCK_TIMEOUT_MS - gone_ms);
}

static void sleep_a_poll(struct taking *t)
{
	struct timespec left = { .tv_nsec = MR_MAILBOX_LOCK_POLL_MS * 1000000L };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	t->slept_ms += MR_MAILBOX_LOCK_POLL_MS;
}

static enum mr_code say_timed_out(struct taking *t, const char *path, const char *why)
{
	return mr_err_set(&t->cx->err, MR_EBUSY, "timed out acquiring lock: %s/%s: %s",
		t->root->path, path, why);
}

/* False when nothing is there any more. */
static bool look(int dir, const char *path, struct found *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct stat st;
	ssize_t len;

	memset(out, 0, sizeof(*out));
	fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return true;
	len = read(fd, out->content, CONTENT_BYTES);
	if (len < 0)
		return true;
	out->content[len] = '\0';
	out->is_file = true;
	out->dev = st.st_dev;
	out->ino = st.st_ino;
	out->changed = st.st_mtim;
	return true;
}

static bool is_same(const struct found *a, const struct found *b)
{
	return a->is_file == b->is_file && a->dev == b->dev && a->ino == b->ino &&
		a->changed.tv_sec == b->changed.tv_sec &&
		a->changed.tv_nsec == b->changed.tv_nsec && strcmp(a->content, b->content) == 0;
}

/* 0 when the content does not say. */
static pid_t owner_of(const struct found *found)
{
	char *end;
	long pid;

	if (!mr_str_starts(found->content, "pid="))
		return 0;
	errno = 0;
	pid = strtol(found->content + 4, &end, 10);
	if (errno != 0 || pid <= 0 || pid > INT_MAX ||
		(*end != ' ' && *end != '\n' && *end != '\0'))
		return 0;
	return (pid_t)pid;
}

/*
 * We hold the guard, so no living Mailroom process can own the file. `empty_ms`: how long it was
 * seen empty. The time of the last boot is checked first: a power loss leaves lock files whose
 * content was never written, and nobody needs to wait for it.
 */
static bool is_stale(const struct found *found, int empty_ms)
{
	struct mr_boot_facts boot;
	pid_t pid = owner_of(found);

	if (!found->is_file)
		return false;
	boot = mr_boot_facts();
	if (mr_str_ends(found->content, MARK) || mr_boot_is_before(&boot, &found->changed))
		return true;
	if (found->content[0] == '\0')
		return empty_ms >= EMPTY_MS || boot.now - found->changed.tv_sec >= EMPTY_AGE_S;
	if (pid == 0)
		return false;
	return pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH);
}

/*
 * Remove a dead process's lock file. Another process may have replaced it since we looked: then it
 * is put back, unless a third one has taken its place.
 */
static enum mr_code remove_stale(struct taking *t, const char *path, const struct found *judged)
{
	const char *aside = MR_MAILBOX_STALE_LOCK;
	int dir = t->root->dir;
	struct found moved;

	if (renameat(dir, path, dir, aside) != 0)
		return errno == ENOENT ? MR_OK
				       : mr_err_os(&t->cx->err, errno,
						 "cannot take over lock %s/%s of a dead process",
						 t->root->path, path);
	mr_crash_point("locks.remove_stale.renamed");
	if (look(dir, aside, &moved) && !is_same(&moved, judged) &&
		renameat2(dir, aside, dir, path, RENAME_NOREPLACE) == 0)
		return MR_OK;
	if (unlinkat(dir, aside, 0) != 0 && errno != ENOENT)
		return mr_err_os(&t->cx->err, errno, "cannot remove %s/%s", t->root->path, aside);
	mr_crash_point("locks.remove_stale.removed");
	return MR_OK;
}

/* The lock file at `path` is ours. */
static void hold(struct taking *t, const char *path, dev_t dev, ino_t ino)
{
	t->held->items[t->held->len++] = (struct mr_mailbox_lock){
		.guard = MR_LOCK_INIT,
		.path = path,
		.content = t->content,
		.dev = dev,
		.ino = ino,
	};
}

/* Fill our own new lock file. */
static enum mr_code fill(struct taking *t, const char *path, int fd)
{
	size_t len = strlen(t->content);
	struct stat st;
	ssize_t written = write(fd, t->content, len);

	if (written != (ssize_t)len || fstat(fd, &st) != 0) {
		int why = written >= 0 && written != (ssize_t)len ? ENOSPC : errno;

		unlinkat(t->root->dir, path, 0);
		return mr_err_os(&t->cx->err, why, "cannot write lock %s/%s", t->root->path, path);
	}
	mr_crash_point("locks.take.filled");
	hold(t, path, st.st_dev, st.st_ino);
	return MR_OK;
}

/*
 * To make and remove files costs a file system more than names do, some of them the more the more
 * often it was done in the last seconds. So lock files are further names of one file, which holds
 * their content and stays. The guard is held, and no lock file of ours is left. Where this does not
 * work (no hard links, another user's file) each lock file is a file of its own.
 */
static void write_content(struct taking *t)
{
	int fd MR_CLEANUP(mr_fs_closep) = openat(t->root->dir, MR_MAILBOX_LOCK_CONTENT,
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t len;
	struct stat st;

	t->content = mr_arena_printf(t->cx->arena, "pid=%ld acquired_at_utc=%s%s", (long)getpid(),
		mr_time_format(t->cx->arena, mr_clock_wall_us(t->cx->clock), MR_TIME_MICROS_OFFSET),
		MARK);
	len = (ssize_t)strlen(t->content);
	t->is_written = false;
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	/* Somebody has a name of it that is not ours, as in a copy made of links. */
	if (st.st_nlink != 1) {
		unlinkat(t->root->dir, MR_MAILBOX_LOCK_CONTENT, 0);
		return;
	}
	t->is_written = pwrite(fd, t->content, (size_t)len, 0) == len &&
		(st.st_size <= len || ftruncate(fd, len) == 0);
	t->dev = st.st_dev;
	t->ino = st.st_ino;
}

/* 0, or why it could not be made. */
static int make_link(struct taking *t, const char *path)
{
	if (linkat(t->root->dir, MR_MAILBOX_LOCK_CONTENT, t->root->dir, path, 0) != 0)
		return errno;
	mr_crash_point("locks.take.created");
	hold(t, path, t->dev, t->ino);
	mr_crash_point("locks.take.filled");
	return 0;
}

/* Describe the lock's owner in one readable line. */
static const char *describe(struct taking *t, const struct found *found)
{
	char *line;

	if (!found->is_file)
		return "it is not a file that can be read; remove it";
	line = mr_arena_strdup(t->cx->arena, found->content);
	line[strcspn(line, "\r\n")] = '\0';
	for (char *at = line; *at != '\0'; at++) {
		if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
			*at = '?';
	}
	if (owner_of(found) == 0)
		return mr_arena_printf(t->cx->arena,
			"its owner cannot be told from \"%s\"; remove it if no program uses it",
			line);
	return mr_arena_printf(t->cx->arena, "held by %s", line);
}

/* By the clock, like the remaining time: on a busy machine a poll takes longer than planned, and
 * the timeout would pass before a file counted as old. */
static int seen_ms(const struct taking *t)
{
	int64_t by_clock = mr_clock_mono_ms(t->cx->clock) - t->in_the_way_since_ms;
	int64_t by_sleep = t->slept_ms - t->in_the_way_slept_ms;

	return (int)(by_clock > by_sleep ? by_clock : by_sleep);
}

/* The lock file exists: remove it when its process is dead, else sleep for one poll. */
static enum mr_code wait_or_take_over(struct taking *t, const char *path)
{
	struct found found;

	if (!look(t->root->dir, path, &found)) {
		if (left_ms(t) == 0)
			return say_timed_out(t, path, "other processes take it again and again");
	} else {
		if (!is_same(&found, &t->in_the_way)) {
			t->in_the_way = found;
			t->in_the_way_since_ms = mr_clock_mono_ms(t->cx->clock);
			t->in_the_way_slept_ms = t->slept_ms;
		}
		if (is_stale(&found, seen_ms(t)))
			return remove_stale(t, path, &found);
		if (left_ms(t) == 0)
			return say_timed_out(t, path, describe(t, &found));
	}
	sleep_a_poll(t);
	return MR_OK;
}

/* `*out_taken` is false when another program holds it after PATIENCE_MS. */
static enum mr_code take_file(struct taking *t, const char *path, bool *out_taken)
{
	int64_t begun_ms = t->slept_ms;

	do {
		int fd MR_CLEANUP(mr_fs_closep) = -1;
		int why = t->is_written ? make_link(t, path) : EPERM;
		enum mr_code rc;

		if (why == 0) {
			*out_taken = true;
			return MR_OK;
		}
		errno = why;
		if (why != EEXIST)
			fd = openat(t->root->dir, path,
				O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0) {
			mr_crash_point("locks.take.created");
			*out_taken = true;
			return fill(t, path, fd);
		}
		if (errno != EEXIST)
			return mr_err_os(&t->cx->err, errno, "cannot create lock %s/%s",
				t->root->path, path);
		rc = wait_or_take_over(t, path);
		if (rc)
			return rc;
	} while (t->slept_ms - begun_ms < PATIENCE_MS);
	*out_taken = false;
	return MR_OK;
}

static enum mr_code take_guard(struct taking *t)
{
	struct mr_mailbox_lock *item = &t->held->items[t->held->len];
	int64_t begun_ms = mr_clock_mono_ms(t->cx->clock);
	int64_t patience_ms = t->start_ms + MR_MAILBOX_QUEUE_TIMEOUT_MS - begun_ms;
	struct mr_err why;
	enum mr_code rc;

	*item = (struct mr_mailbox_lock){ .guard = MR_LOCK_INIT };
	rc = mr_lock_take(t->root->dir, MR_MAILBOX_INDEX_GUARD, "mailroom",
		patience_ms > 0 ? (int)patience_ms : 0, t->cx->clock, &item->guard, &why);
	t->queued_ms += mr_clock_mono_ms(t->cx->clock) - begun_ms;
	if (rc == MR_EBUSY)
		return say_timed_out(t, MR_MAILBOX_INDEX_LOCK, why.msg);
	if (rc) {
		t->cx->err = why;
		return mr_err_wrap(&t->cx->err, "%s", t->root->path);
	}
	t->held->len++;
	mr_crash_point("locks.take.guarded");
	return MR_OK;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct mr_texts sorted_unique(struct mr_arena *arena, const struct mr_texts *texts)
{
	struct mr_texts out = { mr_arena_array(arena, (texts ? texts->len : 0) + 1, sizeof(char *)),
		0 };

	if (!texts || texts->len == 0)
		return out;
	memcpy(out.items, texts->items, texts->len * sizeof(out.items[0]));
	qsort(out.items, texts->len, sizeof(out.items[0]), by_bytes);
	for (size_t i = 0; i < texts->len; i++) {
		if (out.len == 0 || strcmp(out.items[out.len - 1], out.items[i]) != 0)
			out.items[out.len++] = out.items[i];
	}
	out.items[out.len] = NULL;
	return out;
}

/* One entry of a directory, as getdents64(2) gives it. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

/*
 * Remove a lock file of ours; the guard is held, so its process has died. With `waits`, also one
 * that stays empty: we may have died before we wrote into it.
 */
static void remove_ours(int dir, const char *name, bool waits)
{
	struct timespec left = { .tv_sec = EMPTY_MS / 1000, .tv_nsec = EMPTY_MS % 1000 * 1000000L };
	struct found found, again;

	if (!look(dir, name, &found) || !found.is_file)
		return;
	if (waits && found.content[0] == '\0') {
		while (nanosleep(&left, &left) != 0 && errno == EINTR)
			;
		if (look(dir, name, &again) && is_same(&found, &again))
			unlinkat(dir, name, 0);
	} else if (mr_str_ends(found.content, MARK)) {
		unlinkat(dir, name, 0);
	}
}

/*
 * Remove every lock file that a dead process of ours left: programs that do not look for the
 * process would wait for it in vain. The guard is held. Only system calls: the keeper comes here as
 * well.
 */
static void sweep(int root, bool waits)
{
	int dir = openat(root, MR_MAILBOX_ADDRESS_LOCKS,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_Alignas(struct entry) char entries[4096];
	long n;

	while (dir >= 0 && (n = syscall(SYS_getdents64, dir, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *entry = (const void *)(entries + at);

			if (mr_str_ends(entry->name, ".lock"))
				remove_ours(dir, entry->name, waits);
			at += entry->len;
		}
	}
	mr_fs_closep(&dir);
	remove_ours(root, MR_MAILBOX_INDEX_LOCK, waits);
}

/* In the keeper, after our death. */
static void clean_up(int root)
{
	int guard = openat(root, MR_MAILBOX_INDEX_GUARD, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (guard >= 0 && flock(guard, LOCK_EX) == 0)
		sweep(root, true);
}

/* Take the guard and all files; `*out_taken` is false when others should get a turn first. */
static enum mr_code take_all(struct taking *t, const struct mr_texts *addresses, bool *out_taken)
{
	enum mr_code rc = take_guard(t);

	if (!rc) {
		sweep(t->root->dir, false);
		write_content(t);
	}
	*out_taken = true;
	for (size_t i = 0; !rc && *out_taken && i < addresses->len; i++)
		rc = take_file(t, mr_mailbox_layout_lock(t->cx->arena, addresses->items[i]),
			out_taken);
	if (!rc && *out_taken)
		rc = take_file(t, MR_MAILBOX_INDEX_LOCK, out_taken);
	return rc;
}

/* A program that has a root open for long may outlive its move: files are then changed by the open
 * directory, databases by the path, and the two are no longer one root. */
static enum mr_code check_place(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	struct stat open, named;

	if (fstat(root->dir, &open) == 0 && stat(root->path, &named) == 0 &&
		(open.st_dev != named.st_dev || open.st_ino != named.st_ino))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"mailbox root %s was replaced by another directory while this program had "
			"it open",
			root->path);
	return MR_OK;
}

enum mr_code mr_mailbox_locks_take(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *addresses, struct mr_mailbox_locks *out)
{
	struct mr_texts names = sorted_unique(cx->arena, addresses);
	struct mr_mailbox_locks held MR_CLEANUP(mr_mailbox_locks_release) = {
		.root = root,
		.items = mr_arena_array(cx->arena, names.len + 2, sizeof(struct mr_mailbox_lock)),
	};
	struct taking t = {
		.cx = cx,
		.root = root,
		.held = &held,
		.start_ms = mr_clock_mono_ms(cx->clock),
	};
	bool taken = false;
	enum mr_code rc = check_place(cx, root);

	if (!rc && !(cx->keepers && mr_keepers_start(cx->keepers, root->dir, clean_up)) &&
		root->keeper)
		mr_keeper_start(root->keeper, root->dir, clean_up);
	while (!rc && !taken) {
		rc = take_all(&t, &names, &taken);
		if (!rc && !taken) {
			struct mr_mailbox_lock *items = held.items;

			mr_mailbox_locks_release(&held);
			held.root = root;
			held.items = items;
			sleep_a_poll(&t);
		}
	}
	if (rc)
		return rc;
	*out = held;
	held = MR_MAILBOX_LOCKS_INIT;
	return MR_OK;
}

void mr_mailbox_locks_release(struct mr_mailbox_locks *locks)
{
	while (locks->len > 0) {
		struct mr_mailbox_lock *item = &locks->items[--locks->len];
		struct found found;

		mr_lock_release(&item->guard);
		if (!item->path)
			continue;
		if (look(locks->root->dir, item->path, &found) && found.is_file &&
			found.dev == item->dev && found.ino == item->ino &&
			strcmp(found.content, item->content) == 0)
			unlinkat(locks->root->dir, item->path, 0);
		mr_crash_point("locks.release.removed");
	}
	*locks = MR_MAILBOX_LOCKS_INIT;
}
