/*
 * data/history.h - a git repository that grows by batches of files, readable by people and by git.
 *
 * `<path>` is the work tree and `<path>/.git` the repository; the branch is always main. It is a
 * projection: the caller keeps a queue elsewhere and appends again what was not acknowledged.
 * Appending what is there already changes nothing, so doing it twice is safe.
 *
 * An append writes, in this order:
 *   1. one pack with the batch's blobs, the trees on their paths and the commit, fsynced. Only
 * trees on the paths of the batch are read and written, each once, so the cost follows depth and
 * size of the directories touched, not the size of the archive;
 *   2. the branch, fsynced, by comparing with what it was: from here on the batch is in the
 * history;
 *   3. the files in the work tree, each by rename, without fsync;
 *   4. a note (.git/mailroom/state) of the commit up to which the work tree is complete, with the
 *      boot it was written in, and of an older one up to which it is on disk.
 * When the note is behind the branch (a writer was killed between 2 and 4) or from an earlier boot
 * (power may have torn files), the next writer to open or append compares the files changed since
 * with the commit and writes those that differ. Work tree and note go to disk (syncfs) once in
 * MR_HISTORY_SYNC_COMMITS appends, and in mr_history_tidy(). mr_history_repair_some() does not rely
 * on the note.
 *
 * Packs are merged as they grow in number, small ones first, so that there are never many. That
 * takes time by their bytes, and an append does only little of it; more is for mr_history_tidy().
 * Older versions of a directory then become deltas against newer ones. Packs that git itself made
 * (`git gc`) are merged too unless git keeps something beside them.
 *
 * The index is not touched by appends, since rewriting it costs as much as the archive is large;
 * call mr_history_sync_index() when there is time, so that `git status` has nothing to report.
 *
 * Writers exclude each other by a kernel lock (.git/mailroom/lock). To keep `git` itself out while
 * the branch or the index is replaced, git's lock files are made as links to that lock: such a link
 * seen by the lock's next holder is a dead writer's and is removed. Any other is a living git's,
 * and is waited for. Temporary files have fixed names in .git/mailroom, so that none can pile up.
 *
 * A handle belongs to one thread at a time; any number of handles, in any number of processes, may
 * use one repository. A damaged repository is MR_EFORMAT.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MR_HISTORY_ID_BYTES = 41, /* 40 hex digits and NUL */
	MR_HISTORY_ID_SHORT = 7,  /* so many digits name a commit, if no other object has them */
	MR_HISTORY_PATH_BYTES = 1024,
	MR_HISTORY_NAME_BYTES = 255,
	MR_HISTORY_DEPTH = 16,
	MR_HISTORY_FILES = 16384,
	MR_HISTORY_FILE_BYTES = 64 << 20,
	MR_HISTORY_BATCH_BYTES = 512 << 20,
	MR_HISTORY_MESSAGE_BYTES = 256 << 10,
	MR_HISTORY_TRAILERS = 64,
	MR_HISTORY_LOG_ENTRIES = 1000,
	MR_HISTORY_LOG_SCAN = 100000,
	MR_HISTORY_SYNC_COMMITS = 64,
	MR_HISTORY_PACKS = 32, /* of about one size are merged */
};

/* Name of the author and committer when the options give none. */
#define MR_HISTORY_AUTHOR_NAME  "mailroom"
#define MR_HISTORY_AUTHOR_EMAIL "mailroom@localhost"

struct mr_history;

/* The id of a commit, lower case. */
struct mr_history_id {
	char hex[MR_HISTORY_ID_BYTES];
};

struct mr_history_file {
	const char *path; /* relative, '/' between parts */
	struct mr_bytes data;
	bool remove; /* take it away instead; nothing there is fine */
};

struct mr_history_trailer {
	const char *key;   /* letters, digits and '-' */
	const char *value; /* control characters become blanks */
};

struct mr_history_batch {
	const struct mr_history_file *files; /* of one path named twice, the last counts */
	size_t file_count;
	const char *message; /* subject, or subject, empty line and body; no trailers */
	const struct mr_history_trailer *trailers;
	size_t trailer_count;
	int64_t time_us; /* 0 means now */
};

enum mr_history_mode {
	MR_HISTORY_CREATE, /* for writing; made when it is not there */
	MR_HISTORY_WRITE,
	MR_HISTORY_READ, /* nothing is locked, repaired or written */
};

struct mr_history_options {
	enum mr_history_mode mode;
	const char *author_name;  /* or NULL */
	const char *author_email; /* or NULL */
	int lock_timeout_ms;      /* how long to wait for other writers; 0 means 60 s */
	/* Appended when the branch has no commit yet; or NULL. */
	const struct mr_history_batch *initial;
};

