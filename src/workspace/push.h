/*
 * workspace/push.h - the push queue looked at before it is carried out: preview, list, drop.
 *
 * Nothing here talks to a server.
 */
#pragma once

#include "workspace/queue.h"

struct mr_work_push_preview {
	bool dry_run, confirm; /* not together: invalid_request */
	const char *kind;      /* "drafts", "drafts-send", "archive", "spam", "trash"; NULL: all */
};
struct mr_work_push_row {
	const char *push_id, *kind, *display_kind;
	struct mr_texts actions; /* the steps, as they are labelled */
	struct mr_texts message_ids;
	bool has_messages; /* the surface shows message_ids: the contract does not have them */
	/* Of outbound items alone. */
	const char *action, *case_uid, *draft_name;
	bool is_outbound;
	struct mr_texts to, cc, attachments;
	const char *subject, *identity;
	bool draft_valid;        /* it would be sent as it is now */
	const char *draft_error; /* why not, or NULL */
};
struct mr_work_push_previewed {
	bool confirmed; /* false */
	const char *hint;
	int64_t count;
	struct mr_work_push_row *items; /* in the order they would be carried out */
	size_t len;
	/* Stands for all that a push would do now: items, drafts, attachments, steps, servers. The
	 * time does not change it, anything else does. */
	const char *plan_id;
};
/* Is the request one? invalid_request. */
MR_CHECK enum mr_code mr_work_push_check(struct mr_ctx *cx,
	const struct mr_work_push_preview *request);
/* A draft that is gone or broken is shown as such. push_item_invalid, store_error for items that
 * cannot be read. */
MR_CHECK enum mr_code mr_work_push_preview(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_previewed *result);
/* Does a push of that kind (see above) carry the item out? */
bool mr_work_push_is_of_kind(const struct mr_work_push_item *item, const char *kind);

/* What a confirmed push did. */
struct mr_work_push_failure {
	const char *push_id, *error_code, *error;
};
struct mr_work_push_pushed {
	bool confirmed; /* true */
	int64_t pushed_count, failed_count;
	struct mr_work_push_failure *failures;
	size_t len;
};
/*
 * Carry the queue out, or the items of the kind of the request. This program cannot talk to servers
 * yet: an empty queue succeeds, anything else is remote_operation_unsupported and the queue stays
 * as it is. Either way the progress snapshot says how it ended.
 */
MR_CHECK enum mr_code mr_work_push_confirm(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_pushed *result);

struct mr_work_push_listed {
	int64_t count;
	const struct mr_value *items; /* a list of whole items */
};
MR_CHECK enum mr_code mr_work_push_list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_listed *result);

struct mr_work_push_drop {
	const char *push_id, *reason;
};
struct mr_work_push_dropped {
	const char *push_id, *kind, *action;
	struct mr_texts message_ids;
};
/*
 * Take an item out of the queue; what was decided here stays. push_not_found; push_already_started
 * when a step has succeeded, or a mail may have gone out.
 */
MR_CHECK enum mr_code mr_work_push_drop(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_drop *request, struct mr_work_push_dropped *result);
