/*
 * data/followed.h - being told that databases and lock files change, whichever process changes
 * them.
 *
 * One inotify descriptor follows any number of files by their directories. Only what ends a change
 * counts: the commit of a database of SQLite, whatever its journal, and the end of a writer that
 * had a lock file open. Reading changes nothing, so a follower may read what it is told of.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_followed;

/* `max` files are followed; of more, those that were added last. */
MR_CHECK enum mr_code mr_followed_open(size_t max, struct mr_followed **out, struct mr_err *err);
/*
 * Follow this file from now on; once more is harmless, and keeps it among the newest. While its
 * directory is not there, it is told of when that comes. What cannot be followed is not: a follower
 * has to look now and then anyway.
 */
void mr_followed_add(struct mr_followed *follow, const char *path, bool is_database);
/* A descriptor for poll(2), readable when something happened. */
int mr_followed_fd(const struct mr_followed *follow);
/* Has one of the files changed since the last call? From one thread; adding is safe meanwhile. */
bool mr_followed_drain(struct mr_followed *follow);
/* `*follow` becomes NULL. NULL inside is fine. */
void mr_followed_close(struct mr_followed **follow);

/* What has happened to the name in a directory, `what` of base/fs_watch_dirs.h: is a change of the
 * database of this name there committed with it? Its rollback journal goes with the commit; where
 * that stays, it is closed after it, or who knows of followers touches the database. A write-ahead
 * log grows with the commit. */
bool mr_followed_is_commit(const char *database, const char *name, unsigned what);
