/*
 * workspace/record.h - the record of a message, messages/ID.json: all that is known of it in one
 * place.
 *
 * A projection of the raw message, its locations, the lists that hold it, the queue, the contacts
 * and the identities. Reading a message makes its record anew; only refreshing writes it.
 */
#pragma once

#include "text/mail_auth.h"
#include "workspace/evidence.h"
#include "workspace/frame.h"
#include "workspace/identity.h"
#include "workspace/index.h"
#include "workspace/queue.h"

struct mr_work_attachment {
	const char *part_id, *filename, *content_type;
	int64_t size_bytes;
	bool fetched;
	const char *file_path;      /* where it was saved, or NULL */
	const char *saved_filename; /* the safe form of its name */
};

struct mr_work_pending {
	const char *push_id, *kind, *queued, *last_error;
};

struct mr_work_record {
	struct mr_work_evidence evidence;
	const char *message_id;
	const char *rfc822_message_id; /* without brackets, or NULL */
	const char *in_reply_to;       /* the last id of the header, or NULL */
	struct mr_texts references;
	const char *subject, *from, *sender; /* or NULL */
	struct mr_texts to, cc, bcc, reply_to;
	struct mr_texts delivered_to, x_original_to, envelope_to;
	const char *list_id;
	struct mr_texts mailing_list_headers; /* "Name: value" */
	struct mr_mail_auth authentication;
	struct mr_texts authentication_raw; /* the fields it was read from */
	const char *body_text;
	struct mr_work_attachment *attachments;
	size_t attachment_count;
	struct mr_texts notes; /* what is wrong with the message */

	enum mr_work_status status;
	const char *archive_uid, *archived; /* when it is in a category */
	bool has_remote_sync, archive_eligible;
	const char *remote_checked;
	struct mr_work_pending *pending;
	size_t pending_count;
	const char *last_completed; /* the last push that concerned it, or NULL */

	const char *contact_uid, *contact_name; /* of its sender, or NULL */
	struct mr_work_identity_match identity; /* of inbound mail */
};

/* message_not_found and what evidence can fail with. */
MR_CHECK enum mr_code mr_work_record_make(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_work_record *out);
/* The document, in the order of the contract. */
const struct mr_value *mr_work_record_value(struct mr_ctx *cx, const struct mr_work_record *record);
/* Make and write it; `*out_written` says whether it was another one before. */
MR_CHECK enum mr_code mr_work_record_write(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, bool *out_written);
/* The attachment of a part id, or NULL. */
const struct mr_work_attachment *mr_work_record_attachment(const struct mr_work_record *record,
	const char *part_id);