/*
 * Open the repository at `path`. Safe when several processes create it at once, and after one was
 * killed doing so. When no other writer is at work, what a dead one left is cleared and the work
 * tree completed. `clock` must outlive the handle. MR_ENOTFOUND: none there. MR_ECONFLICT:
 * something else is there (a bare repository, a submodule).
 */
MR_CHECK enum mr_code mr_history_open(const char *path, const struct mr_history_options *options,
	const struct mr_clock *clock, struct mr_history **out, struct mr_err *err);
/* NULL is fine. */
void mr_history_close(struct mr_history *history);
/* For MR_CLEANUP. */
void mr_history_closep(struct mr_history **history);

/* MR_EINVAL, saying why, for what cannot be the path of a file in a repository. */
MR_CHECK enum mr_code mr_history_check_path(const char *path, struct mr_err *err);

struct mr_history_appended {
	struct mr_history_id id; /* the branch's commit now; "" when there is none yet */
	bool committed;          /* false: everything was there already */
};

/*
 * Make one commit of the batch. When it returns MR_OK the commit is on disk and the work tree
 * complete. After an error either nothing happened, or (an error in the work tree, which the
 * message names) the commit stands and the work tree is completed by the next writer: append again.
 * MR_EINVAL, MR_ELIMIT: a path, message or size that is refused. MR_ECONFLICT: a file would stand
 * where a directory is or the other way round. MR_EBUSY: another writer, or git, did not finish.
 */
MR_CHECK enum mr_code mr_history_append(struct mr_history *history,
	const struct mr_history_batch *batch, struct mr_history_appended *out, struct mr_err *err);

/* The newest commit; MR_ENOTFOUND while there is none. */
MR_CHECK enum mr_code mr_history_head(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err);

/*
 * The bytes of a file in a commit, followed by a NUL that is not counted. `commit` is an id, its
 * first MR_HISTORY_ID_SHORT digits or more, or NULL or "HEAD" for the newest. MR_ENOTFOUND names
 * what is missing, more than `max` is MR_ELIMIT.
 */
MR_CHECK enum mr_code mr_history_read(struct mr_arena *arena, struct mr_history *history,
	const char *commit, const char *path, size_t max, struct mr_bytes *out, struct mr_err *err);

/* Every file of the newest commit, in no particular order: its path and its blob's id, which is
 * what mr_history_blob_id() says of its bytes. Stops at an error of `visit`. None without commits.
 */
typedef enum mr_code mr_history_visit(void *arg, const char *path, const struct mr_history_id *id,
	struct mr_err *err);
MR_CHECK enum mr_code mr_history_files(struct mr_history *history, mr_history_visit *visit,
	void *arg, struct mr_err *err);
struct mr_history_id mr_history_blob_id(struct mr_bytes data);

/*
 * Reading a repository that may be damaged.
 *
 * The branch is lost when its file is empty or missing, or names a commit that is not there or has
 * no readable directory. Then the newest commit that is still readable stands in for it, and `why`
 * says what is wrong with the branch: commits made after it are missing.
 */
struct mr_history_salvage {
	struct mr_history_id id; /* "" when no commit can be read */
	int64_t time_us;
	const char *why; /* NULL when `id` is the branch's own commit, or there never was one */
};
MR_CHECK enum mr_code mr_history_salvage(struct mr_arena *arena, struct mr_history *history,
	struct mr_history_salvage *out, struct mr_err *err);
/* Every file of a commit, as mr_history_files() tells them. For a directory that cannot be read
 * `id` is NULL, `err` says why, and the walk goes on when `visit` returns MR_OK. */
MR_CHECK enum mr_code mr_history_files_of(struct mr_history *history,
	const struct mr_history_id *commit, mr_history_visit *visit, void *arg, struct mr_err *err);
/* The bytes of a blob by its id, followed by a NUL that is not counted. */
MR_CHECK enum mr_code mr_history_blob(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_id *id, size_t max, struct mr_bytes *out, struct mr_err *err);

struct mr_history_query {
	const char *path; /* commits that changed this file or directory; NULL for all */
	struct mr_history_trailer trailer; /* with a path: and those with this trailer, or NULL */
	const char *start;                 /* from this commit back; NULL for the newest */
	size_t limit;                      /* 1 .. MR_HISTORY_LOG_ENTRIES */
	size_t max_scan;                   /* commits looked at; 0 means 10,000 */
};

