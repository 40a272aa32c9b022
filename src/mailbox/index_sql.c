/*
 * mailbox/index_sql.c - Inserts, reads and deletes messages, recipients, attachments, projections
 * and thread summaries in index.sqlite.
 */
#include "mailbox/index_sql.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/rows.h"
#include "mailbox/limits.h"
#include "text/json.h"

#include <string.h>

static const char SQL_HAS[] = "SELECT 1 FROM messages WHERE message_id = ?1";

enum mr_code mr_mailbox_index_has(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	bool *out)
{
	return mr_rows_exist(cx, db, SQL_HAS, MR_BIND(message_id), out);
}

#define MESSAGE_COLUMNS                                                                            \
	"m.message_id, m.thread_id, m.in_reply_to, m.created_at_utc, m.canonical_path, "           \
	"m.subject, m.headers_json, m.sender_principal_id, m.sender_address, "                     \
	"m.sender_display_name, m.sender_manifest_path_hint, m.sender_role, "                      \
	"m.sender_registration_id"
enum { MESSAGE_COLUMN_COUNT = 13 };

/* The columns above, in that order, from the first on. */
static enum mr_code read_message(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_indexed *it = to;
	struct mr_mailbox_principal *sender = &it->sender;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->message_id, &it->thread_id, &it->in_reply_to, &it->created_at,
			&it->canonical_path, &it->subject, &it->headers_json, &sender->principal_id,
			&sender->address, &sender->display_name, &sender->manifest_path_hint,
			&sender->role, &it->sender_registration_id));
	return MR_OK;
}

static enum mr_code read_whole(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_indexed *it = to;

	mr_stmt_into(row, MESSAGE_COLUMN_COUNT, cx->arena, MR_INTO(&it->document));
	return read_message(cx, row, it);
}

static const char SQL_GET[] =
	"SELECT " MESSAGE_COLUMNS ", m.body_markdown FROM messages m WHERE m.message_id = ?1";

enum mr_code mr_mailbox_index_get(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	const struct mr_mailbox_indexed **out)
{
	struct mr_mailbox_indexed *row = mr_arena_alloc(cx->arena, sizeof(*row));
	bool found = false;
	enum mr_code rc =
		mr_rows_first(cx, db, SQL_GET, MR_BIND(message_id), read_whole, row, &found);

	if (!rc)
		*out = found ? row : NULL;
	return rc;
}

/* Ids begin with their time, so that only the messages since then are looked at. */
static const char SQL_FIND_ONCE[] =
	"SELECT message_id FROM messages WHERE message_id >= ?1 AND substr(message_id, 22, 16) = ?2"
	" AND sender_address = ?3 ORDER BY message_id LIMIT 1";

enum mr_code mr_mailbox_index_find_once(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_once *once, const char **out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool found = false;
	enum mr_code rc = mr_db_prepare(db, SQL_FIND_ONCE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, once->since);
	mr_stmt_bind_text(stmt, 2, once->mark);
	mr_stmt_bind_text(stmt, 3, once->sender);
	rc = mr_stmt_step(stmt, &found, &cx->err);
	if (!rc)
		*out = found ? mr_stmt_text(stmt, 0, cx->arena) : NULL;
	return rc;
}

static const char SQL_INSERT_MESSAGE[] =
	"INSERT INTO messages(message_id, thread_id, in_reply_to, created_at_utc, canonical_path,"
	" subject, body_markdown, headers_json, sender_principal_id, sender_address,"
	" sender_display_name, sender_manifest_path_hint, sender_role, sender_registration_id)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

static enum mr_code insert_message(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_message *message, const struct mr_mailbox_delivered *delivered)
{
	struct mr_buf headers MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_mailbox_principal *sender = &message->sender;
	struct mr_json_writer writer;
	enum mr_code rc;

