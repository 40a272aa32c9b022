/*
 * team/message_sql.h - messages in the database: how they get in, and rows by their id.
 *
 * A message is never changed once it is in. The inserting code adds it to the search index, in the
 * change's `after`.
 */
#pragma once

#include "data/db.h"
#include "team/model.h"
#include "team/rights.h"
#include "team/store/root.h"

/*
 * Inside a change: the row of a message without its recipients. What is 0 or NULL of id, uid,
 * created_ts (now, but after that of every message stored before, see MR_TEAM_CLOCK_AHEAD_S) and
 * thread_seq (one more than the thread's largest) is found and set in `message`;
 * what is there is kept, for a rebuild.
 */
MR_CHECK enum mr_code mr_team_message_insert(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_message *message, int64_t attachment_bytes);
/* A recipient of it, the `place`th from 0; of `recipient` agent_id, kind, read_ts and ack_ts
 * count. */
MR_CHECK enum mr_code mr_team_recipient_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_message *message, const struct mr_team_recipient *recipient,
	size_t place);

/* Rows by their id; NOT_FOUND. */
MR_CHECK enum mr_code mr_team_message_row(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	struct mr_team_message *out);
MR_CHECK enum mr_code mr_team_message_recipients(struct mr_ctx *cx, struct mr_db *db,
	int64_t message_id, struct mr_team_recipients *out);
/* Is there a message of this id? */
MR_CHECK enum mr_code mr_team_message_exists(struct mr_ctx *cx, struct mr_db *db,
	int64_t message_id, bool *out);
/* The largest id so far, 0 without messages. */
MR_CHECK enum mr_code mr_team_message_last(struct mr_ctx *cx, struct mr_db *db, int64_t *out);

/* The message a sender sent under this idempotency key since `since_ts`; 0 when there is none.
 * `*notes` is what was stored with it. */
MR_CHECK enum mr_code mr_team_key_find(struct mr_ctx *cx, struct mr_db *db, int64_t sender_id,
	const char *key, int64_t since_ts, int64_t *out_message_id, const char **notes);
/* Store a key, and delete keys older than `since_ts`. */
MR_CHECK enum mr_code mr_team_key_put(struct mr_ctx *cx, struct mr_db *db, int64_t sender_id,
	const char *key, int64_t since_ts, int64_t message_id, const char *notes);

/* Bytes that the attachments of a project's messages have stored. */
MR_CHECK enum mr_code mr_team_attached_bytes(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, int64_t *out);
/* Are at least `limit` messages of this agent unread? */
MR_CHECK enum mr_code mr_team_inbox_is_full(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t limit, bool *out);

/* SQL: have the readers of team/rights.h, bound as the parameter `who`, sent or received the
 * message called `m`? */
#define MR_TEAM_SEEN_BY(m, who)                                                                    \
	"(CAST(" who " AS TEXT) IS NULL OR " m ".sender_id IN ids(" who                            \
	") OR EXISTS (SELECT 1 FROM message_recipients w WHERE w.message_id = " m                  \
	".id AND w.agent_id IN ids(" who ")))"
/* The same of one message. */
MR_CHECK enum mr_code mr_team_message_is_seen(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t message_id, bool *out);

/*
 * From the messages t of a thread as everybody in a project may see it, for its archive: those that
 * were sent there, and those from elsewhere that were openly sent to one of its agents. All
 * projects are named, so that the index of threads is used.
 */
#define MR_TEAM_THREAD_FROM(project, thread)                                                         \
	" FROM messages t WHERE t.project_id IN (SELECT id FROM projects) AND t.thread_id = " thread \
	" AND (t.project_id = " project " OR EXISTS (SELECT 1 FROM message_recipients tr"            \
	"  JOIN agents ta ON ta.id = tr.agent_id WHERE tr.message_id = t.id AND tr.kind <> 'bcc'"    \
	"  AND ta.project_id = " project "))"

/* Columns of `messages` called m, in the order mr_team_message_read() expects, the first at
 * `column`; the body, when it was asked for, is in `body_column`, else that is -1. */
#define MR_TEAM_MESSAGE_COLUMNS                                                                    \
	"m.id, m.uid, m.project_id, m.sender_id, m.thread_id, m.thread_seq, m.reply_to,"           \
	" m.subject, m.importance, m.ack_required, m.created_ts, m.attachments, m.verified,"       \
	" (SELECT mg.names FROM message_groups mg WHERE mg.message_id = m.id)"
enum { MR_TEAM_MESSAGE_COLUMN_COUNT = 14 };
void mr_team_message_read(struct mr_stmt *stmt, int column, int body_column, struct mr_arena *arena,
	struct mr_team_message *out);
