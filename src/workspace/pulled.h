/* workspace/pulled.h - the mailboxes that a pull concerns, and what came of it. */
#pragma once

#include "workspace/config.h"

struct mr_work_targets {
	const struct mr_work_mailbox **items;
	size_t len;
	struct mr_texts ids; /* of the same */
};

/* The members have the names that the contract gives them. */
struct mr_work_pulled {
	struct mr_texts mailbox_ids, mailbox_names;
	struct mr_texts unresolved_mailbox_ids; /* default ones that the server does not have */
	int64_t mailbox_count;
	int64_t new_message_count, triage_created_count, spam_message_count, trashed_message_count;
	int64_t updated_location_count, flags_updated_count;
	int64_t checked_location_count, missing_location_count;
	int64_t deleted_remote_message_count, tombstoned_message_count, kept_message_count;
	struct mr_texts deleted_remote_message_ids, tombstoned_message_ids, kept_message_ids;
	int64_t triage_count, triage_written_count, stale_triage_removed_count;
	int64_t spam_count, spam_written_count, stale_spam_removed_count;
	int64_t trash_count, trash_written_count, stale_trash_removed_count;
	int64_t deleted_count, deleted_written_count, stale_deleted_removed_count;
	/* New ones that were left on the server because of the limits. */
	int64_t remaining_message_count;
	bool dry_run;
	/* Mails that could not be taken in or brought up to date, and why; the next pull tries
	 * again. */
	int64_t failed_message_count;
	struct mr_texts failed_messages;
	int64_t none; /* of counters that have nothing to count any more */
};
