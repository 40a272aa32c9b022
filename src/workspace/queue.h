/*
 * workspace/queue.h - the push queue: what is to be done on the server, one file for each item.
 *
 * Nothing in here leaves the machine. Commands add items as part of their changes, a preview shows
 * them, `push --confirm` carries them out step by step, and what has not begun can be taken back.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/config.h"
#include "workspace/frame.h"
#include "workspace/remote.h"

enum mr_work_push_kind { MR_WORK_PUSH_OUTBOUND, MR_WORK_PUSH_MESSAGE_ACTION };
enum mr_work_push_action {
	MR_WORK_PUSH_SAVE_DRAFT, /* outbound */
	MR_WORK_PUSH_SEND,       /* outbound */
	MR_WORK_PUSH_ARCHIVE,
	MR_WORK_PUSH_SPAM,
	MR_WORK_PUSH_TRASH,
	MR_WORK_PUSH_CASE_ADD,
	MR_WORK_PUSH_RESTORE, /* back to the inbox, ours */
	MR_WORK_PUSH_ACTION_COUNT,
};
extern const char *const mr_work_push_action_names[]; /* "save_draft", ..., NULL */

struct mr_work_push_location {
	const char *message_id, *mailbox_name;
	int64_t uid_validity, uid;
};

enum mr_work_step_status { MR_WORK_STEP_PENDING, MR_WORK_STEP_SUCCEEDED, MR_WORK_STEP_FAILED };
struct mr_work_step_state {
	int64_t index;
	const char *label;
	enum mr_work_step_status status;
	const char *started, *completed; /* RFC 3339, or NULL */
	const char *result_summary;
	const char *error_code, *error;
	bool has_retryable, retryable;
};

struct mr_work_push_item {
	const char *push_id;
	enum mr_work_push_kind kind;
	enum mr_work_push_action action;
	const char *created, *updated;
	int64_t attempt_count;
	const char *last_error; /* or NULL */
	struct mr_work_step_state *states;
	size_t state_count;
	/* Outbound. */
	const char *case_uid, *draft_name;
	/* Message actions. */
	struct mr_texts message_ids;
	struct mr_work_push_location *locations;
	size_t location_count;
	struct mr_work_action_steps steps;
	const char *reply_to_message_id;
	const struct mr_value *document; /* as it stands in the file */
};

struct mr_work_push_items {
	struct mr_work_push_item *items;
	size_t len;
	/* Files that are no items, with what is wrong: path and reason alternate. */
	struct mr_texts invalid;
};

/*
 * All items, in the order they are carried out: by time, then by the number in their ids. An item
 * that cannot be read is listed in `invalid` and the rest goes on.
 */
MR_CHECK enum mr_code mr_work_queue_load(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_items *out);
/* The same, but an item that cannot be read is push_item_invalid or store_error. */
MR_CHECK enum mr_code mr_work_queue_load_strict(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_items *out);
/* The items as mr_work_queue_load() gave them first in this command; a change forgets them. */
MR_CHECK enum mr_code mr_work_queue_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_items **out);
/* One item; push_not_found, push_item_invalid. */
MR_CHECK enum mr_code mr_work_queue_find(struct mr_ctx *cx, struct mr_work *work,
	const char *push_id, struct mr_work_push_item *out);
/* An id that no item, no item of this change and no mail that was sent has. */
const char *mr_work_queue_new_id(struct mr_ctx *cx, struct mr_work_change *change);
/* Write an item (updated: now) or remove it, with the mail that was built for it and what was said
 * of it, as part of a change; its messages become stale. */
void mr_work_queue_save(struct mr_work_change *change, struct mr_work_push_item *item);
void mr_work_queue_remove(struct mr_work_change *change, const struct mr_work_push_item *item);
/* Remove the mail alone: it was not sent, and the next push builds it anew. */
void mr_work_queue_forget_mail(struct mr_work_change *change, const struct mr_work_push_item *item);

/* Has a step begun? Then it cannot be taken back as if nothing had happened. */
bool mr_work_push_has_started(const struct mr_work_push_item *item);
/* The step that was begun and of which nobody knows how it ended, or NULL. */
const struct mr_work_step_state *mr_work_push_uncertain_step(const struct mr_work_push_item *item);
bool mr_work_push_has_succeeded_step(const struct mr_work_push_item *item);
/* "outbound", "message.spam": the kind as people see it. */
const char *mr_work_push_display_kind(const struct mr_work_push_item *item);
/* "drafts", "case", "archive", "spam", "trash": what counts are kept of. */
const char *mr_work_push_summary_label(const struct mr_work_push_item *item);
/* Is the message one of the item's? */
bool mr_work_push_concerns(const struct mr_work_push_item *item, const char *message_id);

/* --- queueing what is done to messages --- */

struct mr_work_queued {
	int64_t location_count;        /* usable locations of the messages */
	int64_t queued_location_count; /* the same: see the contract */
	bool queued;
	struct mr_texts push_ids;
	const char *push_id; /* the first, or NULL */
};
/*
 * Queue the configured steps of an action for these messages (inbound ones only for spam and
 * trash): nothing when no location can be used or no steps are configured. Archiving queues one
 * item for each source mailbox whose rule has steps. Which messages may be archived is the caller's
 * question (mr_work_is_archivable()).
 */
MR_CHECK enum mr_code mr_work_queue_action(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_push_action action, const struct mr_texts *message_ids,
	struct mr_work_queued *out);
/*
 * Take a message out of the items of an action that have not begun; an item without messages goes.
 * push_already_started, and then nothing changes. `out_ids` gets the ids of the items concerned.
 */
MR_CHECK enum mr_code mr_work_queue_withdraw(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_push_action action, const char *message_id, struct mr_texts *out_ids);