	mr_buf_init(&headers, MR_MAILBOX_HEAD_BYTES * 6);
	mr_json_init(&writer, &headers, MR_JSON_SPACED | MR_JSON_ASCII | MR_JSON_SORTED);
	mr_json_value(&writer, message->headers);
	rc = mr_buf_check(&headers, "headers", &cx->err);
	if (rc)
		return rc;
	return mr_rows_run(cx, db, SQL_INSERT_MESSAGE,
		MR_BIND(message->message_id, message->thread_id, message->in_reply_to,
			message->created_at_utc, delivered->canonical_path, message->subject,
			delivered->document, mr_buf_text(&headers), sender->principal_id,
			sender->address, sender->display_name, sender->manifest_path_hint,
			sender->role, delivered->sender_registration_id));
}

static const char SQL_INSERT_RECIPIENT[] =
	"INSERT INTO message_recipients(message_id, recipient_kind, ordinal, address,"
	" owner_principal_id, display_name, manifest_path_hint, role, delivered_registration_id)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/* All of to or all of cc; `first` counts through both. */
static enum mr_code insert_recipients(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	const char *kind, const struct mr_mailbox_principals *list, size_t first,
	const char *const *registration_ids)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < list->len && !rc; i++) {
		const struct mr_mailbox_principal *one = &list->items[i];

		rc = mr_rows_run(cx, db, SQL_INSERT_RECIPIENT,
			MR_BIND(message_id, kind, first + i, one->address, one->principal_id,
				one->display_name, one->manifest_path_hint, one->role,
				registration_ids ? registration_ids[first + i] : NULL));
	}
	return rc;
}

static const char *const kind_names[] = {
	[MR_MAILBOX_PATH_REF] = "path_ref",
	[MR_MAILBOX_MANAGED_COPY] = "managed_copy",
};

static const char SQL_ATTACHMENT[] =
	"SELECT kind, locator, media_type, sha256, COALESCE(size_bytes, -1), label"
	" FROM attachments WHERE attachment_id = ?1";

/* Is the attachment known, and with the same metadata? */
static enum mr_code find_attachment(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_attachment *one, bool *known)
{
	const char *kind, *path, *media_type, *sha256, *label;
	int64_t size_bytes;
	enum mr_code rc = mr_rows_one(cx, db, SQL_ATTACHMENT, MR_BIND(one->attachment_id),
		MR_INTO(&kind, &path, &media_type, &sha256, &size_bytes, &label), known);

	if (rc || !*known)
		return rc;
	if (mr_str_eq(kind, kind_names[one->kind]) && mr_str_eq(path, one->path) &&
		mr_str_eq(media_type, one->media_type) && mr_str_eq(sha256, one->sha256) &&
		size_bytes == one->size_bytes && mr_str_eq(label, one->label))
		return MR_OK;
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"attachment id `%s` is known with other metadata (kind, path, media type, digest, "
		"size or label); use an id of its own",
		one->attachment_id);
}

static const char SQL_INSERT_ATTACHMENT[] =
	"INSERT INTO attachments(attachment_id, kind, locator, media_type, sha256, size_bytes,"
	" label) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";

static enum mr_code insert_attachment(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_attachment *one)
{
	return mr_rows_run(cx, db, SQL_INSERT_ATTACHMENT,
		MR_BIND(one->attachment_id, kind_names[one->kind], one->path, one->media_type,
			one->sha256,
			one->size_bytes >= 0 ? mr_bind_int(one->size_bytes) : mr_bind_null(NULL),
			one->label));
}

/* An attachment that stands twice in a message is linked once. */
static const char SQL_LINK_ATTACHMENT[] =
	"INSERT INTO message_attachments(message_id, attachment_id, ordinal) VALUES(?1, ?2, ?3)"
	" ON CONFLICT(message_id, attachment_id) DO NOTHING";

static enum mr_code insert_attachments(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_message *message)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < message->attachments.len && !rc; i++) {
		const struct mr_mailbox_attachment *one = &message->attachments.items[i];
		bool known = false;

