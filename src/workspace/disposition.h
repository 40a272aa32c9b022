/*
 * workspace/disposition.h - spam, trash and what was deleted on the server: discarding messages,
 * bringing them back, and throwing them away for good.
 *
 * A message is in at most one of the three lists, and never in one of them and in a category. A
 * message that something refers to is not discarded.
 */
#pragma once

#include "workspace/collection.h"
#include "workspace/queue.h"

struct mr_work_discard {
	struct mr_texts message_ids;
	const char *reason;
};
struct mr_work_discarded {
	const char *message_id;  /* the first */
	const char *special_use; /* "junk", "trash" */
	struct mr_texts message_ids;
	struct mr_work_queued queue;
};
/*
 * All of the messages, or none: message_has_related_conversation_use_case unless all related
 * messages are among them, message_referenced.
 */
MR_CHECK enum mr_code mr_work_message_spam(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_discard *request, struct mr_work_discarded *result);
MR_CHECK enum mr_code mr_work_message_trash(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_discard *request, struct mr_work_discarded *result);

struct mr_work_message_restore {
	const char *message_id, *reason;
};
struct mr_work_message_restored {
	const char *message_id;
	const char *archive_uid;          /* from a category; then there are no statuses */
	const char *from_status, *status; /* from spam or trash */
	const char *triage_path;
	int64_t removed_push_count;
	struct mr_texts push_ids; /* of the items that the message was taken out of */
	/* When the message is in no other mailbox than junk, trash or archive, its move back to the
	 * inbox is queued. */
	bool queued;
	struct mr_texts queued_push_ids;
};
/* From spam, trash or a category back to triage; invalid_request from anywhere else;
 * push_already_started. */
MR_CHECK enum mr_code mr_work_message_restore(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result);
/* The same from one of them only, with an event of the same name. */
MR_CHECK enum mr_code mr_work_message_unspam(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result);
MR_CHECK enum mr_code mr_work_message_untrash(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result);
MR_CHECK enum mr_code mr_work_message_unarchive(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result);

enum { MR_WORK_PURGE_DAYS = 30 };

struct mr_work_purge {
	const char *target; /* "spam", "trash", "deleted"; NULL: all three */
	/* The age may be given before the target or after it, not both. */
	bool has_older_than_days, has_target_older_than_days;
	int64_t older_than_days, target_older_than_days;
	bool dry_run;        /* only say what would go, and the id of that plan */
	const char *plan_id; /* purge exactly that plan; else confirm_required */
};
struct mr_work_purged {
	const char *target;
	struct mr_texts targets;
	int64_t older_than_days;
	int64_t purged_count, purged_spam_count, purged_trash_count, purged_deleted_count;
	int64_t skipped_referenced_count, skipped_recent_count;
	struct mr_texts purged_message_ids, skipped_referenced_message_ids,
		skipped_recent_message_ids;
	int64_t spam_count, spam_written_count, stale_spam_removed_count;
	int64_t trash_count, trash_written_count, stale_trash_removed_count;
	int64_t deleted_count, deleted_written_count, stale_deleted_removed_count;
	bool is_plan; /* nothing was purged */
	const char *plan_id;
};
/*
 * Throw away what has been in a list for at least so many days and nothing refers to: the raw
 * message, what is known of it, its record. An age that reaches back before the calendar is
 * invalid_request.
 */
MR_CHECK enum mr_code mr_work_purge(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_purge *request, struct mr_work_purged *result);

/* --- for other files of this part --- */

/*
 * Take messages out of spam, trash and deleted, and out of the queued items that have not begun to
 * discard them on the server; as part of a change. What has begun stays in the queue.
 */
MR_CHECK enum mr_code mr_work_undiscard(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *message_ids);
/* Put them into the trash and queue the move; whether that is allowed is the caller's question. */
MR_CHECK enum mr_code mr_work_put_into_trash(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *message_ids, const char *reason, struct mr_work_queued *out);
/* Back to triage from the category of this directory, which holds the message. */
MR_CHECK enum mr_code mr_work_restore_entry(struct mr_ctx *cx, struct mr_work *work,
	const char *category_path, const char *message_id, const char *reason, const char *kind,
	struct mr_work_message_restored *result);
