/* mailbox/index_schema_sql.c - the tables and indexes of index.sqlite. */
#include "mailbox/index_sql.h"

#include "data/rows.h"

/*
 * The tables are the contract's, to the letter; the names that begin with mailroom_ are indexes of
 * our own, which others tolerate: for the newest of many, for a thread's latest message, and for
 * what hangs on a message or an attachment that is deleted.
 */
static const char SQL_TABLES[] =
	"CREATE TABLE IF NOT EXISTS mailbox_registrations("
	"registration_id TEXT PRIMARY KEY, address TEXT NOT NULL,"
	"owner_principal_id TEXT NOT NULL,"
	"status TEXT NOT NULL CHECK(status IN ('active', 'inactive', 'stashed')),"
	"mailbox_kind TEXT NOT NULL CHECK(mailbox_kind IN ('in_root', 'symlink')),"
	"mailbox_path TEXT NOT NULL, mailbox_entry_path TEXT NOT NULL,"
	"display_name TEXT, manifest_path_hint TEXT, role TEXT,"
	"created_at_utc TEXT NOT NULL, deactivated_at_utc TEXT, replaced_by_registration_id TEXT,"
	"FOREIGN KEY(replaced_by_registration_id)"
	" REFERENCES mailbox_registrations(registration_id) ON DELETE SET NULL);"

	"CREATE TABLE IF NOT EXISTS messages("
	"message_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, in_reply_to TEXT,"
	"created_at_utc TEXT NOT NULL, canonical_path TEXT NOT NULL, subject TEXT NOT NULL,"
	"body_markdown TEXT NOT NULL, headers_json TEXT NOT NULL DEFAULT '{}',"
	"sender_principal_id TEXT NOT NULL, sender_address TEXT NOT NULL,"
	"sender_display_name TEXT, sender_manifest_path_hint TEXT, sender_role TEXT,"
	"sender_registration_id TEXT);"

	"CREATE TABLE IF NOT EXISTS message_recipients("
	"message_id TEXT NOT NULL, recipient_kind TEXT NOT NULL, ordinal INTEGER NOT NULL,"
	"address TEXT NOT NULL, owner_principal_id TEXT NOT NULL,"
	"display_name TEXT, manifest_path_hint TEXT, role TEXT, delivered_registration_id TEXT,"
	"PRIMARY KEY(message_id, recipient_kind, ordinal),"
	"FOREIGN KEY(message_id) REFERENCES messages(message_id) ON DELETE CASCADE);"

	"CREATE TABLE IF NOT EXISTS attachments("
	"attachment_id TEXT PRIMARY KEY, kind TEXT NOT NULL, locator TEXT NOT NULL,"
	"media_type TEXT NOT NULL, sha256 TEXT, size_bytes INTEGER, label TEXT);"

	"CREATE TABLE IF NOT EXISTS message_attachments("
	"message_id TEXT NOT NULL, attachment_id TEXT NOT NULL, ordinal INTEGER NOT NULL,"
	"PRIMARY KEY(message_id, attachment_id),"
	"FOREIGN KEY(message_id) REFERENCES messages(message_id) ON DELETE CASCADE,"
	"FOREIGN KEY(attachment_id) REFERENCES attachments(attachment_id) ON DELETE CASCADE);"

	"CREATE TABLE IF NOT EXISTS mailbox_projections("
	"registration_id TEXT NOT NULL, message_id TEXT NOT NULL, folder_name TEXT NOT NULL,"
	"projection_path TEXT NOT NULL,"
	"PRIMARY KEY(registration_id, message_id, folder_name),"
	"FOREIGN KEY(registration_id)"
	" REFERENCES mailbox_registrations(registration_id) ON DELETE CASCADE,"
	"FOREIGN KEY(message_id) REFERENCES messages(message_id) ON DELETE CASCADE);"

	"CREATE TABLE IF NOT EXISTS mailbox_state("
	"registration_id TEXT NOT NULL, message_id TEXT NOT NULL,"
	"is_read INTEGER NOT NULL DEFAULT 0, is_answered INTEGER NOT NULL DEFAULT 0,"
	"is_starred INTEGER NOT NULL DEFAULT 0, is_archived INTEGER NOT NULL DEFAULT 0,"
	"is_deleted INTEGER NOT NULL DEFAULT 0, box_name TEXT NOT NULL DEFAULT 'inbox',"
	"PRIMARY KEY(registration_id, message_id),"
	"FOREIGN KEY(registration_id)"
	" REFERENCES mailbox_registrations(registration_id) ON DELETE CASCADE,"
	"FOREIGN KEY(message_id) REFERENCES messages(message_id) ON DELETE CASCADE);"

	"CREATE TABLE IF NOT EXISTS thread_summaries("
	"thread_id TEXT PRIMARY KEY, normalized_subject TEXT NOT NULL, latest_message_id TEXT,"
	"latest_message_created_at_utc TEXT, unread_count INTEGER NOT NULL DEFAULT 0);";

