/* mailbox/export.h - accounts and their mail as a directory of plain files (spec/mailbox.md 15.5).
 */
#pragma once

#include "base/str.h"
#include "mailbox/root.h"

struct mr_mailbox_export_request {
	const char *output_dir;    /* must not exist */
	bool all_accounts;         /* else the addresses */
	struct mr_texts addresses; /* each once */
	bool preserve_symlinks;    /* else they become files */
};

struct mr_mailbox_export_result {
	const char *output_dir; /* absolute */
	const char *manifest_path;
	size_t account_count, message_count, projection_count, attachment_count;
	size_t copied, materialized, preserved, skipped, blocked;
};

MR_CHECK enum mr_code mr_mailbox_export(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_export_request *request, struct mr_mailbox_export_result *out);
