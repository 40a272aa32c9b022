/* mailbox/export_sql.c - reads the rows that an export copies. */
#include "mailbox/export_sql.h"

#include "data/rows.h"

enum { ROWS_PER_SCRATCH = 128 };

static const char SQL_TABLES[] =
	"CREATE TABLE export_registration (ordinal INTEGER PRIMARY KEY,"
	" registration_id TEXT NOT NULL UNIQUE);"
	"CREATE TABLE export_message (message_id TEXT PRIMARY KEY) WITHOUT ROWID";
static const char SQL_ADD_REGISTRATION[] = "INSERT INTO export_registration VALUES (?1, ?2)";
static const char SQL_ADD_ALL[] = "INSERT INTO export_message SELECT message_id FROM messages";
static const char SQL_ADD_PROJECTED[] =
	"INSERT INTO export_message SELECT DISTINCT message_id FROM mailbox_projections"
	" WHERE registration_id IN (SELECT registration_id FROM export_registration)";
static const char SQL_TOTAL[] =
	"SELECT (SELECT COUNT(*) FROM export_message)"
	" + (SELECT COUNT(*) FROM mailbox_projections WHERE registration_id IN"
	" (SELECT registration_id FROM export_registration))"
	" + (SELECT COUNT(*) FROM message_attachments WHERE message_id IN"
	" (SELECT message_id FROM export_message))";

static enum mr_code add_registrations(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registrations *rows)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < rows->len; i++)
		rc = mr_rows_run(cx, db, SQL_ADD_REGISTRATION, MR_BIND(i, rows->items[i].id));
	return rc;
}

enum mr_code mr_mailbox_export_sql_select(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registrations *rows, bool all_messages, size_t *out_total)
{
	enum mr_code rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);

	if (!rc)
		rc = mr_db_exec(db, SQL_TABLES, &cx->err);
	if (!rc)
		rc = add_registrations(cx, db, rows);
	if (!rc)
		rc = mr_db_run(db, all_messages ? SQL_ADD_ALL : SQL_ADD_PROJECTED, &cx->err);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc ? rc : mr_rows_one(cx, db, SQL_TOTAL, NULL, MR_INTO(out_total), NULL);
}

/* The next row, and memory for it. */
static enum mr_code next(struct mr_ctx *cx, struct mr_stmt *stmt, size_t number,
	struct mr_arena **scratch, bool *row)
{
	if (number % ROWS_PER_SCRATCH == 0) {
		mr_arena_free(*scratch);
		*scratch = mr_arena_new();
	}
	return mr_stmt_step(stmt, row, &cx->err);
}

/* In the order of the table that leads, so that nothing is sorted in memory. */
static const char SQL_MESSAGES[] =
	"SELECT m.message_id, m.thread_id, m.in_reply_to, m.created_at_utc, m.canonical_path,"
	" m.subject, m.sender_address, m.sender_principal_id, m.sender_registration_id"
	" FROM export_message e CROSS JOIN messages m ON m.message_id = e.message_id"
	" ORDER BY e.message_id";

enum mr_code mr_mailbox_export_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_export_each_message *each, void *arg)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = NULL;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, SQL_MESSAGES, &stmt, &cx->err);

	for (size_t i = 0; !rc && !(rc = next(cx, stmt, i, &scratch, &row)) && row; i++) {
		struct mr_mailbox_export_message it;

		mr_stmt_into(stmt, 0, scratch,
			MR_INTO(&it.message_id, &it.thread_id, &it.in_reply_to, &it.created_at,
				&it.canonical_path, &it.subject, &it.sender_address,
				&it.sender_principal_id, &it.sender_registration_id));
		rc = each(arg, scratch, &it);
	}
	return rc;
}

static const char SQL_PROJECTIONS[] =
	"SELECT r.ordinal, p.message_id, p.folder_name, p.projection_path, m.canonical_path"
	" FROM export_registration r"
	" CROSS JOIN mailbox_projections p ON p.registration_id = r.registration_id"
	" CROSS JOIN messages m ON m.message_id = p.message_id"
	" ORDER BY r.ordinal, p.message_id, p.folder_name";

enum mr_code mr_mailbox_export_sql_projections(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_export_each_projection *each, void *arg)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = NULL;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, SQL_PROJECTIONS, &stmt, &cx->err);

	for (size_t i = 0; !rc && !(rc = next(cx, stmt, i, &scratch, &row)) && row; i++) {
		struct mr_mailbox_export_projection it;

		mr_stmt_into(stmt, 0, scratch,
			MR_INTO(&it.row, &it.message_id, &it.folder, &it.path, &it.canonical_path));
		rc = each(arg, scratch, &it);
	}
	return rc;
}

static const char SQL_ATTACHMENTS[] =
	"SELECT l.message_id, a.attachment_id, a.kind, a.locator, a.media_type, a.sha256,"
	" COALESCE(a.size_bytes, -1), a.label, l.ordinal FROM message_attachments l"
	" JOIN attachments a ON a.attachment_id = l.attachment_id"
	" WHERE l.message_id IN (SELECT message_id FROM export_message)"
	" ORDER BY l.message_id, l.ordinal, a.attachment_id";

enum mr_code mr_mailbox_export_sql_attachments(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_export_each_attachment *each, void *arg)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = NULL;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, SQL_ATTACHMENTS, &stmt, &cx->err);

	for (size_t i = 0; !rc && !(rc = next(cx, stmt, i, &scratch, &row)) && row; i++) {
		struct mr_mailbox_export_attachment it;

		mr_stmt_into(stmt, 0, scratch,
			MR_INTO(&it.message_id, &it.attachment_id, &it.kind, &it.locator,
				&it.media_type, &it.sha256, &it.size_bytes, &it.label,
				&it.ordinal));
		rc = each(arg, scratch, &it);
	}
	return rc;
}
