/*
 * workspace/draft.h - drafts of mail in active cases: drafts/NAME.md, made, changed, checked,
 * queued.
 *
 * Nothing is sent here. A draft belongs to its case and is a file that people edit; a queued item
 * names it by case and file name, and what the file says when the push runs is what goes out.
 * data/drafts.json of the case remembers which content was valid when. Requests and results have
 * the members that the contract names; what is NULL was not given, or is null. Commands about a
 * draft fail with case_not_found, case_archived and draft_not_found.
 */
#pragma once

#include "workspace/collection.h"
#include "workspace/draft_file.h"
#include "workspace/queue.h"

/* The files of one draft together: what mail servers commonly accept. */
enum { MR_WORK_DRAFT_ATTACHED_BYTES = 25 << 20 };

/* --- making one --- */

/* `body` or the file `body_file` (not "-", which its caller reads), else the template's. */
struct mr_work_draft_new {
	const char *case_ref;
	struct mr_texts to, cc;
	const char *subject, *identity, *body, *body_file;
};
/* An answer to, or a copy of, a message of the case. */
struct mr_work_draft_answer {
	const char *case_ref, *message_id;
	bool all;           /* of reply: all recipients */
	struct mr_texts to; /* of forward */
	const char *identity, *body, *body_file;
};
struct mr_work_draft_created {
	const char *case_uid, *message_id, *draft_name, *draft_path, *identity;
};
/* draft_invalid when an address cannot be written to, or the identity is not known. */
MR_CHECK enum mr_code mr_work_draft_new(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_new *request, struct mr_work_draft_created *result);
/* invalid_request when the message is not in the case; draft_exists. */
MR_CHECK enum mr_code mr_work_draft_reply(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_answer *request, struct mr_work_draft_created *result);
/* The message goes as an attachment, as it came. */
MR_CHECK enum mr_code mr_work_draft_forward(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_answer *request, struct mr_work_draft_created *result);

/* --- changing one --- */

struct mr_work_draft_change {
	const char *case_ref, *draft_name;
	const char *subject, *identity, *body, *body_file;
	struct mr_texts to, cc; /* empty: as they are */
	bool clear_cc;
};
struct mr_work_draft_changed {
	const char *case_uid, *draft_name, *draft_path;
	struct mr_texts changed_fields; /* of subject, to, cc, body, identity */
	const char *draft_hash, *last_validated_rfc3339;
};
/* The result is checked before it is written: draft_invalid leaves the file as it was. */
MR_CHECK enum mr_code mr_work_draft_change(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_change *request, struct mr_work_draft_changed *result);

struct mr_work_draft_attach {
	const char *case_ref, *draft_name;
	const char *path; /* relative to the working directory, or absolute */
};
struct mr_work_draft_attached {
	const char *case_uid, *draft_name, *draft_path;
	const char *source_path; /* absolute */
	const char *attachment;  /* below the case's directory */
	const char *file_path;
	bool copied, already_present;
	int64_t size_bytes;
	bool requires_validate;
};
/* A file of the case is named where it is, any other is copied into files/. */
MR_CHECK enum mr_code mr_work_draft_attach(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_attach *request, struct mr_work_draft_attached *result);

/* --- looking at them --- */

struct mr_work_draft_ref {
	const char *case_ref, *draft_name;
};
struct mr_work_draft_attachment {
	const char *path;
	bool exists;
	bool has_size;
	int64_t size_bytes;
};
struct mr_work_draft_shown {
	const char *case_uid, *draft_name, *draft_path;
	const char *subject, *identity;
	struct mr_texts to, cc;
	struct mr_work_draft_attachment *attachments;
	size_t attachments_len;
	const char *body;
	const char *queued_action, *push_id;
	bool remote_changed; /* false */
	const char *send_intent, *reply_to_message_id, *last_validated_rfc3339;
	bool validated_current; /* the file is what was valid then */
};
MR_CHECK enum mr_code mr_work_draft_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_shown *result);

struct mr_work_draft_list {
	const char *case_ref; /* NULL: of all active cases */
};
struct mr_work_draft_row {
	const char *case_uid, *case_name; /* of the list of all; else NULL */
	const char *draft_name, *draft_path;
	const char *subject, *identity, *send_intent, *reply_to_message_id;
	struct mr_texts to, cc;
	const char *queued_action, *push_id;
	bool draft_valid;
	const char *draft_error; /* or NULL */
};
struct mr_work_draft_listed {
	const char *case_uid; /* NULL: of all */
	int64_t count;
	struct mr_work_draft_row *items; /* by case and name */
	size_t len;
};
/* Broken drafts are listed too; of all cases, those that can be read. */
MR_CHECK enum mr_code mr_work_draft_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_list *request, struct mr_work_draft_listed *result);

/* --- checking and queueing --- */

struct mr_work_draft_valid {
	const char *case_uid, *draft_name, *draft_hash, *last_validated_rfc3339;
};
MR_CHECK enum mr_code mr_work_draft_validate(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_valid *result);

struct mr_work_draft_queued {
	const char *push_id, *kind, *action, *case_uid, *draft_name, *draft_path;
	const char *last_validated_rfc3339;
};
/* Queue it, to be stored among the drafts on the server. push_already_started when it was to be
 * sent and that has begun. */
MR_CHECK enum mr_code mr_work_draft_save(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_queued *result);
/* Queue it, to be sent; config_missing when the sender is still the identity of a new workspace. */
MR_CHECK enum mr_code mr_work_draft_send(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_queued *result);

/* As mr_work_draft_save(), for drafts that were validated and not changed since then alone:
 * draft_validation_required, draft_changed_since_validation. */
MR_CHECK enum mr_code mr_work_draft_compose(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_queued *result);

struct mr_work_draft_remove {
	const char *case_ref, *draft_name, *reason;
};
struct mr_work_draft_removed {
	const char *case_uid, *draft_name, *draft_path;
	bool draft_deleted, state_removed, queued_removed;
	int64_t removed_push_count;
	struct mr_texts push_ids, actions;
	bool mail_sent; /* false: a draft that may have been sent is not removed */
};
/* The draft, what is remembered of it, and its queued item. push_already_started. */
MR_CHECK enum mr_code mr_work_draft_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_remove *request, struct mr_work_draft_removed *result);

/* --- for the push --- */

/* A draft that was opened. */
struct mr_work_draft {
	struct mr_work_collection collection; /* its case */
	const char *name, *path;
	struct mr_bytes bytes; /* of the file */
	struct mr_work_draft_file file;
};
MR_CHECK enum mr_code mr_work_draft_open(struct mr_ctx *cx, struct mr_work *work,
	const char *case_ref, const char *draft_name, struct mr_work_draft *out);
/* Can it be sent? Else draft_invalid, with the reason. */
MR_CHECK enum mr_code mr_work_draft_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft);

/* A mail that is ready to go. */
struct mr_work_outbound {
	const char *message_id;        /* the local one */
	const char *rfc822_message_id; /* without angle brackets */
	const char *subject;
	const char *reply_to_message_id; /* or NULL */
	const char *from;                /* of the envelope: bare addresses, each once */
	struct mr_texts to;
	struct mr_bytes bytes;
};
/* Check a draft and build the mail of its queued item with that date. When it is to be sent, the
 * sender must be one: config_missing, config_invalid. */
MR_CHECK enum mr_code mr_work_draft_build(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft, const struct mr_work_push_item *item, int64_t date_us,
	struct mr_work_outbound *out);