static const char SQL_INDEXES[] =
	"CREATE UNIQUE INDEX IF NOT EXISTS idx_mailbox_registrations_active_address"
	" ON mailbox_registrations(address) WHERE status = 'active';"
	"CREATE INDEX IF NOT EXISTS idx_mailbox_registrations_owner_principal"
	" ON mailbox_registrations(owner_principal_id);"
	"CREATE INDEX IF NOT EXISTS idx_messages_thread_id ON messages(thread_id);"
	"CREATE INDEX IF NOT EXISTS idx_recipients_address ON message_recipients(address);"
	"CREATE INDEX IF NOT EXISTS idx_state_registration_id ON mailbox_state(registration_id);"
	"CREATE INDEX IF NOT EXISTS mailroom_messages_newest ON messages(created_at_utc);"
	"CREATE INDEX IF NOT EXISTS mailroom_messages_latest"
	" ON messages(thread_id, created_at_utc, message_id);"
	"CREATE INDEX IF NOT EXISTS mailroom_projections_message"
	" ON mailbox_projections(message_id);"
	"CREATE INDEX IF NOT EXISTS mailroom_attachments_message"
	" ON message_attachments(attachment_id);";

static const char SQL_SCHEMA_COUNT[] =
	"SELECT count(*) FROM sqlite_master WHERE (type = 'table' AND name IN ("
	"'mailbox_registrations', 'messages', 'message_recipients', 'attachments',"
	"'message_attachments', 'mailbox_projections', 'mailbox_state', 'thread_summaries'))"
	" OR (type = 'index' AND name IN ("
	"'idx_mailbox_registrations_active_address',"
	"'idx_mailbox_registrations_owner_principal', 'idx_messages_thread_id',"
	"'idx_recipients_address', 'idx_state_registration_id', 'mailroom_messages_newest',"
	"'mailroom_messages_latest', 'mailroom_projections_message',"
	"'mailroom_attachments_message'))";

enum { SCHEMA_ITEMS = 17 };

enum mr_code mr_mailbox_index_schema(struct mr_ctx *cx, struct mr_db *db)
{
	bool begun = !mr_db_in_transaction(db);
	int64_t items = 0;
	enum mr_code rc = mr_rows_one(cx, db, SQL_SCHEMA_COUNT, NULL, MR_INTO(&items), NULL);

	if (rc || items == SCHEMA_ITEMS)
		return rc;
	/* All at once: one commit instead of seventeen. */
	if (begun)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_db_exec(db, SQL_TABLES, &cx->err);
	if (!rc)
		rc = mr_db_exec(db, SQL_INDEXES, &cx->err);
	if (!rc && begun)
		rc = mr_db_commit(db, &cx->err);
	if (rc && begun)
		mr_db_rollback(db);
	return rc;
}
