/* mailbox/state_sql.h - mailbox.sqlite: the state of each message in one mailbox. */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "data/db.h"
#include "mailbox/model.h"

/* Columns of message_state, and what reads their rows (data/rows.h) into struct mr_mailbox_state.
 */
#define MR_MAILBOX_STATE_COLUMNS                                                                   \
	"message_id, thread_id, created_at_utc, subject, is_read, is_answered, is_starred, "       \
	"is_archived, is_deleted, box_name"
enum mr_code mr_mailbox_state_read(struct mr_ctx *cx, struct mr_stmt *row, void *to);

/* Make what is missing of its tables and indexes (spec/mailbox.md 8.2). */
MR_CHECK enum mr_code mr_mailbox_state_schema(struct mr_ctx *cx, struct mr_db *db);

/* *out is NULL when there is no row. */
MR_CHECK enum mr_code mr_mailbox_state_get(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, const struct mr_mailbox_state **out);
/* Insert, or replace the whole row. */
MR_CHECK enum mr_code mr_mailbox_state_put(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_state *row);
/* Insert unless there is a row: a default never overwrites the owner's changes. */
MR_CHECK enum mr_code mr_mailbox_state_add(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_state *row);
MR_CHECK enum mr_code mr_mailbox_state_drop(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id);
MR_CHECK enum mr_code mr_mailbox_state_clear(struct mr_ctx *cx, struct mr_db *db);
/* Rows of a box (NULL: of all), newest first and of one second the last to arrive first; `limit` 0
 * is all. */
MR_CHECK enum mr_code mr_mailbox_state_list(struct mr_ctx *cx, struct mr_db *db, const char *box,
	int64_t limit, struct mr_mailbox_states *out);
MR_CHECK enum mr_code mr_mailbox_state_count(struct mr_ctx *cx, struct mr_db *db, int64_t *out);

/* Recompute the local summary of a thread, unread count included; or of all threads. */
MR_CHECK enum mr_code mr_mailbox_state_thread(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id);
MR_CHECK enum mr_code mr_mailbox_state_threads(struct mr_ctx *cx, struct mr_db *db);

/* The defaults of a fresh delivery (8.4): a recipient's is unread in inbox, a mere sender's read in
 * sent. */
struct mr_mailbox_state mr_mailbox_state_fresh(const char *message_id, const char *thread_id,
	const char *created_at, const char *subject, bool is_recipient);
/* The defaults of a row that is missing, from the folders a message is projected to (8.4). The
 * texts of `folders` must live as long as the row. */
struct mr_mailbox_state mr_mailbox_state_seeded(const char *message_id, const char *thread_id,
	const char *created_at, const char *subject, const struct mr_texts *folders);
