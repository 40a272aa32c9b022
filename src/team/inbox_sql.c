/* team/inbox_sql.c */
#include "team/inbox_sql.h"

#include "team/limits.h"
#include "team/message_cache.h"
#include "team/message_sql.h"
#include "team/name.h"
#include "text/time.h"

#include <string.h>

/*
 * Every list walks an index from its newest entry and stops when it has enough, so that its cost
 * does not depend on how much there is. What the messages say is read one by one, and often kept
 * already.
 *
 * ?1 agent, ?2 the id to go on from, ?3 thread, ?4 its message when the thread is a number.
 */
#define RECEIPT "r.kind, r.read_ts, r.ack_ts"
#define RECEIVED_BY                                                                                \
	"SELECT r.message_id, " RECEIPT " FROM message_recipients r WHERE r.agent_id = ?1"
#define RECEIVED       RECEIVED_BY " AND r.message_id < ?2"
#define RECEIVED_LATER RECEIVED_BY " AND r.message_id > ?2"
#define SENT                                                                                       \
	"SELECT m.id, NULL, NULL, NULL FROM messages m"                                            \
	" WHERE m.sender_id = ?1 AND m.id < ?2"
/* A thread may have messages in several projects; the index has the project first. */
#define IN_THREAD                                                                                  \
	" IN (SELECT t.id FROM messages t WHERE t.project_id IN (SELECT id FROM projects)"         \
	"  AND t.thread_id = ?3 UNION SELECT ?4)"
#define NEWEST_RECEIVED " ORDER BY r.message_id DESC"
#define NEWEST_SENT     " ORDER BY m.id DESC"

static const char *const boxes[MR_TEAM_BOX_COUNT] = {
	[MR_TEAM_BOX_ALL] = RECEIVED NEWEST_RECEIVED,
	[MR_TEAM_BOX_NEWER] = RECEIVED_LATER " ORDER BY r.message_id",
	[MR_TEAM_BOX_UNREAD] = RECEIVED " AND r.read_ts IS NULL" NEWEST_RECEIVED,
	[MR_TEAM_BOX_URGENT] = RECEIVED " AND r.urgent = 1" NEWEST_RECEIVED,
	[MR_TEAM_BOX_URGENT_UNREAD] =
		RECEIVED " AND r.urgent = 1 AND r.read_ts IS NULL" NEWEST_RECEIVED,
	[MR_TEAM_BOX_DUE] = RECEIVED " AND r.ack_due = 1 AND r.ack_ts IS NULL" NEWEST_RECEIVED,
	[MR_TEAM_BOX_DUE_OLDEST] =
		RECEIVED_LATER " AND r.ack_due = 1 AND r.ack_ts IS NULL ORDER BY r.message_id",
	[MR_TEAM_BOX_THREAD] = RECEIVED " AND r.message_id" IN_THREAD NEWEST_RECEIVED,
	[MR_TEAM_BOX_SENT] = SENT NEWEST_SENT,
	[MR_TEAM_BOX_SENT_THREAD] = SENT " AND m.id" IN_THREAD NEWEST_SENT,
};

const char *mr_team_box_sql(enum mr_team_inbox_box box)
{
	return boxes[box];
}

void mr_team_item_read(struct mr_stmt *stmt, int body_column, struct mr_arena *arena,
	struct mr_team_item *out)
{
	*out = (struct mr_team_item){
		.from = mr_stmt_text(stmt, MR_TEAM_MESSAGE_COLUMN_COUNT, arena),
		.sender_project = mr_stmt_text(stmt, MR_TEAM_MESSAGE_COLUMN_COUNT + 1, arena),
		.from_human = mr_stmt_int(stmt, MR_TEAM_MESSAGE_COLUMN_COUNT + 2) != 0,
	};
	out->from_human = out->from_human && mr_str_eq(out->from, MR_TEAM_OVERSEER_NAME);
	mr_team_message_read(stmt, 0, body_column, arena, &out->message);
}

/* What stands in RECEIPT, the first at `column`. */
static void read_receipt_of(struct mr_stmt *stmt, int column, struct mr_team_item *out)
{
	if (mr_stmt_is_null(stmt, column))
		return;
	out->received = true;
	mr_team_kind_of(mr_stmt_peek(stmt, column), &out->kind);
	out->read_ts = mr_stmt_int(stmt, column + 1);
	out->ack_ts = mr_stmt_int(stmt, column + 2);
}

static const char SQL_HEAD[] =
	"SELECT " MR_TEAM_ITEM_COLUMNS " FROM messages m" MR_TEAM_ITEM_SENDER " WHERE m.id = ?1";

