/*
 * base/lock.h - one holder at a time, between processes and threads, by flock(2).
 *
 * The kernel lets go when the holder dies, so a dead owner never blocks anyone. The file itself
 * stays; its content names the holder, for people only: "pid=123 what=mailroom serve since=...". A
 * thread that takes a lock twice waits for itself.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>

struct mr_lock {
	int fd; /* -1 when not held */
};

#define MR_LOCK_INIT ((struct mr_lock){ .fd = -1 })

/*
 * Take the lock file `path` below `dir`, creating it when needed; `timeout_ms` 0 asks once.
 * MR_EBUSY after the timeout, with the owner's line in the message; MR_EPERM when the path is a
 * link. While the owner is dead and only a child that it had just forked keeps the file open, two
 * seconds more. Waiting processes queue in the kernel, first come, first served, and the timeout is
 * real time. `what` and `clock` name the holder and the time for people.
 */
MR_CHECK enum mr_code mr_lock_take(int dir, const char *path, const char *what, int timeout_ms,
	const struct mr_clock *clock, struct mr_lock *out, struct mr_err *err);
/*
 * Share the lock of `fd`, an open lock file, with any number of others, while nobody holds it
 * alone; until it is closed. MR_EBUSY after the timeout, with the owner's line in the message.
 */
MR_CHECK enum mr_code mr_lock_share(int fd, const char *path, int timeout_ms, struct mr_err *err);
/* Let a shared lock go; the file stays open. */
void mr_lock_unshare(int fd);
/* Is somebody holding it just now? Changes nothing; false too when it cannot be told. */
bool mr_lock_is_held(int dir, const char *path);
/* For MR_CLEANUP; not held is fine. */
void mr_lock_release(struct mr_lock *lock);