		rc = find_attachment(cx, db, one, &known);
		if (!rc && !known)
			rc = insert_attachment(cx, db, one);
		if (!rc)
			rc = mr_rows_run(cx, db, SQL_LINK_ATTACHMENT,
				MR_BIND(message->message_id, one->attachment_id, i));
	}
	return rc;
}

enum mr_code mr_mailbox_index_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_message *message, const struct mr_mailbox_delivered *delivered)
{
	enum mr_code rc = insert_message(cx, db, message, delivered);

	if (!rc)
		rc = insert_recipients(cx, db, message->message_id, "to", &message->to, 0,
			delivered->recipient_registration_ids);
	if (!rc)
		rc = insert_recipients(cx, db, message->message_id, "cc", &message->cc,
			message->to.len, delivered->recipient_registration_ids);
	return rc ? rc : insert_attachments(cx, db, message);
}

/* Foreign keys take the rest along, but attachments may belong to other messages as well. */
static const char SQL_DELETE_ATTACHMENTS[] =
	"DELETE FROM attachments WHERE attachment_id IN"
	" (SELECT a.attachment_id FROM message_attachments a WHERE a.message_id = ?1"
	" AND NOT EXISTS(SELECT 1 FROM message_attachments b"
	" WHERE b.attachment_id = a.attachment_id AND b.message_id <> ?1))";
static const char SQL_DELETE_MESSAGE[] = "DELETE FROM messages WHERE message_id = ?1";

enum mr_code mr_mailbox_index_delete(struct mr_ctx *cx, struct mr_db *db, const char *message_id)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_DELETE_ATTACHMENTS, MR_BIND(message_id));

	return rc ? rc : mr_rows_run(cx, db, SQL_DELETE_MESSAGE, MR_BIND(message_id));
}

static const char SQL_RECIPIENTS[] =
	"SELECT recipient_kind, ordinal, owner_principal_id, address, display_name,"
	" manifest_path_hint, role, delivered_registration_id FROM message_recipients"
	" WHERE message_id = ?1 ORDER BY ordinal, recipient_kind DESC";

static enum mr_code read_recipient(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_recipient *it = to;
	struct mr_mailbox_principal *principal = &it->principal;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->kind, &it->ordinal, &principal->principal_id, &principal->address,
			&principal->display_name, &principal->manifest_path_hint, &principal->role,
			&it->registration_id));
	return MR_OK;
}

enum mr_code mr_mailbox_index_recipients(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_recipients *out)
{
	return mr_rows_list(cx, db, SQL_RECIPIENTS, MR_BIND(message_id), read_recipient,
		MR_LIST(out));
}

static const char SQL_ATTACHMENTS[] =
	"SELECT a.attachment_id, a.kind, a.locator, a.media_type, a.sha256,"
	" COALESCE(a.size_bytes, -1), a.label FROM message_attachments m"
	" JOIN attachments a ON a.attachment_id = m.attachment_id"
	" WHERE m.message_id = ?1 ORDER BY m.ordinal";

static enum mr_code read_attachment(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_attachment *it = to;
	const char *kind;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->attachment_id, &kind, &it->path, &it->media_type, &it->sha256,
			&it->size_bytes, &it->label));
	it->kind = mr_str_eq(kind, kind_names[MR_MAILBOX_MANAGED_COPY]) ? MR_MAILBOX_MANAGED_COPY
									: MR_MAILBOX_PATH_REF;
	return MR_OK;
}

enum mr_code mr_mailbox_index_attachments(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_attachments *out)
{
	return mr_rows_list(cx, db, SQL_ATTACHMENTS, MR_BIND(message_id), read_attachment,
		MR_LIST(out));
}

#define PROJECTION_COLUMNS                                                                         \
	"SELECT registration_id, message_id, folder_name, projection_path"                         \
	" FROM mailbox_projections "