/* A message that a list names, without its body. `*found` is false in a damaged database only. */
static enum mr_code read_head(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_message_cache *heads, int64_t message_id, bool *found,
	struct mr_team_item *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc;

	*found = mr_team_message_cache_get(heads, cx->arena, message_id, out);
	if (*found)
		return MR_OK;
	rc = mr_db_prepare(db, SQL_HEAD, &stmt, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (rc || !*found)
		return rc;
	mr_team_item_read(stmt, -1, cx->arena, out);
	out->heads = heads;
	mr_team_message_cache_put(heads, out);
	return MR_OK;
}

static const char SQL_BODY[] = "SELECT body_md FROM messages WHERE id = ?1";

static enum mr_code read_body(struct mr_ctx *cx, struct mr_db *db, struct mr_team_message *message)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_BODY, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message->id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc && row)
		message->body_md = mr_stmt_text(stmt, 0, cx->arena);
	return rc;
}

static bool is_wanted(const struct mr_team_box_query *query, const struct mr_team_item *item)
{
	const struct mr_team_message *message = &item->message;

	if (query->since_ts && message->created_ts <= query->since_ts)
		return false;
	if (query->before_ts && message->created_ts > query->before_ts)
		return false;
	if (query->urgent_only && message->importance < MR_TEAM_HIGH)
		return false;
	if (query->unread_only && item->read_ts)
		return false;
	return !query->unacked_only ||
		(message->ack_required && item->kind == MR_TEAM_TO && !item->ack_ts);
}

enum {
	OLDER_MAX = 256, /* messages older than since_ts that are looked at for one of that time */
	WALK_MAX = 2000,
};

/* Ids follow time but for a clock that was set back: some seconds of that are looked past. */
#define SET_BACK_US (5 * MR_TIME_S)

static bool is_past(const struct mr_team_box_query *query, int64_t created_ts)
{
	return query->since_ts && created_ts < query->since_ts - SET_BACK_US;
}

static void bind(struct mr_stmt *stmt, const struct mr_team_box_query *query)
{
	int64_t number = 0;
	bool oldest = query->box == MR_TEAM_BOX_DUE_OLDEST || query->box == MR_TEAM_BOX_NEWER;

	mr_stmt_bind_int(stmt, 1, query->agent_id);
	mr_stmt_bind_int(stmt, 2, query->before || oldest ? query->before : INT64_MAX);
	if (query->box != MR_TEAM_BOX_THREAD && query->box != MR_TEAM_BOX_SENT_THREAD)
		return;
	mr_stmt_bind_text(stmt, 3, query->thread_id);
	mr_str_to_int(query->thread_id, &number);
	mr_stmt_bind_int(stmt, 4, number);
}

/*
 * Who asks for what came since the last message they were given means: after that message, whatever
 * the clock has done since. Its id, when since_ts is the time of one of the newest; else 0.
 */
static enum mr_code find_last_seen(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_box_query *query, int64_t *out_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_box_query whole = *query;
	struct mr_team_item item = { 0 };
	bool row = true, known = false;
	enum mr_code rc = MR_OK;

	*out_id = 0;
	if (!query->since_ts || query->box == MR_TEAM_BOX_DUE_OLDEST ||
		query->box == MR_TEAM_BOX_NEWER)
		return MR_OK;
	/* It may have been read or acknowledged meanwhile. */
	whole.box = query->box == MR_TEAM_BOX_SENT || query->box == MR_TEAM_BOX_SENT_THREAD
		? MR_TEAM_BOX_SENT
		: MR_TEAM_BOX_ALL;
	rc = mr_db_prepare(db, boxes[whole.box], &stmt, &cx->err);
	if (rc)
		return rc;
	bind(stmt, &whole);
	for (int older = 0, i = 0; older <= OLDER_MAX && i < WALK_MAX; i++) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row)
			rc = read_head(cx, db, query->heads, mr_stmt_int(stmt, 0), &known, &item);
		if (rc || !row)
			return rc;
		if (known && item.message.created_ts == query->since_ts) {
			*out_id = item.message.id;
			return MR_OK;
		}
		older += known && item.message.created_ts < query->since_ts;
	}
	return MR_OK;
}

enum mr_code mr_team_box_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_box_query *asked, struct mr_team_items *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_box_query later = *asked;
	const struct mr_team_box_query *query = &later;
	struct mr_team_items found = {
		mr_arena_array(cx->arena, (size_t)query->limit + 1, sizeof(*found.items)), 0, 0
	};
	int64_t last_seen;
	enum mr_code rc = find_last_seen(cx, db, query, &last_seen);

	if (last_seen)
		later.since_ts = 0;
	if (!rc)
		rc = mr_db_prepare(db, boxes[query->box], &stmt, &cx->err);
	if (rc)
		return rc;
	bind(stmt, query);
	for (;;) {
		struct mr_team_item *item = &found.items[found.len];
		bool row = false, known = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row)
			rc = read_head(cx, db, query->heads, mr_stmt_int(stmt, 0), &known, item);
		if (rc)
			return rc;
		if (!row ||
			(known &&
				(item->message.id <= last_seen ||
					is_past(query, item->message.created_ts))))
			break;
		if (!known)
			continue;
		read_receipt_of(stmt, 1, item);
		if (!is_wanted(query, item))
			continue;
		if ((int64_t)found.len == query->limit) {
			found.next = found.items[found.len - 1].message.id;
			break;
		}
		if (query->with_bodies)
			rc = read_body(cx, db, &item->message);
		if (rc)
			return rc;
		found.len++;
	}
	*out = found;
	return MR_OK;
}

