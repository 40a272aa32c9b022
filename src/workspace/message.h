/* workspace/message.h - commands about single messages: show, list, fetch attachments. */
#pragma once

#include "workspace/frame.h"
#include "workspace/record.h"

struct mr_work_shown_attachment {
	const char *part_id, *filename, *saved_filename, *content_type;
	int64_t size_bytes;
	bool fetched;
	const char *file_path, *storage; /* "" when it was not fetched */
};

struct mr_work_shown_message {
	const char *message_id, *from, *sender, *subject, *direction;
	struct mr_texts to, cc, bcc, reply_to;
	const char *received_rfc3339, *sent_rfc3339, *body_text;
	const char *body_markdown; /* when asked for, and when the mail has HTML; or NULL */
	int64_t attachment_count;
	struct mr_work_shown_attachment *attachments;
	size_t attachments_len;
	struct mr_texts mailbox_ids, flags;
	bool unread, flagged, remote_missing, remote_effect_pending;
	const char *remote_missing_since_rfc3339;
	const struct mr_value *push, *contact;
	const char *identity, *identity_email, *identity_match;
	struct mr_texts identity_candidates, observed_recipient_emails;
	const char *view_path, *json_path;
	const struct mr_value *message;
};

struct mr_work_message_ref {
	const char *message_id;
	bool markdown; /* also its HTML as Markdown */
};
MR_CHECK enum mr_code mr_work_message_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_ref *request, struct mr_work_shown_message *out);

struct mr_work_fetch {
	const char *message_id, *part_id; /* part_id NULL: all */
};
struct mr_work_saved_attachment {
	const char *message_id, *part_id, *filename, *saved_filename, *content_type, *storage,
		*file_path;
	int64_t size_bytes;
};
struct mr_work_fetched {
	const char *message_id;
	bool is_one; /* a part was named: the result is that of one attachment */
	struct mr_work_saved_attachment *items;
	size_t len;
};
/* attachment_not_found. */
MR_CHECK enum mr_code mr_work_attachment_fetch(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_fetch *request, struct mr_work_fetched *out);

/* --- lists --- */

struct mr_work_listed_message {
	const char *message_id;
	bool has_details; /* the members below are set */
	const char *status, *from, *subject;
	const char *time; /* received, else sent, as RFC 3339 in UTC; or NULL */
	int64_t attachment_count;
	const char *view_path; /* or NULL */
};

/* Texts that are NULL are not asked for. */
struct mr_work_message_list {
	const char *status;         /* a name of mr_work_status_names */
	const char *from, *subject; /* parts of them, case ignored */
	const char *since, *until;  /* times: from `since` on, and before `until` */
	int64_t limit;              /* 0: all */
	const char *after;          /* the last message of the page before */
};
struct mr_work_message_listed {
	int64_t count;
	struct mr_work_listed_message *items; /* newest first */
	size_t len;
	const char *next_after; /* there are more: the `after` of the next page; or NULL */
};
/* A time that cannot be read or a status that does not exist is invalid_request; message_not_found
 * for `after`. */
MR_CHECK enum mr_code mr_work_message_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_list *request, struct mr_work_message_listed *result);

struct mr_work_triage_list {
	int64_t limit; /* 0: all */
	bool details;  /* each with sender, subject and time, not only its id */
};
struct mr_work_triage_listed {
	int64_t count;
	/* Of all messages in triage, when the limit leaves some out. */
	bool has_more;
	int64_t total_count;
	const struct mr_value *push_status, *path_templates;
	struct mr_work_listed_message *items; /* by id */
	size_t len;
};
MR_CHECK enum mr_code mr_work_triage_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_triage_list *request, struct mr_work_triage_listed *result);

/* The view that shows a message just now, or NULL. */
MR_CHECK enum mr_code mr_work_message_view(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const char **out_path);
