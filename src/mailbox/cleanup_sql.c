/*
 * mailbox/cleanup_sql.c - which messages and attachments a clear takes from index.sqlite.
 *
 * Sets are joined by the engine, never listed as parameters: their number is not limited. A set
 * that is asked about for each row is an uncorrelated subquery, which the engine builds once.
 */
#include "mailbox/cleanup_sql.h"

#include "mailbox/message_sql.h"

#include <string.h>

/* Append a zeroed element to an array in the arena. */
static void *grow(struct mr_arena *arena, void *items, size_t len, size_t *cap, size_t size)
{
	void *more;

	if (len < *cap)
		return items;
	*cap = *cap ? *cap * 2 : 64;
	more = mr_arena_array(arena, *cap, size);
	if (len > 0)
		memcpy(more, items, len * size);
	return more;
}

static const char SQL_MESSAGES[] =
	"SELECT message_id, canonical_path, 0 FROM messages ORDER BY message_id";
static const char SQL_MESSAGES_OF[] =
	"SELECT message_id, canonical_path, message_id IN"
	" (SELECT message_id FROM mailbox_projections WHERE registration_id <> ?1)"
	" FROM messages WHERE message_id IN"
	" (SELECT message_id FROM mailbox_projections WHERE registration_id = ?1)"
	" ORDER BY message_id";

enum mr_code mr_mailbox_cleanup_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, struct mr_mailbox_clear_messages *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_clear_messages found = { NULL, 0 };
	size_t cap = 0;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, registration_id ? SQL_MESSAGES_OF : SQL_MESSAGES, &stmt,
		&cx->err);

	if (rc)
		return rc;
	if (registration_id)
		mr_stmt_bind_text(stmt, 1, registration_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		found.items = grow(cx->arena, found.items, found.len, &cap, sizeof(*found.items));
		found.items[found.len++] = (struct mr_mailbox_clear_message){
			.message_id = mr_stmt_text(stmt, 0, cx->arena),
			.canonical_path = mr_stmt_text(stmt, 1, cx->arena),
			.stays = mr_stmt_int(stmt, 2) != 0,
		};
	}
	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_ATTACHMENTS[] =
	"SELECT attachment_id, kind, locator, 0 FROM attachments ORDER BY attachment_id";
/* The messages that go: projected to this registration and to no other. */
#define DOOMED                                                                                     \
	"WITH doomed AS (SELECT message_id FROM mailbox_projections WHERE registration_id = ?1"    \
	" AND message_id NOT IN"                                                                   \
	" (SELECT message_id FROM mailbox_projections WHERE registration_id <> ?1))"
static const char SQL_ATTACHMENTS_OF[] =
	DOOMED " SELECT attachment_id, kind, locator, locator IN"
	       " (SELECT a.locator FROM attachments a JOIN message_attachments l"
	       " ON l.attachment_id = a.attachment_id"
	       " WHERE l.message_id NOT IN (SELECT message_id FROM doomed))"
	       " FROM attachments WHERE attachment_id IN"
	       " (SELECT attachment_id FROM message_attachments"
	       " WHERE message_id IN (SELECT message_id FROM doomed))"
	       " ORDER BY attachment_id";

enum mr_code mr_mailbox_cleanup_sql_attachments(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, struct mr_mailbox_clear_attachments *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_clear_attachments found = { NULL, 0 };
	size_t cap = 0;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, registration_id ? SQL_ATTACHMENTS_OF : SQL_ATTACHMENTS,
		&stmt, &cx->err);

	if (rc)
		return rc;
	if (registration_id)
		mr_stmt_bind_text(stmt, 1, registration_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		found.items = grow(cx->arena, found.items, found.len, &cap, sizeof(*found.items));
		found.items[found.len++] = (struct mr_mailbox_clear_attachment){
			.attachment_id = mr_stmt_text(stmt, 0, cx->arena),
			.kind = mr_stmt_text(stmt, 1, cx->arena),
			.locator = mr_stmt_text(stmt, 2, cx->arena),
			.stays = mr_stmt_int(stmt, 3) != 0,
		};
	}
	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_CLEAR_ALL[] = "DELETE FROM mailbox_projections;"
				    "DELETE FROM mailbox_state;"
				    "DELETE FROM message_recipients;"
				    "DELETE FROM message_attachments;"
				    "DELETE FROM attachments;"
				    "DELETE FROM messages;"
				    "DELETE FROM thread_summaries";

