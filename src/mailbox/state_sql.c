/* mailbox/state_sql.c */
#include "mailbox/state_sql.h"

#include "base/str.h"
#include "mailbox/message_sql.h"

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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false, begun = !mr_db_in_transaction(db);
	enum mr_code rc = mr_db_prepare(db, SQL_SCHEMA_COUNT, &stmt, &cx->err);

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc || mr_stmt_int(stmt, 0) == SCHEMA_ITEMS)
		return rc;
	mr_stmt_done(&stmt);
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

#define COLUMNS                                                                                    \
	"message_id, thread_id, created_at_utc, subject, is_read, is_answered, is_starred, "       \
	"is_archived, is_deleted, box_name"

static struct mr_mailbox_state read_row(struct mr_stmt *stmt, struct mr_arena *arena)
{
	return (struct mr_mailbox_state){
		.message_id = mr_stmt_text(stmt, 0, arena),
		.thread_id = mr_stmt_text(stmt, 1, arena),
		.created_at = mr_stmt_text(stmt, 2, arena),
		.subject = mr_stmt_text(stmt, 3, arena),
		.read = mr_stmt_int(stmt, 4) != 0,
		.answered = mr_stmt_int(stmt, 5) != 0,
		.starred = mr_stmt_int(stmt, 6) != 0,
		.archived = mr_stmt_int(stmt, 7) != 0,
		.deleted = mr_stmt_int(stmt, 8) != 0,
		.box = mr_stmt_text(stmt, 9, arena),
	};
}

static const char SQL_GET[] = "SELECT " COLUMNS " FROM message_state WHERE message_id = ?1";

enum mr_code mr_mailbox_state_get(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	const struct mr_mailbox_state **out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_state *found = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_GET, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, message_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	if (row) {
		found = mr_arena_alloc(cx->arena, sizeof(*found));
		*found = read_row(stmt, cx->arena);
	}
	*out = found;
	return MR_OK;
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, row->message_id);
	mr_stmt_bind_text(stmt, 2, row->thread_id);
	mr_stmt_bind_text(stmt, 3, row->created_at);
	mr_stmt_bind_text(stmt, 4, row->subject);
	mr_stmt_bind_int(stmt, 5, row->read);
	mr_stmt_bind_int(stmt, 6, row->answered);
	mr_stmt_bind_int(stmt, 7, row->starred);
	mr_stmt_bind_int(stmt, 8, row->archived);
	mr_stmt_bind_int(stmt, 9, row->deleted);
	mr_stmt_bind_text(stmt, 10, row->box);
	return mr_stmt_run(stmt, &cx->err);
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_DROP, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, message_id);
	return mr_stmt_run(stmt, &cx->err);
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_states list = { NULL, 0 };
	size_t room = 0;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, box ? SQL_LIST_BOX : SQL_LIST, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, limit > 0 ? limit : -1);
	if (box)
		mr_stmt_bind_text(stmt, 2, box);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		if (list.len == room) {
			struct mr_mailbox_state *more;

			room = room ? room * 2 : 64;
			more = mr_arena_array(cx->arena, room, sizeof(*more));
			if (list.len)
				memcpy(more, list.items, list.len * sizeof(*more));
			list.items = more;
		}
		list.items[list.len++] = read_row(stmt, cx->arena);
	}
	if (!rc)
		*out = list;
	return rc;
}

static const char SQL_COUNT[] = "SELECT count(*) FROM message_state";

enum mr_code mr_mailbox_state_count(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_COUNT, &stmt, &cx->err);

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = mr_stmt_int(stmt, 0);
	return rc;
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

static enum mr_code drop_thread(struct mr_ctx *cx, struct mr_db *db, const char *thread_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_DROP_THREAD, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, thread_id);
	return mr_stmt_run(stmt, &cx->err);
}

/* Texts go to `arena`, which a caller with many threads frees now and then. */
static enum mr_code summarise(struct mr_ctx *cx, struct mr_arena *arena, struct mr_db *db,
	const char *thread_id)
{
	struct mr_stmt *latest MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *put MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_LATEST, &latest, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(latest, 1, thread_id);
	rc = mr_stmt_step(latest, &row, &cx->err);
	if (rc)
		return rc;
	if (!row)
		return drop_thread(cx, db, thread_id);
	rc = mr_db_prepare(db, SQL_PUT_THREAD, &put, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_text(put, 1, thread_id);
	mr_stmt_bind_text(put, 2, mr_mailbox_normal_subject(arena, mr_stmt_text(latest, 2, arena)));
	mr_stmt_bind_text(put, 3, mr_stmt_text(latest, 0, arena));
	mr_stmt_bind_text(put, 4, mr_stmt_text(latest, 1, arena));
	return mr_stmt_run(put, &cx->err);
}

enum mr_code mr_mailbox_state_thread(struct mr_ctx *cx, struct mr_db *db, const char *thread_id)
{
	return summarise(cx, cx->arena, db, thread_id);
}

static const char SQL_ORPHAN_THREADS[] =
	"DELETE FROM thread_summaries WHERE NOT EXISTS"
	" (SELECT 1 FROM message_state s WHERE s.thread_id = thread_summaries.thread_id)";
/* One after the other by name, so that no statement is open while a summary is written. */
static const char SQL_NEXT_THREAD[] =
	"SELECT thread_id FROM message_state WHERE thread_id > ?1 ORDER BY thread_id LIMIT 1";

enum mr_code mr_mailbox_state_threads(struct mr_ctx *cx, struct mr_db *db)
{
	enum { REFRESH = 1000 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *thread = "";
	enum mr_code rc = mr_db_run(db, SQL_ORPHAN_THREADS, &cx->err);

	for (size_t i = 1; !rc; i++) {
		struct mr_stmt *next MR_CLEANUP(mr_stmt_done) = NULL;
		bool row = false;

		rc = mr_db_prepare(db, SQL_NEXT_THREAD, &next, &cx->err);
		if (rc)
			return rc;
		mr_stmt_bind_text(next, 1, thread);
		rc = mr_stmt_step(next, &row, &cx->err);
		if (rc || !row)
			return rc;
		if (i % REFRESH == 0) {
			mr_arena_free(arena);
			arena = mr_arena_new();
		}
		thread = mr_stmt_text(next, 0, arena);
		rc = summarise(cx, arena, db, thread);
	}
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
