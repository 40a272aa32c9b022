/*
 * mailbox/state_sql.c - The tables of mailbox.sqlite: the state of each message in one mailbox,
 * and that mailbox's thread summaries.
 */
#include "mailbox/state_sql.h"

#include "base/str.h"
#include "data/rows.h"
#include "mailbox/index_sql.h"

#include <string.h>

/* The tables are the contract's; names that begin with mailroom_ are indexes of our own: the newest
 * of many, a thread's latest message, and what is unread in it. */
static const char SQL_SCHEMA[] =
	"CREATE TABLE IF NOT EXISTS message_state("
	"message_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, created_at_utc TEXT NOT NULL,"
	"subject TEXT NOT NULL, is_read INTEGER NOT NULL DEFAULT 0,"
	"is_answered INTEGER NOT NULL DEFAULT 0, is_starred INTEGER NOT NULL DEFAULT 0,"
	"is_archived INTEGER NOT NULL DEFAULT 0, is_deleted INTEGER NOT NULL DEFAULT 0,"
	"box_name TEXT NOT NULL DEFAULT 'inbox');"
	"CREATE TABLE IF NOT EXISTS thread_summaries("
	"thread_id TEXT PRIMARY KEY, normalized_subject TEXT NOT NULL, latest_message_id TEXT,"
	"latest_message_created_at_utc TEXT, unread_count INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX IF NOT EXISTS idx_message_state_thread_id ON message_state(thread_id);"
	"CREATE INDEX IF NOT EXISTS mailroom_state_newest ON message_state(created_at_utc);"
	"CREATE INDEX IF NOT EXISTS mailroom_state_box"
	" ON message_state(box_name, created_at_utc);"
	"CREATE INDEX IF NOT EXISTS mailroom_state_latest"
	" ON message_state(thread_id, created_at_utc, message_id);"
	"CREATE INDEX IF NOT EXISTS mailroom_state_unread"
	" ON message_state(thread_id) WHERE is_read = 0;";

static const char SQL_SCHEMA_COUNT[] =
	"SELECT count(*) FROM sqlite_master"
	" WHERE (type = 'table' AND name IN ('message_state', 'thread_summaries'))"
	" OR (type = 'index' AND name IN ('idx_message_state_thread_id', 'mailroom_state_newest',"
	" 'mailroom_state_box', 'mailroom_state_latest', 'mailroom_state_unread'))";

enum { SCHEMA_ITEMS = 7 };

enum mr_code mr_mailbox_state_schema(struct mr_ctx *cx, struct mr_db *db)
{
	bool begun = !mr_db_in_transaction(db);
	int64_t items = 0;
	enum mr_code rc = mr_rows_one(cx, db, SQL_SCHEMA_COUNT, NULL, MR_INTO(&items), NULL);

	if (rc || items == SCHEMA_ITEMS)
		return rc;
	/* All at once: one commit instead of seven. */
	if (begun)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_db_exec(db, SQL_SCHEMA, &cx->err);
	if (!rc && begun)
		rc = mr_db_commit(db, &cx->err);
	if (rc && begun)
		mr_db_rollback(db);
	return rc;
}

#define COLUMNS MR_MAILBOX_STATE_COLUMNS

enum mr_code mr_mailbox_state_read(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_state *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->message_id, &it->thread_id, &it->created_at, &it->subject, &it->read,
			&it->answered, &it->starred, &it->archived, &it->deleted, &it->box));
	return MR_OK;
}

static const char SQL_GET[] = "SELECT " COLUMNS " FROM message_state WHERE message_id = ?1";

enum mr_code mr_mailbox_state_get(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	const struct mr_mailbox_state **out)
{
	struct mr_mailbox_state *row = mr_arena_alloc(cx->arena, sizeof(*row));
	bool found = false;
	enum mr_code rc = mr_rows_first(cx, db, SQL_GET, MR_BIND(message_id), mr_mailbox_state_read,
		row, &found);

	if (!rc)
		*out = found ? row : NULL;
	return rc;
}

#define INSERT                                                                                     \
	"INSERT INTO message_state(" COLUMNS                                                       \
	") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT(message_id) DO "

static const char SQL_PUT[] = INSERT
	"UPDATE SET thread_id = excluded.thread_id, created_at_utc = excluded.created_at_utc,"
	" subject = excluded.subject, is_read = excluded.is_read,"
	" is_answered = excluded.is_answered, is_starred = excluded.is_starred,"
	" is_archived = excluded.is_archived, is_deleted = excluded.is_deleted,"
	" box_name = excluded.box_name";
static const char SQL_ADD[] = INSERT "NOTHING";

static enum mr_code write_row(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_mailbox_state *row)
{
	return mr_rows_run(cx, db, sql,
		MR_BIND(row->message_id, row->thread_id, row->created_at, row->subject, row->read,
			row->answered, row->starred, row->archived, row->deleted, row->box));
}

enum mr_code mr_mailbox_state_put(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_state *row)
{
	return write_row(cx, db, SQL_PUT, row);
}

enum mr_code mr_mailbox_state_add(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_state *row)
{
	return write_row(cx, db, SQL_ADD, row);
}

static const char SQL_DROP[] = "DELETE FROM message_state WHERE message_id = ?1";

enum mr_code mr_mailbox_state_drop(struct mr_ctx *cx, struct mr_db *db, const char *message_id)
{
	return mr_rows_run(cx, db, SQL_DROP, MR_BIND(message_id));
}

static const char SQL_CLEAR_STATE[] = "DELETE FROM message_state";
static const char SQL_CLEAR_THREADS[] = "DELETE FROM thread_summaries";

