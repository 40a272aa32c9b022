/*
 * data/history_private.h - what the files history*.c share.
 *
 *   history.c         all that needs the git library: ids, objects, the branch, the index
 *   history_open.c    opening, making, being the only writer
 *   history_append.c  a batch becomes objects and a commit
 *   history_path.c    which paths are allowed
 *   history_work.c    the work tree, the note about it, git's lock files
 *   history_log.c     reading: log, files, changes
 *   history_tidy.c    merging packs, restoring
 *   history_diff.c    what differs between two trees
 *   history_tree.c    the bytes of a tree           history_pack.c, history_merge.c  packs
 */
#pragma once

#include "base/lock.h"
#include "data/history.h"
#include "data/history_pack.h"
#include "data/history_tree.h"

#include <sys/types.h>

#define MR_HISTORY_REF        "refs/heads/main"
#define MR_HISTORY_REF_LOCK   "refs/heads/main.lock"
#define MR_HISTORY_INDEX_LOCK "index.lock"

enum {
	MR_HISTORY_OBJECT_BYTES = 512 << 20, /* the largest object read */
	MR_HISTORY_CACHED = 256,             /* trees and commits kept, and their bytes */
	MR_HISTORY_CACHE_BYTES = 48 << 20,
};

struct mr_history_cached {
	struct mr_oid id;
	enum mr_pack_kind kind;
	uint8_t *data;
	size_t len;
	uint64_t used;
};

struct git_repository;
struct git_odb;

struct mr_history {
	char *path;
	char *author; /* "Name <mail>" */
	enum mr_history_mode mode;
	int lock_timeout_ms;
	const struct mr_clock *clock;
	struct git_repository *repo;
	struct git_odb *odb;
	int work_dir, git_dir, own_dir, pack_dir; /* own_dir is .git/mailroom; -1 when reading */
	/* Packs we read may be merged away by others; after some moves of the branch, look anew. */
	struct mr_oid last_head;
	unsigned moves;
	struct mr_history_cached cache[MR_HISTORY_CACHED];
	size_t cache_bytes;
	uint64_t cache_clock;
};

/* --- history.c --- */

MR_CHECK enum mr_code mr_history_open_repository(struct mr_history *history, struct mr_err *err);
void mr_history_close_repository(struct mr_history *history);

/* The branch's commit; zero when there is none. */
MR_CHECK enum mr_code mr_history_get_head(struct mr_history *history, struct mr_oid *out,
	struct mr_err *err);
/* An object's bytes, in `arena`; MR_EFORMAT when it is missing, damaged or of another kind. */
MR_CHECK enum mr_code mr_history_get(struct mr_arena *arena, struct mr_history *history,
	const struct mr_oid *id, enum mr_pack_kind kind, struct mr_bytes *out, struct mr_err *err);
/* A blob's size. */
MR_CHECK enum mr_code mr_history_get_size(struct mr_history *history, const struct mr_oid *id,
	size_t *out, struct mr_err *err);
/* A commit named by a request: MR_ENOTFOUND when there is no such commit. */
MR_CHECK enum mr_code mr_history_find_commit(struct mr_history *history, const char *text,
	struct mr_oid *out, struct mr_err *err);
/* The id of what would be stored. */
MR_CHECK enum mr_code mr_history_hash(struct mr_bytes data, enum mr_pack_kind kind,
	struct mr_oid *out, struct mr_err *err);
/* Keep a tree or commit that was just written, so that the next batch need not read it. */
void mr_history_remember(struct mr_history *history, const struct mr_oid *id,
	enum mr_pack_kind kind, struct mr_bytes data);
/* --- history_open.c --- */

/* A commit's tree; zero for zero. */
MR_CHECK enum mr_code mr_history_tree_of(struct mr_history *history, const struct mr_oid *commit,
	struct mr_oid *out, struct mr_err *err);
/* Be the only writer; clears what a dead one left of git's locks, and completes the work tree. */
MR_CHECK enum mr_code mr_history_lock(struct mr_history *history, int timeout_ms,
	struct mr_lock *out, struct mr_err *err);

