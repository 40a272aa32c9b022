/*
 * mailbox/repair_sql.c - Queries on index.sqlite and mailbox.sqlite that only check and repair
 * use.
 */
#include "mailbox/repair_sql.h"

#include "data/rows.h"

enum { ROWS_PER_ARENA = 256 };

static const char *const PROBES[] = {
	"SELECT registration_id, address, owner_principal_id, status, mailbox_kind, mailbox_path,"
	" mailbox_entry_path, display_name, manifest_path_hint, role, created_at_utc,"
	" deactivated_at_utc, replaced_by_registration_id FROM mailbox_registrations LIMIT 1",
	"SELECT message_id, thread_id, in_reply_to, created_at_utc, canonical_path, subject,"
	" body_markdown, headers_json, sender_principal_id, sender_address, sender_display_name,"
	" sender_manifest_path_hint, sender_role, sender_registration_id FROM messages LIMIT 1",
	"SELECT message_id, recipient_kind, ordinal, address, owner_principal_id, display_name,"
	" manifest_path_hint, role, delivered_registration_id FROM message_recipients LIMIT 1",
	"SELECT attachment_id, kind, locator, media_type, sha256, size_bytes, label"
	" FROM attachments LIMIT 1",
	"SELECT message_id, attachment_id, ordinal FROM message_attachments LIMIT 1",
	"SELECT registration_id, message_id, folder_name, projection_path"
	" FROM mailbox_projections LIMIT 1",
	"SELECT thread_id, normalized_subject, latest_message_id, latest_message_created_at_utc,"
	" unread_count FROM thread_summaries LIMIT 1",
};

enum mr_code mr_mailbox_repair_sql_probe(struct mr_ctx *cx, struct mr_db *db)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < MR_LEN(PROBES) && !rc; i++)
		rc = mr_db_run(db, PROBES[i], &cx->err);
	return rc;
}

/* 16 MiB: the inner pages of all indexes of some million messages. Four times as much saves a
 * hundred thousand of them one read in twenty. */
static const char SQL_CACHE[] = "PRAGMA cache_size = -16384";

enum mr_code mr_mailbox_repair_sql_cache(struct mr_ctx *cx, struct mr_db *db)
{
	return mr_db_exec(db, SQL_CACHE, &cx->err);
}

/* The texts of a query with `?1` and, as ?2, how many. A key that is NULL is nobody's, and is not
 * greater than any ?1. */
static enum mr_code read_texts(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const char *after, int64_t limit, struct mr_texts *out)
{
	return mr_rows_list(cx, db, sql, MR_BIND(after, limit), mr_row_text, MR_LIST(out));
}

static const char SQL_IDS[] =
	"SELECT message_id FROM messages WHERE message_id > ?1 ORDER BY message_id LIMIT ?2";

enum mr_code mr_mailbox_repair_sql_ids(struct mr_ctx *cx, struct mr_db *db, const char *after,
	int64_t limit, struct mr_texts *out)
{
	return read_texts(cx, db, SQL_IDS, after, limit, out);
}

static const char SQL_ARRIVAL[] = "SELECT rowid FROM messages WHERE message_id = ?1";

enum mr_code mr_mailbox_repair_sql_arrival(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, int64_t *out)
{
	bool found = false;
	enum mr_code rc =
		mr_rows_one(cx, db, SQL_ARRIVAL, MR_BIND(message_id), MR_INTO(out), &found);

	if (!rc && !found)
		*out = -1;
	return rc;
}

static const char SQL_HEAD[] =
	"SELECT thread_id, created_at_utc, subject FROM messages WHERE message_id = ?1";

enum mr_code mr_mailbox_repair_sql_head(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	struct mr_mailbox_head *out, bool *out_found)
{
	return mr_rows_one(cx, db, SQL_HEAD, MR_BIND(message_id),
		MR_INTO(&out->thread_id, &out->created_at, &out->subject), out_found);
}

/* A walk over many rows keeps no more than a few of them in memory. */
static void renew(struct mr_arena **arena, size_t *rows)
{
	if (*arena && (*rows)++ % ROWS_PER_ARENA != 0)
		return;
	mr_arena_free(*arena);
	*arena = mr_arena_new();
}

static const char SQL_PROJECTIONS[] = "SELECT message_id, folder_name, projection_path"
				      " FROM mailbox_projections WHERE registration_id = ?1";

enum mr_code mr_mailbox_repair_sql_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, mr_mailbox_on_projection *visit, void *arg)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	size_t rows = 0;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_PROJECTIONS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind(stmt, 1, MR_BIND(registration_id));
	while (!rc && !(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		struct mr_mailbox_projection one = { .registration_id = registration_id };

		renew(&arena, &rows);
		mr_stmt_into(stmt, 0, arena, MR_INTO(&one.message_id, &one.folder, &one.path));
		if (one.message_id && one.folder && one.path)
			rc = visit(arg, &one);
	}
	return rc;
}

static const char SQL_STATES[] = "SELECT " MR_MAILBOX_STATE_COLUMNS " FROM message_state";

