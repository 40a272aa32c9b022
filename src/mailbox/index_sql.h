/* mailbox/index_sql.h - messages, recipients, attachments, projections, threads in index.sqlite.
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "mailbox/message.h"
#include "mailbox/model.h"

#include <stdbool.h>

/* Make every table and index of index.sqlite that is missing (spec/mailbox.md 8.1). */
MR_CHECK enum mr_code mr_mailbox_index_schema(struct mr_ctx *cx, struct mr_db *db);

/* The id of a message of `sender`, not older than `since`, whose random part begins with `mark`;
 * NULL when there is none. */
MR_CHECK enum mr_code mr_mailbox_index_find_once(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_once *once, const char **out);

MR_CHECK enum mr_code mr_mailbox_index_has(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, bool *out);
/* *out is NULL when there is none. */
MR_CHECK enum mr_code mr_mailbox_index_get(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, const struct mr_mailbox_indexed **out);

/* What delivery knows besides the message: the registrations that matched. */
struct mr_mailbox_delivered {
	const char *canonical_path;         /* absolute */
	const char *document;               /* the whole text */
	const char *sender_registration_id; /* or NULL */
	/* The registration of to[i], or of cc[i - to.len]; an item may be NULL. */
	const char *const *recipient_registration_ids;
};
/* messages, message_recipients, attachments (a known id with the same metadata is linked; with
 * other metadata MR_ECONFLICT), message_attachments; not projections. */
MR_CHECK enum mr_code mr_mailbox_index_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_message *message, const struct mr_mailbox_delivered *delivered);
/* The message and all that hangs on it. */
MR_CHECK enum mr_code mr_mailbox_index_delete(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id);

MR_CHECK enum mr_code mr_mailbox_index_recipients(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_recipients *out);
MR_CHECK enum mr_code mr_mailbox_index_attachments(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_attachments *out);

/* Of a registration, of a message, or of both; NULL means any. */
MR_CHECK enum mr_code mr_mailbox_index_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, const char *message_id, struct mr_mailbox_projections *out);
/* The same folder again replaces the path. */
MR_CHECK enum mr_code mr_mailbox_index_add_projection(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_projection *row);
/* One of the two may be NULL: any. */
MR_CHECK enum mr_code mr_mailbox_index_drop_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, const char *message_id);

/*
 * Messages projected to a registration, newest first and of one second the last to arrive first;
 * one that is in two folders (mail to oneself) is there twice. `limit` 0 is all. Documents are not
 * loaded.
 */
MR_CHECK enum mr_code mr_mailbox_index_list(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, int64_t limit, struct mr_mailbox_listing *out);

/* Recompute the shared summary of a thread (8.3); one without messages is deleted. */
MR_CHECK enum mr_code mr_mailbox_index_thread(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id);
/* A subject as thread summaries have it: stripped, lower case (ASCII letters only). */
const char *mr_mailbox_normal_subject(struct mr_arena *arena, const char *subject);
