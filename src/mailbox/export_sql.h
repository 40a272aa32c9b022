/* mailbox/export_sql.h - what an export reads: a copy of the index, and from it row after row. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "mailbox/registration_sql.h"

/*
 * This works on a copy of the index. First say which registrations are exported; with
 * `all_messages` also messages that none of them has. `*out_total` is how many rows there will be.
 */
MR_CHECK enum mr_code mr_mailbox_export_sql_select(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registrations *rows, bool all_messages, size_t *out_total);

struct mr_mailbox_export_message {
	const char *message_id;
	const char *thread_id;
	const char *in_reply_to; /* or NULL */
	const char *created_at;
	const char *canonical_path; /* absolute */
	const char *subject;
	const char *sender_address;
	const char *sender_principal_id;
	const char *sender_registration_id; /* or NULL */
};
struct mr_mailbox_export_projection {
	size_t row; /* of the registrations selected */
	const char *message_id;
	const char *folder;
	const char *path;           /* absolute */
	const char *canonical_path; /* absolute */
};
struct mr_mailbox_export_attachment {
	const char *message_id;
	const char *attachment_id;
	const char *kind;
	const char *locator;
	const char *media_type;
	const char *sha256; /* or NULL */
	int64_t size_bytes; /* or -1 */
	const char *label;  /* or NULL */
	int64_t ordinal;
};

/* Called for each row; what it is given and what it takes from `scratch` is gone some rows later.
 */
typedef enum mr_code mr_mailbox_export_each_message(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_message *message);
typedef enum mr_code mr_mailbox_export_each_projection(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_projection *projection);
typedef enum mr_code mr_mailbox_export_each_attachment(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_attachment *attachment);

/* By message id. */
MR_CHECK enum mr_code mr_mailbox_export_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_export_each_message *each, void *arg);
/* By registration in the order they were selected, then by message id and folder. */
MR_CHECK enum mr_code mr_mailbox_export_sql_projections(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_export_each_projection *each, void *arg);
/* Of the messages above, by message id and ordinal. */
MR_CHECK enum mr_code mr_mailbox_export_sql_attachments(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_export_each_attachment *each, void *arg);
