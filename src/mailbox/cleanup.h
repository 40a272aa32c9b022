/* mailbox/cleanup.h - registrations that are over, and mail that is to go (spec/mailbox.md 15.1
 * to 15.4). */
#pragma once

#include "mailbox/root.h"

struct mr_mailbox_action {
	const char *artifact_kind; /* mailbox_registration, canonical_message, ... */
	const char *path;
	const char *proposed_action; /* "remove" or "preserve" */
	const char *reason;
	const char *address; /* or NULL, as all below */
	const char *registration_id;
	const char *registration_status;
	const char *message_id;
	const char *attachment_id;
};
struct mr_mailbox_actions {
	struct mr_mailbox_action *items;
	size_t len;
	size_t cap;
};

struct mr_mailbox_cleanup_result {
	bool dry_run;
	const char *scope_kind; /* mailbox_cleanup, mailbox_message_clear,
				   mailbox_account_message_clear */
	const char *address;    /* of an account's clear, or NULL */
	struct mr_mailbox_actions planned, applied, blocked, preserved;
};

MR_CHECK enum mr_code mr_mailbox_cleanup(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	int64_t inactive_older_than_s, int64_t stashed_older_than_s, bool dry_run,
	struct mr_mailbox_cleanup_result *out);
/* All messages of the root, or with an address those of one account. */
MR_CHECK enum mr_code mr_mailbox_clear(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, bool dry_run, struct mr_mailbox_cleanup_result *out);
