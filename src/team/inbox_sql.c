/*
 * team/inbox_sql.c - Message list queries, each of which walks one index and stops at its limit;
 * and read and acknowledge updates.
 */
#include "team/inbox_sql.h"

#include "data/rows.h"
#include "team/limits.h"
#include "team/message_cache.h"
#include "team/message_sql.h"
#include "team/name.h"
#include "text/time.h"

/*
 * Every list walks an index from its newest entry and stops when it has enough, so that its cost
 * does not depend on how much there is. What the messages say is read one by one, and often kept
 * already.
 *
 * ?1 agent, ?2 the id to go on from, ?3 how many, ?4 thread, ?5 its message when the thread is a
 * number.
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
	"  AND t.thread_id = ?4 UNION SELECT ?5)"
#define NEWEST_RECEIVED " ORDER BY r.message_id DESC LIMIT ?3"
#define OLDEST_RECEIVED " ORDER BY r.message_id LIMIT ?3"
#define NEWEST_SENT     " ORDER BY m.id DESC LIMIT ?3"

static const char *const boxes[MR_TEAM_BOX_COUNT] = {
	[MR_TEAM_BOX_ALL] = RECEIVED NEWEST_RECEIVED,
	[MR_TEAM_BOX_NEWER] = RECEIVED_LATER OLDEST_RECEIVED,
	[MR_TEAM_BOX_UNREAD] = RECEIVED " AND r.read_ts IS NULL" NEWEST_RECEIVED,
	[MR_TEAM_BOX_URGENT] = RECEIVED " AND r.urgent = 1" NEWEST_RECEIVED,
	[MR_TEAM_BOX_URGENT_UNREAD] =
		RECEIVED " AND r.urgent = 1 AND r.read_ts IS NULL" NEWEST_RECEIVED,
	[MR_TEAM_BOX_DUE] = RECEIVED " AND r.ack_due = 1 AND r.ack_ts IS NULL" NEWEST_RECEIVED,
	[MR_TEAM_BOX_DUE_OLDEST] =
		RECEIVED_LATER " AND r.ack_due = 1 AND r.ack_ts IS NULL" OLDEST_RECEIVED,
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

/* What stands in RECEIPT: nothing, when the message was sent, not received. */
struct receipt {
	bool received;
	enum mr_team_recipient_kind kind;
	int64_t read_ts, ack_ts;
};

static void read_receipt_of(struct mr_stmt *stmt, int column, struct receipt *out)
{
	*out = (struct receipt){ .received = !mr_stmt_is_null(stmt, column) };
	if (!out->received)
		return;
	mr_team_kind_of(mr_stmt_peek(stmt, column), &out->kind);
	out->read_ts = mr_stmt_int(stmt, column + 1);
	out->ack_ts = mr_stmt_int(stmt, column + 2);
}

static void set_receipt(struct mr_team_item *item, const struct receipt *receipt)
{
	item->received = receipt->received;
	item->kind = receipt->kind;
	item->read_ts = receipt->read_ts;
	item->ack_ts = receipt->ack_ts;
}

static const char SQL_HEAD[] =
	"SELECT " MR_TEAM_ITEM_COLUMNS " FROM messages m" MR_TEAM_ITEM_SENDER " WHERE m.id = ?1";

static enum mr_code read_item(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_team_item_read(row, -1, cx->arena, to);
	return MR_OK;
}

/* A message that a list names, without its body. `*found` is false in a damaged database only. */
static enum mr_code read_head(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_message_cache *heads, int64_t message_id, bool *found,
	struct mr_team_item *out)
{
	enum mr_code rc;

	*found = mr_team_message_cache_get(heads, cx->arena, message_id, out);
	if (*found)
		return MR_OK;
	rc = mr_rows_first(cx, db, SQL_HEAD, MR_BIND(message_id), read_item, out, found);
	if (rc || !*found)
		return rc;
	out->heads = heads;
	mr_team_message_cache_put(heads, out);
	return MR_OK;
}

static const char SQL_BODY[] = "SELECT body_md FROM messages WHERE id = ?1";

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

/* Ids follow time unless the clock was set back: allow for a few seconds of that. */
#define SET_BACK_US (5 * MR_TIME_S)

static bool is_past(const struct mr_team_box_query *query, int64_t created_ts)
{
	return query->since_ts && created_ts < query->since_ts - SET_BACK_US;
}