static const char SQL_ONE[] =
	"SELECT " MR_TEAM_ITEM_COLUMNS ", " RECEIPT
	", m.body_md FROM messages m" MR_TEAM_ITEM_SENDER
	" LEFT JOIN message_recipients r ON r.message_id = m.id AND r.agent_id = ?2"
	" WHERE m.id = ?1";

enum mr_code mr_team_box_one(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t viewer_id, bool *found, struct mr_team_item *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ONE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	mr_stmt_bind_int(stmt, 2, viewer_id);
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (rc || !*found)
		return rc;
	mr_team_item_read(stmt, MR_TEAM_ITEM_COLUMN_COUNT + 3, cx->arena, out);
	read_receipt_of(stmt, MR_TEAM_ITEM_COLUMN_COUNT, out);
	return MR_OK;
}

static const char SQL_CONCERNS[] =
	"SELECT 1 FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id = ?1 AND r.kind <> 'bcc' AND a.project_id = ?2 LIMIT 1";

enum mr_code mr_team_box_concerns(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t project_id, bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_CONCERNS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	mr_stmt_bind_int(stmt, 2, project_id);
	return mr_stmt_step(stmt, out, &cx->err);
}

static const char SQL_RECEIPT[] = "SELECT read_ts, ack_ts FROM message_recipients"
				  " WHERE message_id = ?1 AND agent_id = ?2";

static enum mr_code read_receipt(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, struct mr_team_receipt *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_RECEIPT, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	mr_stmt_bind_int(stmt, 2, agent_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	*out = (struct mr_team_receipt){
		.message_id = message_id,
		.is_recipient = row,
		.read_ts = row ? mr_stmt_int(stmt, 0) : 0,
		.ack_ts = row ? mr_stmt_int(stmt, 1) : 0,
	};
	return MR_OK;
}

static const char SQL_MARK[] = "UPDATE message_recipients SET read_ts = ?3, ack_ts = ?4"
			       " WHERE message_id = ?1 AND agent_id = ?2";

enum mr_code mr_team_box_mark(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, bool acknowledge, int64_t now_us, struct mr_team_receipt *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_receipt receipt;
	enum mr_code rc = read_receipt(cx, db, message_id, agent_id, &receipt);
	bool done = !rc &&
		(!receipt.is_recipient || (receipt.read_ts && receipt.ack_ts) ||
			(receipt.read_ts && !acknowledge));

	if (!rc && !done)
		rc = mr_db_prepare(db, SQL_MARK, &stmt, &cx->err);
	if (!rc && !done) {
		receipt.read_ts = receipt.read_ts ? receipt.read_ts : now_us;
		receipt.ack_ts = receipt.ack_ts || !acknowledge ? receipt.ack_ts : now_us;
		mr_stmt_bind_int(stmt, 1, message_id);
		mr_stmt_bind_int(stmt, 2, agent_id);
		mr_stmt_bind_int(stmt, 3, receipt.read_ts);
		if (receipt.ack_ts)
			mr_stmt_bind_int(stmt, 4, receipt.ack_ts);
		else
			mr_stmt_bind_null(stmt, 4);
		rc = mr_stmt_run(stmt, &cx->err);
	}
	if (!rc)
		*out = receipt;
	return rc;
}

static const char SQL_COUNTS[] =
	"SELECT (SELECT count(*) FROM message_recipients WHERE agent_id = ?1),"
	" (SELECT count(*) FROM message_recipients WHERE agent_id = ?1 AND read_ts IS NULL),"
	" (SELECT count(*) FROM message_recipients WHERE agent_id = ?1 AND urgent = 1"
	"   AND read_ts IS NULL),"
	" (SELECT count(*) FROM message_recipients WHERE agent_id = ?1 AND ack_due = 1"
	"   AND ack_ts IS NULL)";

enum mr_code mr_team_inbox_counts(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_counts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_COUNTS, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = (struct mr_team_counts){
			.total = mr_stmt_int(stmt, 0),
			.unread = mr_stmt_int(stmt, 1),
			.urgent = mr_stmt_int(stmt, 2),
			.ack_due = mr_stmt_int(stmt, 3),
		};
	return rc;
}