static const char SQL_DOOMED_TABLES[] =
	"CREATE TEMPORARY TABLE IF NOT EXISTS doomed (message_id TEXT PRIMARY KEY);"
	"CREATE TEMPORARY TABLE IF NOT EXISTS doomed_thread (thread_id TEXT PRIMARY KEY);"
	"CREATE TEMPORARY TABLE IF NOT EXISTS doomed_attachment (attachment_id TEXT PRIMARY KEY);"
	"DELETE FROM doomed; DELETE FROM doomed_thread; DELETE FROM doomed_attachment";
static const char SQL_DOOM[] =
	"INSERT INTO doomed SELECT DISTINCT message_id FROM mailbox_projections"
	" WHERE registration_id = ?1 AND message_id NOT IN"
	" (SELECT message_id FROM mailbox_projections WHERE registration_id <> ?1)";
static const char SQL_DROP_PROJECTIONS[] =
	"DELETE FROM mailbox_projections WHERE registration_id = ?1";
static const char SQL_DROP_STATE[] =
	"DELETE FROM mailbox_state WHERE registration_id = ?1 OR message_id IN"
	" (SELECT message_id FROM doomed)";
static const char SQL_CLEAR_DOOMED[] =
	"INSERT INTO doomed_thread SELECT DISTINCT thread_id FROM messages"
	" WHERE message_id IN (SELECT message_id FROM doomed);"
	"INSERT INTO doomed_attachment SELECT DISTINCT attachment_id FROM message_attachments"
	" WHERE message_id IN (SELECT message_id FROM doomed);"
	"DELETE FROM message_recipients WHERE message_id IN (SELECT message_id FROM doomed);"
	"DELETE FROM message_attachments WHERE message_id IN (SELECT message_id FROM doomed);"
	"DELETE FROM attachments WHERE attachment_id IN"
	" (SELECT attachment_id FROM doomed_attachment) AND attachment_id NOT IN"
	" (SELECT attachment_id FROM message_attachments);"
	"DELETE FROM messages WHERE message_id IN (SELECT message_id FROM doomed)";
static const char SQL_DOOMED_THREADS[] = "SELECT thread_id FROM doomed_thread ORDER BY thread_id";

static enum mr_code run_for(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const char *registration_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, registration_id);
	return mr_stmt_run(stmt, &cx->err);
}

static enum mr_code follow_threads(struct mr_ctx *cx, struct mr_db *db)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, SQL_DOOMED_THREADS, &stmt, &cx->err);

	while (!rc && !(rc = mr_stmt_step(stmt, &row, &cx->err)) && row)
		rc = mr_mailbox_index_thread(cx, db, mr_stmt_text(stmt, 0, cx->arena));
	return rc;
}

static enum mr_code clear_of(struct mr_ctx *cx, struct mr_db *db, const char *registration_id)
{
	enum mr_code rc = mr_db_exec(db, SQL_DOOMED_TABLES, &cx->err);

	if (!rc)
		rc = run_for(cx, db, SQL_DOOM, registration_id);
	if (!rc)
		rc = run_for(cx, db, SQL_DROP_PROJECTIONS, registration_id);
	if (!rc)
		rc = run_for(cx, db, SQL_DROP_STATE, registration_id);
	if (!rc)
		rc = mr_db_exec(db, SQL_CLEAR_DOOMED, &cx->err);
	return rc ? rc : follow_threads(cx, db);
}

enum mr_code mr_mailbox_cleanup_sql_clear(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id)
{
	/* What hangs on a row is deleted here, by whole sets: the cascade would search tables that
	 * have no index for it once for each row. */
	enum mr_code rc = mr_db_exec(db, "PRAGMA foreign_keys=OFF", &cx->err);
	struct mr_err ignored;

	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = registration_id ? clear_of(cx, db, registration_id)
				     : mr_db_exec(db, SQL_CLEAR_ALL, &cx->err);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	(void)!mr_db_exec(db, "PRAGMA foreign_keys=ON", &ignored);
	return rc;
}
