/*
 * mailbox/cleanup_sql.c - which messages and attachments a clear takes from index.sqlite.
 *
 * Sets are joined by the engine, never listed as parameters: their number is not limited. A set
 * that is asked about for each row is an uncorrelated subquery, which the engine builds once.
 */
#include "mailbox/cleanup_sql.h"

#include "data/rows.h"
#include "mailbox/index_sql.h"

static const char SQL_MESSAGES[] =
	"SELECT message_id, canonical_path, 0 FROM messages ORDER BY message_id";
static const char SQL_MESSAGES_OF[] =
	"SELECT message_id, canonical_path, message_id IN"
	" (SELECT message_id FROM mailbox_projections WHERE registration_id <> ?1)"
	" FROM messages WHERE message_id IN"
	" (SELECT message_id FROM mailbox_projections WHERE registration_id = ?1)"
	" ORDER BY message_id";

static enum mr_code read_message(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_clear_message *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->message_id, &it->canonical_path, &it->stays));
	return MR_OK;
}

enum mr_code mr_mailbox_cleanup_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, struct mr_mailbox_clear_messages *out)
{
	return mr_rows_list(cx, db, registration_id ? SQL_MESSAGES_OF : SQL_MESSAGES,
		registration_id ? MR_BIND(registration_id) : NULL, read_message, MR_LIST(out));
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

static enum mr_code read_attachment(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_clear_attachment *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->attachment_id, &it->kind, &it->locator, &it->stays));
	return MR_OK;
}

enum mr_code mr_mailbox_cleanup_sql_attachments(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, struct mr_mailbox_clear_attachments *out)
{
	return mr_rows_list(cx, db, registration_id ? SQL_ATTACHMENTS_OF : SQL_ATTACHMENTS,
		registration_id ? MR_BIND(registration_id) : NULL, read_attachment, MR_LIST(out));
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

static enum mr_code follow_threads(struct mr_ctx *cx, struct mr_db *db)
{
	struct mr_texts threads = { 0 };
	enum mr_code rc =
		mr_rows_list(cx, db, SQL_DOOMED_THREADS, NULL, mr_row_text, MR_LIST(&threads));

	for (size_t i = 0; !rc && i < threads.len; i++)
		rc = mr_mailbox_index_thread(cx, db, threads.items[i]);
	return rc;
}

static enum mr_code clear_of(struct mr_ctx *cx, struct mr_db *db, const char *registration_id)
{
	static const char *const steps[] = { SQL_DOOM, SQL_DROP_PROJECTIONS, SQL_DROP_STATE };
	enum mr_code rc = mr_db_exec(db, SQL_DOOMED_TABLES, &cx->err);

	for (size_t i = 0; !rc && i < MR_LEN(steps); i++)
		rc = mr_rows_run(cx, db, steps[i], MR_BIND(registration_id));
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
