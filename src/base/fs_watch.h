/* base/fs_watch.h - being told by the kernel that a file was touched. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_fs_watch;

/* The file must be there. What happens to it from now on is noticed. */
MR_CHECK enum mr_code mr_fs_watch_open(const char *path, struct mr_fs_watch **out,
	struct mr_err *err);
/* A descriptor for poll(2): readable once the file was written to, its times were set, or it was
 * deleted or moved. It stays the watch's. */
int mr_fs_watch_fd(const struct mr_fs_watch *watch);
/* Forget what has happened so far, so that the descriptor is readable only after something else
 * happens. Returns whether anything had. One thread at a time. */
bool mr_fs_watch_drain(struct mr_fs_watch *watch);
/* NULL inside is fine. */
void mr_fs_watch_close(struct mr_fs_watch **watch);