/* Four texts instead of one with OR, so that each finds its index. */
static const char SQL_PROJECTIONS[] =
	PROJECTION_COLUMNS "ORDER BY registration_id, message_id, folder_name";
static const char SQL_PROJECTIONS_OF_REGISTRATION[] =
	PROJECTION_COLUMNS "WHERE registration_id = ?1 ORDER BY message_id, folder_name";
static const char SQL_PROJECTIONS_OF_MESSAGE[] =
	PROJECTION_COLUMNS "WHERE message_id = ?1 ORDER BY registration_id, folder_name";
static const char SQL_PROJECTIONS_OF_BOTH[] =
	PROJECTION_COLUMNS "WHERE registration_id = ?1 AND message_id = ?2 ORDER BY folder_name";

static enum mr_code read_projection(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_projection *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->registration_id, &it->message_id, &it->folder, &it->path));
	return MR_OK;
}

enum mr_code mr_mailbox_index_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, const char *message_id, struct mr_mailbox_projections *out)
{
	const char *one = registration_id ? registration_id : message_id;
	const char *sql = registration_id && message_id ? SQL_PROJECTIONS_OF_BOTH
		: registration_id                       ? SQL_PROJECTIONS_OF_REGISTRATION
		: message_id                            ? SQL_PROJECTIONS_OF_MESSAGE
							: SQL_PROJECTIONS;
	const struct mr_bind *values = registration_id && message_id
		? MR_BIND(registration_id, message_id)
		: one ? MR_BIND(one)
		      : NULL;

	return mr_rows_list(cx, db, sql, values, read_projection, MR_LIST(out));
}

static const char SQL_ADD_PROJECTION[] =
	"INSERT INTO mailbox_projections(registration_id, message_id, folder_name,"
	" projection_path) VALUES(?1, ?2, ?3, ?4)"
	" ON CONFLICT(registration_id, message_id, folder_name)"
	" DO UPDATE SET projection_path = excluded.projection_path";

enum mr_code mr_mailbox_index_add_projection(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_projection *projection)
{
	return mr_rows_run(cx, db, SQL_ADD_PROJECTION,
		MR_BIND(projection->registration_id, projection->message_id, projection->folder,
			projection->path));
}

static const char SQL_DROP_PROJECTIONS[] =
	"DELETE FROM mailbox_projections WHERE registration_id = ?1 AND message_id = ?2";
static const char SQL_DROP_OF_REGISTRATION[] =
	"DELETE FROM mailbox_projections WHERE registration_id = ?1";
static const char SQL_DROP_OF_MESSAGE[] = "DELETE FROM mailbox_projections WHERE message_id = ?1";

enum mr_code mr_mailbox_index_drop_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, const char *message_id)
{
	if (registration_id && message_id)
		return mr_rows_run(cx, db, SQL_DROP_PROJECTIONS,
			MR_BIND(registration_id, message_id));
	if (registration_id)
		return mr_rows_run(cx, db, SQL_DROP_OF_REGISTRATION, MR_BIND(registration_id));
	if (message_id)
		return mr_rows_run(cx, db, SQL_DROP_OF_MESSAGE, MR_BIND(message_id));
	return mr_err_set(&cx->err, MR_EINTERNAL, "drop the projections of what?");
}

#define LISTED_COLUMNS "SELECT " MESSAGE_COLUMNS ", p.folder_name, p.projection_path "

/* The newest of all, down to where enough are ours: an index has them in this order. */
static const char SQL_WALK[] = "SELECT m.message_id, m.rowid FROM messages m"
			       " ORDER BY m.created_at_utc DESC, m.rowid DESC LIMIT ?1";
static const char SQL_LISTED_ONE[] =
	LISTED_COLUMNS "FROM mailbox_projections p JOIN messages m ON m.rowid = ?3"
		       " WHERE p.registration_id = ?1 AND p.message_id = ?2 ORDER BY p.folder_name"
		       " LIMIT ?4";
