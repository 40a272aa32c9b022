/*
 * base/fs_watch_dirs.h - being told by the kernel what happens in directories: any number of them
 * for one descriptor, of which a user gets only about a hundred.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_fs_watch_dirs;

enum mr_fs_watch_what {
	MR_FS_WATCH_WRITTEN = 1, /* a file was written to */
	MR_FS_WATCH_ARRIVED = 2, /* a name is new, or names another file */
	MR_FS_WATCH_REMOVED = 4,
	MR_FS_WATCH_TOUCHED = 8, /* its times or rights were set */
	MR_FS_WATCH_CLOSED = 16, /* a file that was open for writing was closed */
	MR_FS_WATCH_LOST = 32,   /* the directory itself is gone, or notices were lost: look */
};

MR_CHECK enum mr_code mr_fs_watch_dirs_open(struct mr_fs_watch_dirs **out, struct mr_err *err);
/* `*out_id` names the directory in what is told; it is above 0, and the same for the same one,
 * which is then told of as the last call says. Without `writes`, MR_FS_WATCH_WRITTEN is not told: a
 * file in work is written to dozens of times. */
MR_CHECK enum mr_code mr_fs_watch_dirs_add(struct mr_fs_watch_dirs *watch, const char *path,
	bool writes, int *out_id, struct mr_err *err);
/* No longer; 0 is fine. */
void mr_fs_watch_dirs_remove(struct mr_fs_watch_dirs *watch, int id);
/* A descriptor for poll(2), readable when something has happened. */
int mr_fs_watch_dirs_fd(const struct mr_fs_watch_dirs *watch);
/* Tell what has happened: `id` 0 means in any of them, `name` is "" for the directory itself. */
typedef void mr_fs_watch_told(void *arg, int id, const char *name, unsigned what);
void mr_fs_watch_dirs_drain(struct mr_fs_watch_dirs *watch, mr_fs_watch_told *told, void *arg);
/* `*watch` becomes NULL. NULL inside is fine. */
void mr_fs_watch_dirs_close(struct mr_fs_watch_dirs **watch);
