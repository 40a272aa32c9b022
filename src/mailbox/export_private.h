/* mailbox/export_private.h - an export in progress: export.c directs it, the other files copy. */
#pragma once

#include "mailbox/export.h"
#include "mailbox/export_manifest.h"
#include "mailbox/registration_sql.h"

#define MR_MAILBOX_EXPORT_SNAPSHOT ".index.sqlite"

struct mr_mailbox_export_job {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	const struct mr_mailbox_export_request *request;
	struct mr_mailbox_registrations rows; /* selected */
	const char *parent_path;              /* absolute, of the output's directory */
	const char *name;                     /* name of the output */
	const char *output;                   /* parent_path and name together */
	int parent;
	const char *temporary; /* name of the directory during the export; NULL once renamed */
	int dir;               /* open on it */
	int managed;           /* attachments/managed of the root, or -1 */
	struct mr_mailbox_manifest manifest;
	size_t done, total;
	size_t unnamed; /* attachments whose id cannot name a directory */
};

/* export_temporary.c */

/* Remove what killed exports to the same place have left. What cannot be removed stays. */
void mr_mailbox_export_clear_left(const struct mr_mailbox_export_job *job);
/* Make and lock the job's directory. */
MR_CHECK enum mr_code mr_mailbox_export_open_temporary(struct mr_mailbox_export_job *job);

/* export_copy.c: files of the archive; paths are relative to it. */

/* Directories above `path`. */
MR_CHECK enum mr_code mr_mailbox_export_make_parents(struct mr_mailbox_export_job *job,
	struct mr_arena *scratch, const char *path);
/* A new file, empty and private, in a directory that is there. */
MR_CHECK enum mr_code mr_mailbox_export_create(struct mr_mailbox_export_job *job, const char *path,
	int *out);
/* A new file with what `from` is open on. */
MR_CHECK enum mr_code mr_mailbox_export_copy_in(struct mr_mailbox_export_job *job,
	struct mr_arena *scratch, int from, const char *path);
/* "<output>/<path>" */
const char *mr_mailbox_export_final(const struct mr_mailbox_export_job *job,
	struct mr_arena *scratch, const char *path);
/* accounts/<address>/<registration id> */
const char *mr_mailbox_export_account_path(struct mr_arena *arena,
	const struct mr_mailbox_registration *row);

/* export_account.c: a registration's directory, account.json and mailbox.sqlite. */
MR_CHECK enum mr_code mr_mailbox_export_account(struct mr_mailbox_export_job *job,
	const struct mr_mailbox_registration *row);

/* export_mail.c: messages, projections and attachments, from the copy of the index. */
MR_CHECK enum mr_code mr_mailbox_export_mail(struct mr_mailbox_export_job *job);
