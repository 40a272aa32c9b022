/*
 * bridge/restore.h - a backup (bridge/backup_file.h) read again: checked, or put in place.
 *
 * Everything is unpacked and compared beside its place, as PATH.restoring, and then gets its name;
 * nothing that is there is ever overwritten. What a killed restore leaves has that ending, and the
 * next restore removes it.
 */
#pragma once

#include "bridge/backup_file.h"

struct mr_restore_request {
	const char *file;
	bool check;           /* only read and compare */
	const char *into;     /* a directory for all parts, in place of where they were; or NULL */
	struct mr_texts only; /* names of parts; none: all */
};

struct mr_restored {
	const char *file, *created_at;
	int64_t files, bytes;
	struct mr_backup_part *parts; /* the paths are where they are now, or would be */
	size_t len;
};

/*
 * MR_EFORMAT: the file is damaged, cut off, or no backup; what and where is in the message. Nothing
 * is written then. MR_EEXISTS: something is in place of a part. Crash points: restore.unpacked,
 * restore.compared, restore.placed.
 */
MR_CHECK enum mr_code mr_restore(struct mr_ctx *cx, const struct mr_restore_request *request,
	struct mr_restored *out);