/* --- history_log.c --- */

struct mr_history_commit {
	struct mr_oid tree;
	struct mr_oid parent; /* the first; zero when there is none */
	struct mr_bytes raw;
};
MR_CHECK enum mr_code mr_history_get_commit(struct mr_arena *arena, struct mr_history *history,
	const struct mr_oid *id, struct mr_history_commit *out, struct mr_err *err);

/* --- history_diff.c --- */

/*
 * Called for each path at which two trees differ, a directory before its contents. A missing side
 * has mode 0. What was a file and becomes a directory is told as two: gone, then come.
 */
typedef enum mr_code mr_history_differ(void *arg, const char *path,
	const struct mr_tree_entry *before, const struct mr_tree_entry *after, struct mr_err *err);
/* Zero stands for the empty tree. */
MR_CHECK enum mr_code mr_history_diff(struct mr_history *history, const struct mr_oid *before,
	const struct mr_oid *after, mr_history_differ *differ, void *arg, struct mr_err *err);

/* --- history_work.c --- */

struct mr_history_work {
	struct mr_history *history;
	char dir_path[MR_HISTORY_PATH_BYTES +
		1]; /* the directory opened last, since files come sorted */
	int dir;    /* -1 when none is */
};

void mr_history_work_open(struct mr_history_work *work, struct mr_history *history);
void mr_history_work_close(struct mr_history_work *work);
/* Put a file in place by rename; directories are made. */
MR_CHECK enum mr_code mr_history_work_put(struct mr_history_work *work, const char *path,
	struct mr_bytes data, struct mr_err *err);
/* Take it away, and directories that become empty. */
MR_CHECK enum mr_code mr_history_work_remove(struct mr_history_work *work, const char *path,
	struct mr_err *err);

/* Make the work tree follow from one commit's tree to another's, writing only what differs on disk.
 */
MR_CHECK enum mr_code mr_history_work_follow(struct mr_history *history,
	const struct mr_oid *before, const struct mr_oid *after, size_t *out_written,
	struct mr_err *err);

/* .git/mailroom/state */
struct mr_history_state {
	struct mr_oid
		complete; /* the work tree has all files of this commit, if this boot wrote it */
	struct mr_oid durable; /* and on disk those of this one */
	unsigned behind;       /* commits between them */
	bool is_this_boot;
};
MR_CHECK enum mr_code mr_history_state_read(struct mr_history *history,
	struct mr_history_state *out, bool *out_found, struct mr_err *err);
MR_CHECK enum mr_code mr_history_state_write(struct mr_history *history,
	const struct mr_history_state *state, struct mr_err *err);
/* The work tree is complete up to `head`: note it, and put it on disk when that is due or `now`. */
MR_CHECK enum mr_code mr_history_state_advance(struct mr_history *history,
	const struct mr_oid *head, bool now, struct mr_err *err);

/* A file in .git/mailroom, not durable unless `sync`; then renamed by the caller. */
MR_CHECK enum mr_code mr_history_temp_write(struct mr_history *history, const char *name,
	struct mr_bytes data, mode_t mode, bool sync, struct mr_err *err);

/* One of git's lock files, as a link to our lock. Release it with mr_history_gitlock_release(). */
MR_CHECK enum mr_code mr_history_gitlock_take(struct mr_history *history, const char *path,
	struct mr_err *err);
void mr_history_gitlock_release(struct mr_history *history, const char *path);
/* Remove git's locks that a dead writer of ours left; the caller holds `lock`. */
MR_CHECK enum mr_code mr_history_gitlock_sweep(struct mr_history *history,
	const struct mr_lock *lock, struct mr_err *err);

/* --- history_tidy.c --- */

/* Merge when there are `trigger` packs; the caller holds the lock. */
MR_CHECK enum mr_code mr_history_merge(struct mr_history *history, size_t trigger,
	uint64_t max_bytes, struct mr_err *err);
