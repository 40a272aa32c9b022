/*
 * base/fs.h - files: written atomically, read within bounds, opened without leaving their
 * directory.
 *
 * Every path is relative to an open directory `dir` (AT_FDCWD for the working directory),
 * descriptors are close-on-exec, modes are subject to the umask. Errors name the path. This is the
 * only place that makes a file durable: a temporary name in the same directory, write, fsync,
 * rename, fsync of the directory; a crash at any step leaves the old file or the new one, and at
 * worst a stale ".name.tmp-pid-random", which mr_fs_sweep_temporaries() removes.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* For MR_CLEANUP on a descriptor that starts as -1. */
void mr_fs_closep(int *fd);
/* Hand a descriptor out of reach of its MR_CLEANUP: returns it and leaves -1. */
int mr_fs_take(int *fd);

/* Open a directory for use as `dir` below. */
MR_CHECK enum mr_code mr_fs_open_dir(int dir, const char *path, int *out_fd, struct mr_err *err);

/*
 * Open a `path` that a request named, below `dir`: absolute paths, ".." that climbs out and links
 * that lead out are MR_EPERM, pipes and devices MR_EINVAL. `flags` as for open(2), `mode` for
 * O_CREAT. Where the kernel has no openat2(2), every link and every ".." is refused.
 */
MR_CHECK enum mr_code mr_fs_open_beneath(int dir, const char *path, int flags, mode_t mode,
	int *out_fd, struct mr_err *err);

/*
 * Open a file by an absolute path that goes through no link, as realpath(3) gives it: one that was
 * put there since is MR_EPERM, pipes and devices are MR_EINVAL.
 */
MR_CHECK enum mr_code mr_fs_open_real(const char *path, int flags, int *out_fd, struct mr_err *err);

enum mr_fs_write {
	MR_FS_REPLACE, /* take the place of what is there */
	MR_FS_NEW,     /* MR_EEXISTS when something is there */
};

/*
 * Write a whole file atomically and durably. The directory must exist; a link at `path` is
 * replaced, not followed. After an error what was there is there, with one exception, told by the
 * message: when only the directory could not be written to disk, the new file stands.
 */
MR_CHECK enum mr_code mr_fs_write(int dir, const char *path, struct mr_bytes data,
	enum mr_fs_write how, mode_t mode, struct mr_err *err);

enum mr_fs_sync {
	MR_FS_SYNC_ALL,     /* the file and its name */
	MR_FS_SYNC_FILE,    /* the caller writes the directory to disk after many files */
	MR_FS_SYNC_NOTHING, /* a power failure may undo it: for what can be made again */
};
/* The same with less durability; still atomic for those who read. */
MR_CHECK enum mr_code mr_fs_write_as(int dir, const char *path, struct mr_bytes data,
	enum mr_fs_write how, enum mr_fs_sync sync, mode_t mode, struct mr_err *err);
/*
 * The same, and the file stays open and locked (flock, alone) from before it gets its name, so that
 * nobody can see it without its lock. `*out_fd` is set whenever the new file stands, even when its
 * directory could not be written to disk; otherwise it is left alone.
 */
MR_CHECK enum mr_code mr_fs_write_locked(int dir, const char *path, struct mr_bytes data,
	enum mr_fs_write how, enum mr_fs_sync sync, mode_t mode, int *out_fd, struct mr_err *err);
/* Remove temporary names in directory `path` that dead writers left; not recursive. A name is left
 * alone while its writer's process lives or its file is locked. */
MR_CHECK enum mr_code mr_fs_sweep_temporaries(int dir, const char *path, size_t *out_removed,
	struct mr_err *err);

/* rename(2) of a file or directory, then fsync of both directories. On one file system only. */
MR_CHECK enum mr_code mr_fs_rename(int from_dir, const char *from, int to_dir, const char *to,
	enum mr_fs_write how, struct mr_err *err);
