/*
 * data/history_private.h - what the files history*.c share.
 *
 *   history.c         all that needs the git library: reading, the branch, the index
 *   history_append.c  opening, being the only writer, the order of things
 *   history_commit.c  a batch becomes trees, a commit and a pack
 *   history_list.c    what is in a directory of a commit
 *   history_repair.c    a work tree that was torn
 *   history_object.c  objects as bytes
 *   history_pack.c    packs as files: placed, chosen, removed
 *   history_pack_file.c   packs as bytes
 *   history_pack_merge.c  many packs become one
 *   history_text.c    paths and messages
 *   history_work.c    the work tree and the note about it
 *
 * An id with an empty text stands for no commit.
 */
#pragma once

#include "base/lock.h"
#include "data/history.h"
#include "data/history_object.h"

#define MR_HISTORY_REF "refs/heads/main"
/* In .git/mailroom, each renamed to where it belongs. */
#define MR_HISTORY_NEXT       "ref.tmp"
#define MR_HISTORY_INDEX      "index.tmp"
#define MR_HISTORY_PACK_TEMP  "pack.tmp"
#define MR_HISTORY_INDEX_TEMP "idx.tmp"

struct git_odb;
struct git_repository;

struct mr_history {
	char *path;
	char *author_name, *author_email;
	enum mr_history_mode mode;
	int lock_timeout_ms;
	const struct mr_clock *clock;
	int work_dir, git_dir, own_dir; /* own_dir is .git/mailroom; -1 when reading */
	struct git_repository *repo;
	struct git_odb *odb;
	/* Packs that others merged stay open here: look anew after some moves of the branch. */
	struct mr_history_id last_head;
	unsigned moves;
	/* What the next append will ask for. */
	struct mr_history_kept *kept; /* trees; or NULL */
	struct mr_history_id root_of; /* a commit of ours, */
	struct mr_object_id root;     /* and its tree */
	uint64_t unmerged_bytes;      /* written by this handle since packs were looked at */
	bool is_adopted;              /* it had no note: its work tree was not made by us */
};

/* One file of a batch. */
struct mr_history_op {
	const struct mr_history_file *file;
	bool changed; /* the commit differs from its parent here */
};

/* --- history.c --- */

/* Make what is missing of a repository in .git; the caller holds the lock. */
MR_CHECK enum mr_code mr_history_make_repository(struct mr_history *history, struct mr_err *err);
MR_CHECK enum mr_code mr_history_open_repository(struct mr_history *history, struct mr_err *err);
void mr_history_close_repository(struct mr_history *history);

/* The branch's commit. */
MR_CHECK enum mr_code mr_history_get_head(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err);
/* The id of a file's bytes; false for bytes that were made to collide. */
bool mr_history_hash_blob(struct mr_bytes data, struct mr_object_id *out);
MR_CHECK enum mr_code mr_history_load_tree(struct mr_history *history, struct mr_arena *arena,
	const struct mr_object_id *id, struct mr_bytes *out, struct mr_err *err);
/* The uppermost directory of a commit. */
MR_CHECK enum mr_code mr_history_load_root(struct mr_history *history,
	const struct mr_history_id *commit, struct mr_object_id *out, struct mr_err *err);
/* The size of a blob. */
MR_CHECK enum mr_code mr_history_blob_size(struct mr_history *history,
	const struct mr_history_id *id, size_t *out, struct mr_err *err);
/* Write the newest commit's index to .git/mailroom/MR_HISTORY_INDEX, from what is there already. */
MR_CHECK enum mr_code mr_history_write_index(struct mr_history *history, struct mr_err *err);

/* A file that differs between two commits: its new content, or NULL when it is gone. */
typedef enum mr_code mr_history_differ(void *arg, const char *path, const struct mr_bytes *data,
	struct mr_err *err);
/* Tells all that are gone before the others. A `before` that is not there any more is as none. */
MR_CHECK enum mr_code mr_history_diff(struct mr_history *history,
	const struct mr_history_id *before, const struct mr_history_id *after,
	mr_history_differ *differ, void *arg, struct mr_err *err);

/* --- history_commit.c --- */

/*
 * Make a commit on top of `parent` and put it, with all that is new, on disk as one pack. `ops` are
 * sorted by mr_history_path_order(), each path once. `*out` is "" when there is nothing to change.
 */
