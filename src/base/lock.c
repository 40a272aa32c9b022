/*
 * base/lock.c - Exclusive and shared flock(2) locks with a timeout; the lock file names its holder
 * for people to read.
 */
#include "base/lock.h"

#include "base/fs.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* before glibc 2.38 */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	OWNER_BYTES = 256,
	WHAT_BYTES = 128,
	SLEEP_MS = 10, /* between looks where the kernel has no timer for us */
	WAKE_AGAIN_MS = 20,
	REMOVED_ATTEMPTS = 16, /* how often the file may be removed under us without a wait */
	ORPHAN_MS = 2000,      /* how long the children of a dead owner are waited for */
};

/* One try to get a lock. */
struct attempt {
	int fd;           /* -1, or the lock is ours */
	bool is_removed;  /* the file went away meanwhile */
	bool is_orphaned; /* it is held, but its owner is dead */
};

static enum mr_code open_lock(int dir, const char *path, int *out_fd, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct stat st;

	fd = openat(dir, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		0600);
	if (fd < 0 && errno == ELOOP)
		return mr_err_set(err, MR_EPERM, "lock file %s is a link; links are not followed",
			path);
	if (fd < 0)
		return mr_err_os(err, errno, "cannot open lock file %s", path);
	if (fstat(fd, &st) != 0)
		return mr_err_os(err, errno, "cannot stat lock file %s", path);
	if (!S_ISREG(st.st_mode))
		return mr_err_set(err, MR_EINVAL, "lock file %s is not a regular file", path);
	*out_fd = mr_fs_take(&fd);
	return MR_OK;
}

/* Does the path still name the open file? Another process may have removed it, and the next one
 * would lock a new file. */
static bool still_names(int dir, const char *path, int fd)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && fstatat(dir, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* One line of readable text, whatever the bytes are. */
static void make_readable(char *text)
{
	bool is_utf8 = mr_utf8_is_valid(text, strlen(text), NULL);

	for (char *at = text; *at != '\0'; at++) {
		unsigned char c = (unsigned char)*at;

		if (c < 0x20 || c == 0x7f || (c >= 0x80 && !is_utf8))
			*at = '?';
	}
}

/* For people only, so a full disk does not matter. */
static void write_owner(int fd, const char *what, const struct mr_clock *clock)
{
	time_t now = (time_t)(mr_clock_wall_us(clock) / 1000000);
	char line[OWNER_BYTES], name[WHAT_BYTES + 1], since[32] = "?";
	struct tm tm;
	int len;

	snprintf(name, sizeof(name), "%.*s", (int)mr_utf8_truncate(what, strlen(what), WHAT_BYTES),
		what);
	make_readable(name);
	if (gmtime_r(&now, &tm))
		strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", &tm);
	len = snprintf(line, sizeof(line), "pid=%ld what=%s since=%s\n", (long)getpid(), name,
		since);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, line, (size_t)len, 0) != len)
		(void)!ftruncate(fd, 0);
}

/*
 * Does the file name an owner that is no more? Another process can still hold the lock for a
 * moment: a child that the owner had forked when it died closes the file only when it runs its
 * program.
 */
static bool owner_is_dead(int fd)
{
	static const char begin[] = "pid=";
	char line[OWNER_BYTES + 1];
	ssize_t len = pread(fd, line, OWNER_BYTES, 0);
	long pid;

	line[len > 0 ? len : 0] = '\0';
	if (strncmp(line, begin, strlen(begin)) != 0)
		return false;
	pid = strtol(line + strlen(begin), NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static enum mr_code say_busy(struct mr_err *err, const char *path, int fd)
{
	char line[OWNER_BYTES + 1];
	ssize_t len = pread(fd, line, OWNER_BYTES, 0);

	line[len > 0 ? len : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (line[0] == '\0')
		return mr_err_set(err, MR_EBUSY, "lock %s is held by another process", path);
	make_readable(line);
	return mr_err_set(err, MR_EBUSY, "lock %s is held by %s", path, line);
}

static void sleep_ms(int ms)
{
	struct timespec left = { .tv_nsec = ms * 1000000L };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static void on_wake(int signal)
{
	(void)signal;
}

/* Without SA_RESTART, so that flock(2) returns. A stray SIGURG is harmless. */
static void install_wake(void)
{
	struct sigaction action = { .sa_handler = on_wake };

	sigemptyset(&action.sa_mask);
	sigaction(SIGURG, &action, NULL);
}

/* A timer that interrupts this thread after `ms`, and then again and again, for the first signal
 * may come before the call it is to interrupt. */
static bool start_wake(int ms, timer_t *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG };
	struct itimerspec when = {
		.it_value = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L },
		.it_interval = { .tv_nsec = WAKE_AGAIN_MS * 1000000L },
	};

	pthread_once(&once, install_wake);
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, out) != 0)
		return false;
	if (timer_settime(*out, 0, &when, NULL) == 0)
		return true;
	timer_delete(*out);
	return false;
}

