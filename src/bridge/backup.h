/*
 * bridge/backup.h - everything that Mailroom keeps for a person, in one file, taken while it is in
 * use.
 *
 * Each part is held still while it is copied, one after another: a team's archives (no sender waits
 * for these) with a copy of its database at that moment, a mailbox root by its locks, a workspace
 * by its lock for reading.
 */
#pragma once

#include "bridge/backup_file.h"

struct mr_backup_sources {
	/* Each NULL or empty where there is none. */
	const char *storage_root, *database; /* of the team; `database` is always set with it */
	struct mr_texts mailboxes;           /* roots */
	struct mr_texts workspaces;
	const char *settings_path; /* where the settings are restored to */
	struct mr_bytes settings;  /* their text; without data: none */
};

struct mr_backup_report {
	const char *file;
	int64_t files, bytes;
	struct mr_backup_part *parts;
	size_t len;
};

/* MR_ENOTFOUND: there is nothing at all to back up. A failure leaves no file. */
MR_CHECK enum mr_code mr_backup_take(struct mr_ctx *cx, const struct mr_backup_sources *sources,
	const char *path, struct mr_backup_report *out);
