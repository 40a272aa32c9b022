/*
 * mailbox/export.h - accounts and their mail as a directory of plain files (spec/mailbox.md 15.5).
 *
 * Written beside the output as .<name>.mailroom-<pid>-<hex> and renamed at the end, so that the
 * output is whole or not there; a failure removes what was written, and what a killed export leaves
 * goes with the next one to the same place. The databases are copied under the locks
 * of the accounts and the index; the rest follows from these copies without locks, since documents
 * never change: mail can be sent meanwhile. What is cleared meanwhile is reported as blocked.
 * Memory does not grow with the number of messages.
 */
#pragma once

#include "base/str.h"
#include "mailbox/root.h"

struct mr_mailbox_export_request {
	const char *output_dir;    /* must not exist, not even as a link that leads nowhere */
	bool all_accounts;         /* else the addresses */
	struct mr_texts addresses; /* each once */
	bool preserve_symlinks;    /* else they become files */
};

struct mr_mailbox_export_result {
	const char *output_dir; /* absolute */
	const char *manifest_path;
	size_t account_count, message_count, projection_count, attachment_count;
	/* Entries of the manifest's lists of what was done. */
	size_t copied, materialized, preserved, skipped, blocked;
};

/*
 * Directories above the output are made when missing. MR_EINVAL: "mailbox export payload: ...", or
 * an output inside one of the root's own directories. MR_EEXISTS: the output is there.
 * MR_ENOTFOUND: "mailbox export selected address not found: ...". MR_ECONFLICT: "mailbox root needs
 * repair before export: ...".
 */
MR_CHECK enum mr_code mr_mailbox_export(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_export_request *request, struct mr_mailbox_export_result *out);