enum mr_code mr_mailbox_repair_sql_states(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_on_state *visit, void *arg)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_arena *outer = cx->arena;
	size_t rows = 0;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_STATES, &stmt, &cx->err);

	while (!rc && !(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		struct mr_mailbox_state one;

		renew(&arena, &rows);
		cx->arena = arena;
		rc = mr_mailbox_state_read(cx, stmt, &one);
		cx->arena = outer;
		if (!rc && one.message_id && one.box)
			rc = visit(arg, &one);
	}
	return rc;
}

static const char SQL_PUT_HEAD[] = "UPDATE message_state SET thread_id = ?2, created_at_utc = ?3,"
				   " subject = ?4 WHERE message_id = ?1";

enum mr_code mr_mailbox_repair_sql_put_head(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, const struct mr_mailbox_head *head)
{
	return mr_rows_run(cx, db, SQL_PUT_HEAD,
		MR_BIND(message_id, head->thread_id, head->created_at, head->subject));
}

/* By table and by whether messages or summaries are asked for. */
static const char SQL_SHARED_THREADS[] =
	"SELECT DISTINCT thread_id FROM messages WHERE thread_id > ?1"
	" ORDER BY thread_id LIMIT ?2";
static const char SQL_LOCAL_THREADS[] =
	"SELECT DISTINCT thread_id FROM message_state WHERE thread_id > ?1"
	" ORDER BY thread_id LIMIT ?2";
static const char SQL_SUMMARIES[] = "SELECT thread_id FROM thread_summaries WHERE thread_id > ?1"
				    " ORDER BY thread_id LIMIT ?2";

enum mr_code mr_mailbox_repair_sql_threads(struct mr_ctx *cx, struct mr_db *db,
	enum mr_mailbox_threads_of what, bool summaries, const char *after, int64_t limit,
	struct mr_texts *out)
{
	const char *sql = summaries                ? SQL_SUMMARIES
		: what == MR_MAILBOX_THREADS_LOCAL ? SQL_LOCAL_THREADS
						   : SQL_SHARED_THREADS;

	return read_texts(cx, db, sql, after, limit, out);
}

static const char SQL_SHARED_HAS[] = "SELECT 1 FROM messages WHERE thread_id = ?1 LIMIT 1";
static const char SQL_LOCAL_HAS[] = "SELECT 1 FROM message_state WHERE thread_id = ?1 LIMIT 1";

enum mr_code mr_mailbox_repair_sql_has_thread(struct mr_ctx *cx, struct mr_db *db,
	enum mr_mailbox_threads_of what, const char *thread_id, bool *out)
{
	const char *sql = what == MR_MAILBOX_THREADS_LOCAL ? SQL_LOCAL_HAS : SQL_SHARED_HAS;

	return mr_rows_exist(cx, db, sql, MR_BIND(thread_id), out);
}

static const char SQL_THREAD_SIZE[] = "SELECT count(*) FROM message_state WHERE thread_id = ?1";

enum mr_code mr_mailbox_repair_sql_thread_size(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_THREAD_SIZE, MR_BIND(thread_id), MR_INTO(out), NULL);
}

static const char SQL_SHARED_WANTED[] =
	"SELECT message_id, created_at_utc, subject, 0 FROM messages WHERE thread_id = ?1"
	" ORDER BY created_at_utc DESC, message_id DESC LIMIT 1";
static const char SQL_LOCAL_WANTED[] =
	"SELECT message_id, created_at_utc, subject, (SELECT count(*) FROM message_state"
	" WHERE thread_id = ?1 AND is_read = 0) FROM message_state WHERE thread_id = ?1"
	" ORDER BY created_at_utc DESC, message_id DESC LIMIT 1";

enum mr_code mr_mailbox_repair_sql_wanted(struct mr_ctx *cx, struct mr_db *db,
	enum mr_mailbox_threads_of what, const char *thread_id, struct mr_mailbox_summary *out,
	bool *out_found)
{
	const char *sql = what == MR_MAILBOX_THREADS_LOCAL ? SQL_LOCAL_WANTED : SQL_SHARED_WANTED;
	const char *subject;
	enum mr_code rc = mr_rows_one(cx, db, sql, MR_BIND(thread_id),
		MR_INTO(&out->latest_id, &out->latest_created_at, &subject, &out->unread),
		out_found);

	if (!rc && *out_found)
		out->normalized_subject = mr_mailbox_normal_subject(cx->arena, subject);
	return rc;
}

static const char SQL_SUMMARY[] =
	"SELECT normalized_subject, latest_message_id, latest_message_created_at_utc, unread_count"
	" FROM thread_summaries WHERE thread_id = ?1";

enum mr_code mr_mailbox_repair_sql_summary(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id, struct mr_mailbox_summary *out, bool *out_found)
{
	return mr_rows_one(cx, db, SQL_SUMMARY, MR_BIND(thread_id),
		MR_INTO(&out->normalized_subject, &out->latest_id, &out->latest_created_at,
			&out->unread),
		out_found);
}