MR_CHECK enum mr_code mr_history_commit(struct mr_history *history, struct mr_history_op *ops,
	size_t count, const char *message, int64_t time_us, const struct mr_history_id *parent,
	struct mr_history_id *out, struct mr_err *err);
void mr_history_kept_free(struct mr_history *history);

/* --- history_text.c --- */

/* '/' before everything, so that what is below a name follows it directly. */
int mr_history_path_order(const char *a, const char *b);
/* The message with its trailers as last paragraph. */
MR_CHECK enum mr_code mr_history_message(struct mr_arena *arena,
	const struct mr_history_batch *batch, const char **out, struct mr_err *err);
/* Valid UTF-8, whatever a person's git wrote; NULL becomes "". */
const char *mr_history_clean(struct mr_arena *arena, const char *text);

/* --- history_append.c --- */

/* Be the only writer, with a work tree that is complete. */
MR_CHECK enum mr_code mr_history_become_writer(struct mr_history *history, int timeout_ms,
	struct mr_lock *out, struct mr_err *err);
/* Put a file's content on disk. */
MR_CHECK enum mr_code mr_history_sync(int dir, const char *name, struct mr_err *err);

/* --- history_pack.c --- */

/* Name the pack that was written to MR_HISTORY_PACK_TEMP into place, durably. */
MR_CHECK enum mr_code mr_history_pack_place(struct mr_history *history, const char *name,
	struct mr_err *err);
/* "objects/pack/<name>.<suffix>" */
const char *mr_history_pack_path(struct mr_arena *arena, const char *name, const char *suffix);

/* Packs of about one size are merged when there are `count` of them, or `some` that have
 * `at_bytes` together; never more than `max_bytes` at once. */
struct mr_history_merge_limits {
	size_t count, some;
	uint64_t at_bytes, max_bytes;
};
/* Names, without suffix, of packs that should be merged, the smallest first; or none. */
MR_CHECK enum mr_code mr_history_pack_choose(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_merge_limits *limits, struct mr_texts *out, struct mr_err *err);
/* Remove these, but not the one named `but`. */
MR_CHECK enum mr_code mr_history_pack_remove(struct mr_history *history,
	const struct mr_texts *names, const char *but, struct mr_err *err);

/* --- history_pack_merge.c --- */

/* Merge once, if there is something to; `*merged` says whether. */
MR_CHECK enum mr_code mr_history_merge(struct mr_history *history,
	const struct mr_history_merge_limits *limits, bool *merged, struct mr_err *err);

/* --- history_work.c --- */

/* A file in .git/mailroom, to be renamed by the caller; not durable. */
MR_CHECK enum mr_code mr_history_temp_write(struct mr_history *history, const char *name,
	struct mr_bytes data, struct mr_err *err);

struct mr_history_work {
	struct mr_history *history;
	int dir; /* opened last, since files come sorted; -1 when none is */
	char dir_path[MR_HISTORY_PATH_BYTES + 1];
};
/* For MR_CLEANUP. */
void mr_history_work_close(struct mr_history_work *work);
/* Put a file in place by rename; with NULL take it away, and directories that become empty. */
MR_CHECK enum mr_code mr_history_work_set(struct mr_history_work *work, const char *path,
	const struct mr_bytes *data, struct mr_err *err);
/* Write a file again that is missing or torn (see mr_history_repair_some()); `*mended` says whether
 * it was. */
MR_CHECK enum mr_code mr_history_work_repair(struct mr_history_work *work, const char *path,
	const struct mr_bytes *want, bool *mended, struct mr_err *err);
/* A repository that was just made: note that its work tree has nothing yet, so that a power loss
 * before the first note is not taken for somebody else's repository. */
MR_CHECK enum mr_code mr_history_work_begin(struct mr_history *history, struct mr_err *err);
/* The commit up to which the work tree is on disk. */
MR_CHECK enum mr_code mr_history_work_durable(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err);
/* Bring the work tree from where the note says it is to the branch. */
MR_CHECK enum mr_code mr_history_work_complete(struct mr_history *history, struct mr_err *err);
/* The work tree is complete up to `head`: note it, and put it on disk when that is due or `now`. */
MR_CHECK enum mr_code mr_history_work_note(struct mr_history *history,
	const struct mr_history_id *head, bool now, struct mr_err *err);