/* Make an open file's content durable; `path` is for the message. */
MR_CHECK enum mr_code mr_fs_sync(int fd, const char *path, struct mr_err *err);
/* Make the directory's entries durable. */
MR_CHECK enum mr_code mr_fs_sync_dir(int dir, const char *path, struct mr_err *err);

/*
 * Many files at once: write each with mr_fs_write_bare() under a name that nobody looks at, make
 * all of them durable with one call, then put each in place, and sync the directory at the end.
 */

/*
 * Make open files and directories durable that were all changed before: what they have in common
 * (the journal of a file system) is written once, so that many cost little more than one.
 */
MR_CHECK enum mr_code mr_fs_sync_together(const int *fds, size_t count, struct mr_err *err);
/* Write a file under a name that nobody looks at, in place of what is there: not atomic, which
 * saves the temporary name, and its name is not durable. `sync`: its content is. */
MR_CHECK enum mr_code mr_fs_write_bare(int dir, const char *path, struct mr_bytes data, bool sync,
	mode_t mode, struct mr_err *err);
/* Make everything durable that was written to the file system of this directory. */
MR_CHECK enum mr_code mr_fs_sync_all(int dir, struct mr_err *err);
/* rename(2) of a file, both paths below `dir`, without writing the directories to disk. */
MR_CHECK enum mr_code mr_fs_place(int dir, const char *from, const char *to, enum mr_fs_write how,
	struct mr_err *err);

/*
 * Read a regular file of at most `max` bytes; larger is MR_ELIMIT, another kind of file MR_EINVAL.
 * Links are followed. The bytes live in `arena`, followed by a NUL that is not counted.
 */
MR_CHECK enum mr_code mr_fs_read(struct mr_arena *arena, int dir, const char *path, size_t max,
	struct mr_bytes *out, struct mr_err *err);
/* The same from an open descriptor, from its current position; pipes are fine and waited for. */
MR_CHECK enum mr_code mr_fs_read_fd(struct mr_arena *arena, int fd, size_t max,
	struct mr_bytes *out, struct mr_err *err);

/* mkdir -p; directories that exist are left alone, another kind of file at `path` is MR_EEXISTS.
 * New directories are durable. */
MR_CHECK enum mr_code mr_fs_make_dirs(int dir, const char *path, mode_t mode, struct mr_err *err);
/*
 * rm -r: never follows a link; nothing there is success, and so is losing a race against another
 * remover. Not durable. A path that ends in "/", "." or ".." is MR_EINVAL, more than 256 levels
 * MR_ELIMIT.
 */
MR_CHECK enum mr_code mr_fs_remove_all(int dir, const char *path, struct mr_err *err);

/* Is there something of that name? A link counts, wherever it leads. */
bool mr_fs_exists(int dir, const char *path);

/* The names in a directory without "." and "..", sorted by bytes; more than `max` is MR_ELIMIT. */
MR_CHECK enum mr_code mr_fs_list(struct mr_arena *arena, int dir, const char *path, size_t max,
	struct mr_texts *out, struct mr_err *err);

struct mr_fs_entry {
	int dir;            /* the directory it stands in, open during the call */
	const char *name;   /* in `dir` */
	const char *path;   /* relative to the walk's start */
	unsigned char type; /* DT_REG, DT_DIR, DT_LNK, ... never DT_UNKNOWN */
	unsigned depth;     /* 0 for entries of the start */
};
enum mr_fs_next { MR_FS_GO_ON, MR_FS_SKIP, MR_FS_STOP };
typedef enum mr_fs_next mr_fs_visit(void *arg, const struct mr_fs_entry *entry);

/*
 * Visit everything below a directory, a directory before its contents, links not followed, in no
 * particular order. MR_FS_SKIP leaves a directory out, MR_FS_STOP ends the walk with MR_OK. An
 * entry deeper than `max_depth` is MR_ELIMIT. What vanishes meanwhile is passed over; a directory
 * that cannot be read is an error.
 */
MR_CHECK enum mr_code mr_fs_walk(int dir, const char *path, unsigned max_depth, mr_fs_visit *visit,
	void *arg, struct mr_err *err);
