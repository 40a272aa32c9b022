/*
 * mailbox/cleanup.h - removes inactive and stashed registrations, and clears messages
 * (spec/mailbox.md 15.1 to 15.4).
 *
 * Files are renamed into the trash first, then the index commits, then the links, the owners' state
 * and the files themselves are removed. If the commit fails, the files are put back. So a crash
 * never leaves a document without its row, which a later repair would bring back as new mail; it
 * may leave rows without documents, which the same command, or repair, removes.
 *
 * Locks: of the addresses of the rows concerned, and the index.
 */
#pragma once

#include "mailbox/root.h"

struct mr_mailbox_action {
	const char *artifact_kind;   /* mailbox_registration, canonical_message, ... */
	const char *path;            /* absolute */
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

/* Each removal is in `planned` of a dry run, or in `applied` or `blocked` of a real one; what may
 * not be removed at all is in `blocked` of both. */
struct mr_mailbox_cleanup_result {
	bool dry_run;
	const char *scope_kind;      /* mailbox_cleanup, mailbox_message_clear,
					mailbox_account_message_clear */
	const char *address;         /* of an account's clear, or NULL */
	const char *registration_id; /* the same */
	int64_t inactive_older_than_s, stashed_older_than_s; /* of a cleanup */
	struct mr_mailbox_actions planned, applied, blocked, preserved;
};

/*
 * Remove inactive and stashed registrations that have been so for longer than the seconds given for
 * their status (0 is always; a time that cannot be read is long ago), with their mailbox. Of a
 * linked mailbox only the link goes. Never removed: active registrations, the operator's, messages,
 * and a directory that a registration which stays also claims: then only the row goes.
 * MR_EINVAL: seconds below 0. MR_ECONFLICT: "needs repair before cleanup".
 */
MR_CHECK enum mr_code mr_mailbox_cleanup(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	int64_t inactive_older_than_s, int64_t stashed_older_than_s, bool dry_run,
	struct mr_mailbox_cleanup_result *out);

/*
 * Remove all messages of the root, or with an address those of its active registration: documents
 * (of an account: those that no other account has), links, the owners' state of them, and managed
 * copies of attachments. Accounts, their directories, and files that attachments only refer to
 * stay. A file in the place of a link, and whatever the index names outside its proper directory,
 * is blocked: it is reported and not touched, though its row goes. MR_ENOTFOUND: no active
 * registration of that address. MR_ECONFLICT: "needs repair before clearing messages".
 */
MR_CHECK enum mr_code mr_mailbox_clear(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, bool dry_run, struct mr_mailbox_cleanup_result *out);

/* Append a copy; for the two above. */
void mr_mailbox_actions_add(struct mr_arena *arena, struct mr_mailbox_actions *actions,
	const struct mr_mailbox_action *action);