/* All that is ours, sorted. */
static const char SQL_LIST[] =
	LISTED_COLUMNS "FROM mailbox_projections p JOIN messages m ON m.message_id = p.message_id"
		       " WHERE p.registration_id = ?1"
		       " ORDER BY m.created_at_utc DESC, m.rowid DESC, p.folder_name LIMIT ?2";

enum {
	WALK_PER_ROW = 40, /* an account that is in every fortieth message is found by walking */
	WALK_MIN = 1000,
	WALK_MAX = 20000,
};

static enum mr_code read_listed(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_listed *it = to;

	mr_stmt_into(row, MESSAGE_COLUMN_COUNT, cx->arena,
		MR_INTO(&it->folder, &it->projection_path));
	return read_message(cx, row, &it->message);
}

/*
 * Look at the newest messages one by one. `*done` when `limit` rows were found, or every message
 * was looked at; otherwise this account gets little of much mail, and sorting its own is cheaper.
 */
static enum mr_code list_by_walking(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, int64_t limit, struct mr_mailbox_listing *list, bool *done)
{
	struct mr_stmt *walk MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t most = limit > WALK_MAX / WALK_PER_ROW ? WALK_MAX : limit * WALK_PER_ROW;
	int64_t walked = 0;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, SQL_WALK, &walk, &cx->err);

	if (rc)
		return rc;
	if (most < WALK_MIN)
		most = WALK_MIN;
	mr_stmt_bind(walk, 1, MR_BIND(most));
	while (!rc && (int64_t)list->len < limit && !(rc = mr_stmt_step(walk, &row, &cx->err)) &&
		row) {
		rc = mr_rows_append(cx, db, SQL_LISTED_ONE,
			MR_BIND(registration_id, mr_stmt_peek(walk, 0), mr_stmt_int(walk, 1),
				limit - (int64_t)list->len),
			read_listed, MR_LIST(list));
		walked++;
	}
	*done = (int64_t)list->len == limit || walked < most;
	return rc;
}

enum mr_code mr_mailbox_index_list(struct mr_ctx *cx, struct mr_db *db, const char *registration_id,
	int64_t limit, struct mr_mailbox_listing *out)
{
	struct mr_mailbox_listing list = { NULL, 0 };
	bool done = false;
	enum mr_code rc = MR_OK;

	if (limit > 0)
		rc = list_by_walking(cx, db, registration_id, limit, &list, &done);
	if (!rc && !done)
		rc = mr_rows_list(cx, db, SQL_LIST,
			MR_BIND(registration_id, limit > 0 ? limit : INT64_MAX), read_listed,
			MR_LIST(&list));
	if (!rc)
		*out = list;
	return rc;
}

static const char SQL_LATEST[] =
	"SELECT message_id, created_at_utc, subject FROM messages WHERE thread_id = ?1"
	" ORDER BY created_at_utc DESC, message_id DESC LIMIT 1";
static const char SQL_PUT_THREAD[] =
	"INSERT INTO thread_summaries(thread_id, normalized_subject, latest_message_id,"
	" latest_message_created_at_utc, unread_count) VALUES(?1, ?2, ?3, ?4, 0)"
	" ON CONFLICT(thread_id) DO UPDATE SET normalized_subject = excluded.normalized_subject,"
	" latest_message_id = excluded.latest_message_id,"
	" latest_message_created_at_utc = excluded.latest_message_created_at_utc,"
	" unread_count = 0";
static const char SQL_DROP_THREAD[] = "DELETE FROM thread_summaries WHERE thread_id = ?1";

const char *mr_mailbox_normal_subject(struct mr_arena *arena, const char *subject)
{
	size_t len = strlen(subject);

	mr_utf8_strip(&subject, &len);
	return mr_str_lower(arena, mr_arena_strndup(arena, subject, len));
}

enum mr_code mr_mailbox_index_thread(struct mr_ctx *cx, struct mr_db *db, const char *thread_id)
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
