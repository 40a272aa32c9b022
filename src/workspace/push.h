/*
 * workspace/push.h - the push queue: looked at, approved, carried out, dropped from, and what
 * nobody knows settled.
 *
 * Only mr_work_push_confirm() talks to servers.
 */
#pragma once

#include "workspace/mail_server.h"
#include "workspace/queue.h"

struct mr_work_push_preview {
	bool dry_run, confirm; /* not together: invalid_request */
	const char *kind;      /* "drafts", "drafts-send", "archive", "spam", "trash"; NULL: all */
	const char *only;      /* a push id: nothing else; or NULL */
	/* Of a confirmed one: the plan that was looked at, and an item whose mail may have gone and
	 * is sent again; or NULL. */
	const char *plan_id, *resend;
	mr_work_environment *environment; /* of a confirmed one */
};
struct mr_work_push_row {
	const char *push_id, *kind, *display_kind;
	struct mr_texts actions; /* the steps, as they are labelled */
	struct mr_texts message_ids;
	struct mr_texts message_subjects; /* in the order of the ids; see below */
	bool has_messages; /* the surface shows both: the contract does not have them */
	/* Of outbound items alone. */
	const char *action, *case_uid, *draft_name;
	bool is_outbound;
	struct mr_texts to, cc, attachments;
	const char *subject, *identity;
	bool draft_valid;        /* it would be sent as it is now */
	const char *draft_error; /* why not, or NULL */
	/* Stands for exactly this content (workspace/push_content.h); NULL: it cannot be built. */
	const char *content_id;
	const char *approval;        /* a name of mr_work_approval_names */
	const char *approval_reason; /* of what was sent back, or NULL */
	const char *decided_rfc3339; /* or NULL */
	struct mr_bytes mail;        /* as it would be sent, without the right date; or nothing */
	struct mr_texts recipients;  /* bare addresses */
};
struct mr_work_push_previewed {
	bool confirmed; /* false */
	const char *hint;
	int64_t count;
	struct mr_work_push_row *items; /* in the order they would be carried out */
	size_t len;
	struct mr_texts invalid_paths; /* files of the queue that cannot be read */
	/* Stands for all that a push would do now: items, drafts, attachments, steps, servers. The
	 * time does not change it, anything else does; but for what was said of the items. */
	const char *plan_id;
	bool approval_required; /* a push carries out only what was approved */
	int64_t waiting_count;  /* items that nobody has approved, or sent back, as they are now */
};
/* Is the request one? invalid_request. */
MR_CHECK enum mr_code mr_work_push_check(struct mr_ctx *cx,
	const struct mr_work_push_preview *request);
/* A draft that is gone or broken is shown as such, and an item that cannot be read is listed. */
MR_CHECK enum mr_code mr_work_push_preview(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_previewed *result);
/* Fill in what the messages of a preview are about, for people; "" for one that cannot be read. */
void mr_work_push_name_messages(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_previewed *shown);
/* Does a push of that kind (see above) carry the item out? */
bool mr_work_push_is_of_kind(const struct mr_work_push_item *item, const char *kind);
/* Does the request concern it? */
bool mr_work_push_is_wanted(const struct mr_work_push_item *item,
	const struct mr_work_push_preview *request);
/* push_not_found when the item that the request names alone is not queued. */
MR_CHECK enum mr_code mr_work_push_check_only(struct mr_ctx *cx,
	const struct mr_work_push_preview *request, const struct mr_work_push_items *queue);