struct mr_history_entry {
	struct mr_history_id id;
	const char *subject; /* first line */
	const char *body;    /* what follows, without the trailers; "" when nothing does */
	const struct mr_history_trailer *trailers;
	size_t trailer_count;
	const char *author_name;
	const char *author_email;
	int64_t time_us;
};

struct mr_history_log {
	struct mr_history_entry *items; /* newest first */
	size_t len;
	struct mr_history_id next; /* where to start to go on; "" at the end */
};

/* The commits a query asks for, along first parents. A repository without commits gives none. */
MR_CHECK enum mr_code mr_history_log(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_query *query, struct mr_history_log *out, struct mr_err *err);
/* The value of the first trailer of that name, in any case; or NULL. */
const char *mr_history_trailer(const struct mr_history_entry *entry, const char *key);

/* A file that a commit changed: its blobs before and after, "" where there is none. */
struct mr_history_change {
	const char *path;
	struct mr_history_id before, after;
};
struct mr_history_changes {
	struct mr_history_entry entry; /* the commit */
	struct mr_history_id before;   /* its first parent; "" for the first commit */
	struct mr_history_change *items;
	size_t len, total; /* at most `max` of them are in `items` */
};
/* A commit and the files that it changed, by path. MR_ENOTFOUND, MR_EINVAL: as mr_history_read().
 */
MR_CHECK enum mr_code mr_history_changes(struct mr_arena *arena, struct mr_history *history,
	const char *commit, size_t max, struct mr_history_changes *out, struct mr_err *err);

enum mr_history_line_kind {
	MR_HISTORY_SKIP = '@', /* lines that both have are left out: the numbers go on here */
	MR_HISTORY_SAME = ' ',
	MR_HISTORY_ADDED = '+',
	MR_HISTORY_GONE = '-',
};
/* A line of a comparison with its end, and its numbers, -1 on the side that does not have it. */
typedef enum mr_code mr_history_line(void *arg, enum mr_history_line_kind kind, int before,
	int after, struct mr_bytes text, struct mr_err *err);
/* Compare two texts by lines, and tell what differs with three lines around it. Nothing is told of
 * bytes that are no text. Stops at an error of `visit`. Takes time by their sizes: bound them. A
 * history must be open. */
MR_CHECK enum mr_code mr_history_compare(struct mr_bytes before, struct mr_bytes after,
	mr_history_line *visit, void *arg, struct mr_err *err);

struct mr_history_item {
	const char *name;
	bool is_dir;
	struct mr_history_id id;
};
struct mr_history_items {
	struct mr_history_item *items; /* in git's order */
	size_t len;
};
/* What is in a directory ("" is the uppermost) of a commit: files and directories, no links.
 * MR_ENOTFOUND names what is missing; MR_EINVAL: it is a file. */
MR_CHECK enum mr_code mr_history_list(struct mr_arena *arena, struct mr_history *history,
	const char *commit, const char *path, struct mr_history_items *out, struct mr_err *err);

/*
 * Compare the work tree with the newest commit, and write again files that a power loss tore: those
 * that are missing, and those whose every byte is the committed one or NUL, which includes empty
 * and truncated files. A file with other content was changed by a person, and stays.
 *
 * Files changed since the last sync are compared byte by byte, whatever the note says: it cannot
 * know that its disk came back without them. All others were on disk, so for them missing files
 * and sizes below that of the commit are looked for, MR_HISTORY_REPAIR_FILES at a call, and nobody
 * is kept from writing meanwhile. A repository that this handle found without a note is left alone.
 * Begin with a zero struct, and call until `more` is false.
 */
enum { MR_HISTORY_REPAIR_FILES = 20000 };
struct mr_history_repair {
	size_t at;
	size_t mended; /* files written again so far */
	bool more;
};
MR_CHECK enum mr_code mr_history_repair_some(struct mr_history *history,
	struct mr_history_repair *repair, struct mr_err *err);
/* For idle times: merge packs, and put the work tree on disk. A part of it that takes a second at
 * most; `*more`: call again. */
MR_CHECK enum mr_code mr_history_tidy_some(struct mr_history *history, bool *more,
	struct mr_err *err);
/* All of it. */
MR_CHECK enum mr_code mr_history_tidy(struct mr_history *history, struct mr_err *err);
/*
 * Bring .git/index to the newest commit, for people who look with `git status`. What git knows of
 * unchanged files is kept; it looks at the others once itself. Whatever was staged is unstaged.
 */
MR_CHECK enum mr_code mr_history_sync_index(struct mr_history *history, struct mr_err *err);
