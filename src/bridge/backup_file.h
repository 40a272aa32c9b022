/*
 * bridge/backup_file.h - the one file that a backup is.
 *
 * A tar archive: the files of each part below the part's name, then manifest.json, which names the
 * parts, counts them, and has the digest of every byte before it; and last SHA256SUMS, with a line
 * for each file, which sha256sum(1) reads. What is cut off lacks these two and is no backup.
 *
 * It is written under the name FILE.partial, made durable, and only then called FILE.
 */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"
#include "base/str.h"
#include "text/digest.h"
#include "text/tar.h"

#include <stdbool.h>

#define MR_BACKUP_MANIFEST "manifest.json"
#define MR_BACKUP_SUMS     "SHA256SUMS"
#define MR_BACKUP_FORMAT   "mailroom-backup"

enum {
	MR_BACKUP_VERSION = 1,
	MR_BACKUP_PARTS_MAX = 1000,
	MR_BACKUP_SUMS_BYTES = 1 << 30, /* some millions of files */
	MR_BACKUP_PIECE_BYTES = 256 << 10,
};

/* Something that is backed up and restored as a whole. */
struct mr_backup_part {
	const char *name; /* its directory in the archive: team, mailbox-1, ... */
	const char *kind; /* team, mailbox, private_mailbox, workspace, settings */
	const char *path; /* where it was: absolute, a directory or (settings) a file */
	int64_t files, bytes;
};

struct mr_backup_file {
	int fd;
	const char *path, *partial;
	int64_t at;               /* bytes written */
	struct mr_digest *digest; /* of all of them */
	struct mr_buf head, sums;
	bool is_named;
};

#define MR_BACKUP_FILE_INIT ((struct mr_backup_file){ .fd = -1 })

/* MR_EEXISTS when the file is there, MR_EBUSY when another process writes it now. */
MR_CHECK enum mr_code mr_backup_file_begin(struct mr_ctx *cx, const char *path,
	struct mr_backup_file *out);
/* A file's content, as it is now: MR_EBUSY when it becomes shorter meanwhile. Counted in `part`. */
MR_CHECK enum mr_code mr_backup_file_put(struct mr_ctx *cx, struct mr_backup_file *file,
	struct mr_backup_part *part, const struct mr_tar_entry *entry, int from);
MR_CHECK enum mr_code mr_backup_file_put_bytes(struct mr_ctx *cx, struct mr_backup_file *file,
	const char *path, struct mr_bytes bytes);
/* A directory or link. */
MR_CHECK enum mr_code mr_backup_file_put_name(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_tar_entry *entry);
/* Manifest and sums; then the file is made durable and gets its name. Crash points:
 * backup.written, backup.synced, backup.named. */
MR_CHECK enum mr_code mr_backup_file_end(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_backup_part *parts, size_t count);
/* For MR_CLEANUP: removes what did not get its name. */
void mr_backup_file_close(struct mr_backup_file *file);

/* "DIGEST  PATH\n" as sha256sum(1) writes it. */
void mr_backup_sum(struct mr_buf *out, const char *hex, const char *path);