/*
 * The entries of a list, some at a time: no statement is open while the messages they name are
 * read.
 */
enum { ENTRIES = 256, GROWTH = 16 };

struct entry {
	int64_t message_id;
	struct receipt receipt;
};

struct walk {
	const struct mr_team_box_query *query;
	int64_t from;    /* the id to go on from */
	int64_t count;   /* how many were asked for: fewer came at the end of the list */
	int64_t at, len; /* of `entries` */
	int64_t next;    /* how many to ask for next */
	struct entry entries[ENTRIES];
};

/* `count` is how many will probably do. */
static void start(struct walk *walk, const struct mr_team_box_query *query, int64_t count)
{
	bool oldest = query->box == MR_TEAM_BOX_DUE_OLDEST || query->box == MR_TEAM_BOX_NEWER;

	walk->query = query;
	walk->from = query->before || oldest ? query->before : INT64_MAX;
	walk->count = walk->at = walk->len = 0;
	walk->next = count < ENTRIES ? count : ENTRIES;
}

static enum mr_code read_entry(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct walk *walk = to;
	struct entry *entry = &walk->entries[walk->len++];

	(void)cx;
	walk->from = entry->message_id = mr_stmt_int(row, 0);
	read_receipt_of(row, 1, &entry->receipt);
	return MR_OK;
}

static enum mr_code read_entries(struct mr_ctx *cx, struct mr_db *db, struct walk *walk)
{
	const struct mr_team_box_query *query = walk->query;
	const char *sql = boxes[query->box];
	int64_t number = 0;

	walk->at = walk->len = 0;
	walk->count = walk->next;
	walk->next = walk->count < ENTRIES / GROWTH ? walk->count * GROWTH : ENTRIES;
	if (query->box != MR_TEAM_BOX_THREAD && query->box != MR_TEAM_BOX_SENT_THREAD)
		return mr_rows_each(cx, db, sql, MR_BIND(query->agent_id, walk->from, walk->count),
			read_entry, walk);
	mr_str_to_int(query->thread_id, &number);
	return mr_rows_each(cx, db, sql,
		MR_BIND(query->agent_id, walk->from, walk->count, query->thread_id, number),
		read_entry, walk);
}

/* NULL at the end of the list. */
static enum mr_code next_entry(struct mr_ctx *cx, struct mr_db *db, struct walk *walk,
	const struct entry **out)
{
	enum mr_code rc = MR_OK;

	*out = NULL;
	if (walk->at == walk->len && walk->len == walk->count)
		rc = read_entries(cx, db, walk);
	if (!rc && walk->at < walk->len)
		*out = &walk->entries[walk->at++];
	return rc;
}

/*
 * since_ts usually is the time of the last message the client has seen: it wants everything after
 * that message, whatever the clock has done since. Find its id, when since_ts is the time of one of
 * the newest messages; else 0.
 */
static enum mr_code find_last_seen(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_box_query *query, int64_t *out_id)
{
	struct mr_team_box_query whole = *query;
	struct mr_team_item item = { 0 };
	const struct entry *entry;
	struct walk walk;
	bool known = false;

