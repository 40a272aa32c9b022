/* base/fs_watch.h - waiting until a file is touched, woken by the kernel. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_fs_watch;

/* The file must be there. What happens to it from now on is noticed, also between two waits. */
MR_CHECK enum mr_code mr_fs_watch_open(const char *path, struct mr_fs_watch **out,
	struct mr_err *err);
/*
 * Wait until it is written to or its times are set, at most `timeout_ms` (below 0: without end).
 * `*changed` says whether it was; a signal may end the wait earlier. One thread at a time.
 */
MR_CHECK enum mr_code mr_fs_watch_wait(struct mr_fs_watch *watch, int timeout_ms, bool *changed,
	struct mr_err *err);
/* NULL inside is fine. */
void mr_fs_watch_close(struct mr_fs_watch **watch);
