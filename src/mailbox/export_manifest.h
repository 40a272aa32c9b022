/*
 * mailbox/export_manifest.h - manifest.json of an export: sorted keys, two spaces, a final newline.
 *
 * Its lists grow side by side but stand one after another in the file, and may be longer than
 * memory: each is written to a file without a name as soon as it is large, and all are joined at
 * the end. A failure to write is kept and reported at the end.
 */
#pragma once

#include "base/buf.h"
#include "mailbox/export_sql.h"
#include "mailbox/registration_sql.h"
#include "text/json.h"

/* In the order of their names. */
enum mr_mailbox_export_list {
	MR_MAILBOX_EXPORT_ACCOUNTS,
	MR_MAILBOX_EXPORT_ATTACHMENTS,
	MR_MAILBOX_EXPORT_BLOCKED,
	MR_MAILBOX_EXPORT_COPIED,
	MR_MAILBOX_EXPORT_MATERIALIZED,
	MR_MAILBOX_EXPORT_MESSAGES,
	MR_MAILBOX_EXPORT_PRESERVED,
	MR_MAILBOX_EXPORT_PROJECTIONS,
	MR_MAILBOX_EXPORT_SKIPPED,
	MR_MAILBOX_EXPORT_LISTS,
};

struct mr_mailbox_manifest {
	int dir; /* where the files without a name are */
	struct mr_mailbox_manifest_part {
		int fd; /* -1 while everything is in `buf` */
		size_t written;
		size_t count;
		struct mr_buf buf;
		struct mr_json_writer json;
	} lists[MR_MAILBOX_EXPORT_LISTS];
	struct mr_err err; /* the first failure; MR_OK when there was none */
};

void mr_mailbox_manifest_init(struct mr_mailbox_manifest *manifest, int dir);
/* For MR_CLEANUP, after init. */
void mr_mailbox_manifest_release(struct mr_mailbox_manifest *manifest);

/* What was done with one thing; all but the first three may be NULL and are then left out. */
struct mr_mailbox_export_action {
	enum mr_mailbox_export_list list; /* BLOCKED, COPIED, MATERIALIZED, PRESERVED or SKIPPED */
	const char *artifact_kind;
	const char *reason;
	const char *source_path;
	const char *archive_path; /* absolute, as it will be called */
	const char *address;
	const char *registration_id;
	const char *registration_status;
	const char *message_id;
	const char *attachment_id;
	const char *symlink_target;
	const bool *target_exists; /* goes to `details` */
};
void mr_mailbox_manifest_action(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_action *action);
/* "copied", "materialized", ... */
const char *mr_mailbox_manifest_outcome(enum mr_mailbox_export_list list);

/* Of the entries below, archive paths are relative to the archive, and NULL when it is not there.
 */
struct mr_mailbox_export_account {
	const struct mr_mailbox_registration *row;
	bool entry_is_link;
	const char *entry_target; /* or NULL */
	const char *archive_path;
	const char *archive_local_path; /* or NULL */
};
void mr_mailbox_manifest_account(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_account *account);
/* The same as a document of its own: account.json. */
void mr_mailbox_manifest_account_json(struct mr_buf *buf,
	const struct mr_mailbox_export_account *account);
void mr_mailbox_manifest_message(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_message *message, const char *archive_path);
void mr_mailbox_manifest_projection(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_registration *row,
	const struct mr_mailbox_export_projection *projection, const char *archive_path,
	enum mr_mailbox_export_list done, const char *reason);
void mr_mailbox_manifest_attachment(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_export_attachment *attachment, const char *source_path,
	bool target_exists, const char *archive_path, enum mr_mailbox_export_list done,
	const char *reason);

struct mr_mailbox_manifest_head {
	const char *source_root;
	int64_t protocol_version; /* or -1: not known */
	const char *exported_at;
	bool all_accounts;
	const struct mr_texts *addresses;
	bool preserve_symlinks;
};
/* Write the whole to a new file `name` in the manifest's directory. The lists are ended by this. */
MR_CHECK enum mr_code mr_mailbox_manifest_write(struct mr_mailbox_manifest *manifest,
	const struct mr_mailbox_manifest_head *head, const char *name, struct mr_err *err);