/* What a confirmed push did. */
struct mr_work_push_failure {
	const char *push_id, *error_code, *error;
	const char *hint; /* what to do, or NULL */
	bool retryable;   /* the next push may succeed without anybody doing something */
};
struct mr_work_push_pushed {
	bool confirmed; /* true */
	int64_t pushed_count, failed_count;
	struct mr_work_push_failure *failures;
	size_t len;
};
/*
 * Carry the queue out, or what the request names of it, item by item. An item that fails stays in
 * the queue, is told in `failures`, and the next one has its turn; the function fails only when
 * nothing can be done at all: push_plan_changed, push_not_found, and when the workspace cannot be
 * written. Either way the progress snapshot says how it ended.
 *
 * The state of each step is durable before it begins and after it ended. A step that was begun and
 * of which nobody knows how it ended is looked for on the server before it is repeated; a mail that
 * may have been sent and is not found there is not sent again: push_uncertain, until
 * mr_work_push_recover() settles it or the request says so (`resend`).
 */
MR_CHECK enum mr_code mr_work_push_confirm(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_pushed *result);

/* --- as a person reads it --- */

struct mr_work_push_file {
	const char *filename, *content_type;
	int64_t size_bytes;
};
struct mr_work_push_change {
	const char *message_id, *subject, *from, *mailbox_name;
};
struct mr_work_push_read {
	struct mr_work_push_row row;
	/* Of a mail, as it would be sent. */
	const char *from, *text;
	struct mr_work_push_file *files;
	size_t file_count;
	/* Those of its recipients that no mail of this workspace went to before. */
	struct mr_texts new_recipients;
	/* Of an action: what it is done to, and where. */
	struct mr_work_push_change *changes;
	size_t change_count;
};
struct mr_work_push_show {
	struct mr_texts push_ids; /* empty: all */
};
struct mr_work_push_shown {
	int64_t count, waiting_count;
	bool approval_required;
	const char *plan_id; /* of the whole queue */
	struct mr_work_push_read *items;
	size_t len;
	struct mr_texts invalid_paths;
};
/* push_not_found for an id that is not queued. */
MR_CHECK enum mr_code mr_work_push_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_show *request, struct mr_work_push_shown *result);

/* --- approved or sent back --- */

struct mr_work_push_decide {
	struct mr_texts ids; /* plan ids or content ids, as a preview gave them */
	const char *reason;
};
struct mr_work_push_decided {
	int64_t count;
	struct mr_texts push_ids, content_ids;
};
/*
 * Approve what these ids stand for, all or none. push_plan_changed when one stands for nothing that
 * is queued now. It holds until the content is another one.
 */
MR_CHECK enum mr_code mr_work_push_approve(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_decide *request, struct mr_work_push_decided *result);
/* Send it back, in the same way: no push carries it out as it is. reason_required, in either mode
 * of the configuration; push_already_started when a step has succeeded or a mail may have gone. */
MR_CHECK enum mr_code mr_work_push_refuse(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_decide *request, struct mr_work_push_decided *result);

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
	const char *push_id;
	const char *kind, *action; /* NULL: the item could not be read */
	struct mr_texts message_ids;
};
/*
 * Take an item out of the queue; what was decided here stays. push_not_found; push_already_started
 * when a step has succeeded, or a mail may have gone out.
 */
MR_CHECK enum mr_code mr_work_push_drop(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_drop *request, struct mr_work_push_dropped *result);

/* --- mails that may have been sent --- */

struct mr_work_push_recover {
	const char *push_id; /* NULL: list them */
	bool sent, not_sent; /* one of them, with an id */
	const char *reason;
};
struct mr_work_push_uncertain {
	const char *push_id, *case_uid, *draft_name, *message_id, *subject, *started_rfc3339;
	struct mr_texts to;
};
struct mr_work_push_recovered {
	bool is_list, is_one;
	int64_t count;
	struct mr_work_push_uncertain *items;
	size_t len;
	const char *push_id, *outcome, *case_uid, *draft_name; /* outcome: "sent" or "not_sent" */
	const char *message_id; /* of a mail that was sent, or NULL */
};
/*
 * List the items whose mail may have gone, or settle one: a mail that was sent is recorded in its
 * case, and the next push does what is left; one that was not is sent by the next push.
 * push_not_found; invalid_request when it is not uncertain.
 */
MR_CHECK enum mr_code mr_work_push_recover(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_recover *request, struct mr_work_push_recovered *result);