/*
 * Wait in the kernel's queue, which wakes us when it is our turn, for `ms` > 0 at most. Returns
 * flock's result; EINTR means that the time is up.
 */
static int wait_lock(int fd, int ms)
{
	sigset_t wake, before;
	timer_t timer;
	int got, kept;

	if (!start_wake(ms, &timer)) {
		sleep_ms(ms < SLEEP_MS ? ms : SLEEP_MS);
		errno = EINTR;
		return -1;
	}
	sigemptyset(&wake);
	sigaddset(&wake, SIGURG);
	pthread_sigmask(SIG_UNBLOCK, &wake, &before);
	got = flock(fd, LOCK_EX);
	kept = errno;
	timer_delete(timer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = kept;
	return got;
}

/* Try, and when somebody holds it wait for `wait_ms`. MR_EBUSY names the owner. */
static enum mr_code try_lock(int dir, const char *path, int wait_ms, struct attempt *out,
	struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = open_lock(dir, path, &fd, err);
	int got;

	if (rc)
		return rc;
	do
		got = flock(fd, LOCK_EX | LOCK_NB);
	while (got != 0 && errno == EINTR);
	if (got != 0 && errno == EWOULDBLOCK && wait_ms > 0)
		got = wait_lock(fd, wait_ms);
	if (got != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
		out->is_orphaned = owner_is_dead(fd);
		return say_busy(err, path, fd);
	}
	if (got != 0)
		return mr_err_os(err, errno, "cannot lock %s", path);
	out->is_removed = !still_names(dir, path, fd);
	if (!out->is_removed)
		out->fd = mr_fs_take(&fd);
	return MR_OK;
}

enum mr_code mr_lock_take(int dir, const char *path, const char *what, int timeout_ms,
	const struct mr_clock *clock, struct mr_lock *out, struct mr_err *err)
{
	int64_t end_ms = mr_clock_mono_ms(mr_clock_system()) + timeout_ms;
	bool may_wait_for_orphans = true;
	int removed_times = 0;

	for (;;) {
		int64_t now_ms = mr_clock_mono_ms(mr_clock_system());
		struct attempt got = { .fd = -1 };
		struct mr_err why;
		enum mr_code rc = try_lock(dir, path, (int)(end_ms - now_ms), &got, &why);

		if (got.fd >= 0) {
			write_owner(got.fd, what, clock);
			out->fd = got.fd;
			return MR_OK;
		}
		if (got.is_removed && ++removed_times < REMOVED_ATTEMPTS)
			continue;
		if (got.is_removed)
			rc = mr_err_set(&why, MR_EBUSY, "lock %s is being removed again and again",
				path);
		if (got.is_orphaned && end_ms <= now_ms && may_wait_for_orphans) {
			may_wait_for_orphans = false;
			end_ms = now_ms + ORPHAN_MS;
			continue;
		}
		if (rc != MR_EBUSY || end_ms <= now_ms) {
			*err = why;
			return rc;
		}
		if (got.is_removed)
			sleep_ms(1);
	}
}

enum mr_code mr_lock_share(int fd, const char *path, int timeout_ms, struct mr_err *err)
{
	int64_t end_ms = mr_clock_mono_ms(mr_clock_system()) + timeout_ms;

	while (flock(fd, LOCK_SH | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return mr_err_os(err, errno, "cannot lock %s", path);
		if (mr_clock_mono_ms(mr_clock_system()) >= end_ms)
			return say_busy(err, path, fd);
		sleep_ms(SLEEP_MS);
	}
	return MR_OK;
}

void mr_lock_unshare(int fd)
{
	flock(fd, LOCK_UN);
}

bool mr_lock_is_held(int dir, const char *path)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void mr_lock_release(struct mr_lock *lock)
{
	if (lock->fd < 0)
		return;
	(void)!ftruncate(lock->fd, 0);
	/* Unlock explicitly: a child between fork and exec may hold a copy of the descriptor. */
	flock(lock->fd, LOCK_UN);
	mr_fs_closep(&lock->fd);
}