	*out_id = 0;
	if (!query->since_ts || query->box == MR_TEAM_BOX_DUE_OLDEST ||
		query->box == MR_TEAM_BOX_NEWER)
		return MR_OK;
	/* Search all boxes: it may have been read or acknowledged meanwhile. */
	whole.box = query->box == MR_TEAM_BOX_SENT || query->box == MR_TEAM_BOX_SENT_THREAD
		? MR_TEAM_BOX_SENT
		: MR_TEAM_BOX_ALL;
	/* Mostly it is the newest. */
	start(&walk, &whole, 1);
	for (int older = 0, i = 0; older <= OLDER_MAX && i < WALK_MAX; i++) {
		enum mr_code rc = next_entry(cx, db, &walk, &entry);

		if (!rc && entry)
			rc = read_head(cx, db, query->heads, entry->message_id, &known, &item);
		if (rc || !entry)
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
	struct mr_team_box_query query = *asked;
	struct mr_team_items found = {
		mr_arena_array(cx->arena, (size_t)query.limit + 1, sizeof(*found.items)), 0, 0
	};
	struct walk walk;
	int64_t last_seen;
	enum mr_code rc = find_last_seen(cx, db, &query, &last_seen);

	if (last_seen)
		query.since_ts = 0;
	/* Mostly little is new since then. */
	start(&walk, &query, last_seen ? 2 : query.limit + 1);
	while (!rc) {
		struct mr_team_item *item = &found.items[found.len];
		const struct entry *entry;
		bool known = false;

		rc = next_entry(cx, db, &walk, &entry);
		if (!rc && entry)
			rc = read_head(cx, db, query.heads, entry->message_id, &known, item);
		if (rc)
			return rc;
		if (!entry ||
			(known &&
				(item->message.id <= last_seen ||
					is_past(&query, item->message.created_ts))))
			break;
		if (!known)
			continue;
		set_receipt(item, &entry->receipt);
		if (!is_wanted(&query, item))
			continue;
		if ((int64_t)found.len == query.limit) {
			found.next = found.items[found.len - 1].message.id;
			break;
		}
		if (query.with_bodies)
			rc = mr_rows_one(cx, db, SQL_BODY, MR_BIND(entry->message_id),
				MR_INTO(&item->message.body_md), NULL);
		found.len++;
	}
	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_ONE[] =
	"SELECT " MR_TEAM_ITEM_COLUMNS ", " RECEIPT
	", m.body_md FROM messages m" MR_TEAM_ITEM_SENDER
	" LEFT JOIN message_recipients r ON r.message_id = m.id AND r.agent_id = ?2"
	" WHERE m.id = ?1";

static enum mr_code read_one(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct receipt receipt;

	read_receipt_of(row, MR_TEAM_ITEM_COLUMN_COUNT, &receipt);
	mr_team_item_read(row, MR_TEAM_ITEM_COLUMN_COUNT + 3, cx->arena, to);
	set_receipt(to, &receipt);
	return MR_OK;
}

enum mr_code mr_team_box_one(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t viewer_id, bool *found, struct mr_team_item *out)
{
	return mr_rows_first(cx, db, SQL_ONE, MR_BIND(message_id, viewer_id), read_one, out, found);
}

static const char SQL_CONCERNS[] =
	"SELECT 1 FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id = ?1 AND r.kind <> 'bcc' AND a.project_id = ?2 LIMIT 1";

enum mr_code mr_team_box_concerns(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t project_id, bool *out)
{
	return mr_rows_exist(cx, db, SQL_CONCERNS, MR_BIND(message_id, project_id), out);
}

static const char SQL_RECEIPT[] = "SELECT read_ts, ack_ts FROM message_recipients"
				  " WHERE message_id = ?1 AND agent_id = ?2";

static enum mr_code read_receipt(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, struct mr_team_receipt *out)
{
	*out = (struct mr_team_receipt){ .message_id = message_id };
	return mr_rows_one(cx, db, SQL_RECEIPT, MR_BIND(message_id, agent_id),
		MR_INTO(&out->read_ts, &out->ack_ts), &out->is_recipient);
}

static const char SQL_MARK[] = "UPDATE message_recipients SET read_ts = ?3, ack_ts = ?4"
			       " WHERE message_id = ?1 AND agent_id = ?2";

enum mr_code mr_team_box_mark(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, bool acknowledge, int64_t now_us, struct mr_team_receipt *out)
{
	struct mr_team_receipt receipt;
	enum mr_code rc = read_receipt(cx, db, message_id, agent_id, &receipt);
	bool done = !rc &&
		(!receipt.is_recipient || (receipt.read_ts && receipt.ack_ts) ||
			(receipt.read_ts && !acknowledge));

	if (!rc && !done) {
		receipt.read_ts = receipt.read_ts ? receipt.read_ts : now_us;
		receipt.ack_ts = receipt.ack_ts || !acknowledge ? receipt.ack_ts : now_us;
		rc = mr_rows_run(cx, db, SQL_MARK,
			MR_BIND(message_id, agent_id, receipt.read_ts,
				mr_bind_or_null(receipt.ack_ts)));
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
	return mr_rows_one(cx, db, SQL_COUNTS, MR_BIND(agent_id),
		MR_INTO(&out->total, &out->unread, &out->urgent, &out->ack_due), NULL);
}

static const char SQL_UNREAD[] =
	"SELECT count(*) FROM (SELECT 1 FROM message_recipients WHERE agent_id = ?1"
	" AND read_ts IS NULL LIMIT ?2) n";

enum mr_code mr_team_inbox_unread(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t most, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_UNREAD, MR_BIND(agent_id, most), MR_INTO(out), NULL);
}