enum mr_code mr_mailbox_state_clear(struct mr_ctx *cx, struct mr_db *db)
{
	enum mr_code rc = mr_db_run(db, SQL_CLEAR_STATE, &cx->err);

	return rc ? rc : mr_db_run(db, SQL_CLEAR_THREADS, &cx->err);
}

/* Of one second, what came last is first: the row's number counts arrivals. */
static const char SQL_LIST[] = "SELECT " COLUMNS " FROM message_state"
			       " ORDER BY created_at_utc DESC, rowid DESC LIMIT ?1";
static const char SQL_LIST_BOX[] = "SELECT " COLUMNS " FROM message_state WHERE box_name = ?2"
				   " ORDER BY created_at_utc DESC, rowid DESC LIMIT ?1";

enum mr_code mr_mailbox_state_list(struct mr_ctx *cx, struct mr_db *db, const char *box,
	int64_t limit, struct mr_mailbox_states *out)
{
	limit = limit > 0 ? limit : INT64_MAX;
	return mr_rows_list(cx, db, box ? SQL_LIST_BOX : SQL_LIST,
		box ? MR_BIND(limit, box) : MR_BIND(limit), mr_mailbox_state_read, MR_LIST(out));
}

static const char SQL_COUNT[] = "SELECT count(*) FROM message_state";

enum mr_code mr_mailbox_state_count(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_COUNT, NULL, MR_INTO(out), NULL);
}

static const char SQL_LATEST[] =
	"SELECT message_id, created_at_utc, subject FROM message_state WHERE thread_id = ?1"
	" ORDER BY created_at_utc DESC, message_id DESC LIMIT 1";
static const char SQL_PUT_THREAD[] =
	"INSERT INTO thread_summaries(thread_id, normalized_subject, latest_message_id,"
	" latest_message_created_at_utc, unread_count) VALUES(?1, ?2, ?3, ?4,"
	" (SELECT count(*) FROM message_state WHERE thread_id = ?1 AND is_read = 0))"
	" ON CONFLICT(thread_id) DO UPDATE SET normalized_subject = excluded.normalized_subject,"
	" latest_message_id = excluded.latest_message_id,"
	" latest_message_created_at_utc = excluded.latest_message_created_at_utc,"
	" unread_count = excluded.unread_count";
static const char SQL_DROP_THREAD[] = "DELETE FROM thread_summaries WHERE thread_id = ?1";

enum mr_code mr_mailbox_state_thread(struct mr_ctx *cx, struct mr_db *db, const char *thread_id)
{
	const char *latest, *created_at, *subject;
	bool found = false;
	enum mr_code rc = mr_rows_one(cx, db, SQL_LATEST, MR_BIND(thread_id),
		MR_INTO(&latest, &created_at, &subject), &found);

	if (rc)
		return rc;
	if (!found)
		return mr_rows_run(cx, db, SQL_DROP_THREAD, MR_BIND(thread_id));
	return mr_rows_run(cx, db, SQL_PUT_THREAD,
		MR_BIND(thread_id, mr_mailbox_normal_subject(cx->arena, subject), latest,
			created_at));
}

static const char SQL_ORPHAN_THREADS[] =
	"DELETE FROM thread_summaries WHERE NOT EXISTS"
	" (SELECT 1 FROM message_state s WHERE s.thread_id = thread_summaries.thread_id)";
/* One after the other by name, so that no statement is open while a summary is written. */
static const char SQL_NEXT_THREAD[] =
	"SELECT thread_id FROM message_state WHERE thread_id > ?1 ORDER BY thread_id LIMIT 1";

enum mr_code mr_mailbox_state_threads(struct mr_ctx *cx, struct mr_db *db)
{
	struct mr_arena *outer = cx->arena;
	const char *thread = "";
	bool found = true;
	enum mr_code rc = mr_db_run(db, SQL_ORPHAN_THREADS, &cx->err);

	/* There may be many: the texts of each are freed after the next. */
	cx->arena = mr_arena_new();
	while (!rc && found) {
		struct mr_arena *before = cx->arena;

		cx->arena = mr_arena_new();
		rc = mr_rows_one(cx, db, SQL_NEXT_THREAD, MR_BIND(thread), MR_INTO(&thread),
			&found);
		if (!rc && found)
			rc = mr_mailbox_state_thread(cx, db, thread);
		mr_arena_free(before);
	}
	mr_arena_free(cx->arena);
	cx->arena = outer;
	return rc;
}

struct mr_mailbox_state mr_mailbox_state_fresh(const char *message_id, const char *thread_id,
	const char *created_at, const char *subject, bool is_recipient)
{
	return (struct mr_mailbox_state){
		.message_id = message_id,
		.thread_id = thread_id,
		.created_at = created_at,
		.subject = subject,
		.read = !is_recipient,
		.box = is_recipient ? "inbox" : "sent",
	};
}

struct mr_mailbox_state mr_mailbox_state_seeded(const char *message_id, const char *thread_id,
	const char *created_at, const char *subject, const struct mr_texts *folders)
{
	static const char *const preferred[] = { "inbox", "sent", "archive" };
	struct mr_mailbox_state state = mr_mailbox_state_fresh(message_id, thread_id, created_at,
		subject, mr_texts_has(folders, "inbox"));
	const char *box = NULL;

	for (size_t i = 0; i < folders->len; i++) {
		if (!box || strcmp(folders->items[i], box) < 0)
			box = folders->items[i];
	}
	for (size_t i = MR_LEN(preferred); i-- > 0;) {
		if (mr_texts_has(folders, preferred[i]))
			box = preferred[i];
	}
	state.box = box ? box : "inbox";
	state.archived = state.read && mr_texts_has(folders, "archive");
	return state;
}
