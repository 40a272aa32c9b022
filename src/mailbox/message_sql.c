/* mailbox/message_sql.c */
#include "mailbox/message_sql.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "text/json.h"

#include <string.h>

static const char SQL_HAS[] = "SELECT 1 FROM messages WHERE message_id = ?1";

enum mr_code mr_mailbox_index_has(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_HAS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, message_id);
	return mr_stmt_step(stmt, out, &cx->err);
}

#define MESSAGE_COLUMNS                                                                            \
	"m.message_id, m.thread_id, m.in_reply_to, m.created_at_utc, m.canonical_path, "           \
	"m.subject, m.headers_json, m.sender_principal_id, m.sender_address, "                     \
	"m.sender_display_name, m.sender_manifest_path_hint, m.sender_role, "                      \
	"m.sender_registration_id"
enum { MESSAGE_COLUMN_COUNT = 13 };

/* The columns above, in that order, from the first on. */
static void read_message(struct mr_stmt *stmt, struct mr_arena *arena,
	struct mr_mailbox_indexed *out)
{
	*out = (struct mr_mailbox_indexed){
		.message_id = mr_stmt_text(stmt, 0, arena),
		.thread_id = mr_stmt_text(stmt, 1, arena),
		.in_reply_to = mr_stmt_text(stmt, 2, arena),
		.created_at = mr_stmt_text(stmt, 3, arena),
		.canonical_path = mr_stmt_text(stmt, 4, arena),
		.subject = mr_stmt_text(stmt, 5, arena),
		.headers_json = mr_stmt_text(stmt, 6, arena),
		.sender = { .principal_id = mr_stmt_text(stmt, 7, arena),
			.address = mr_stmt_text(stmt, 8, arena),
			.display_name = mr_stmt_text(stmt, 9, arena),
			.manifest_path_hint = mr_stmt_text(stmt, 10, arena),
			.role = mr_stmt_text(stmt, 11, arena) },
		.sender_registration_id = mr_stmt_text(stmt, 12, arena),
	};
}

static const char SQL_GET[] =
	"SELECT " MESSAGE_COLUMNS ", m.body_markdown FROM messages m WHERE m.message_id = ?1";

enum mr_code mr_mailbox_index_get(struct mr_ctx *cx, struct mr_db *db, const char *message_id,
	const struct mr_mailbox_indexed **out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_indexed *found = NULL;
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
		read_message(stmt, cx->arena, found);
		found->document = mr_stmt_text(stmt, MESSAGE_COLUMN_COUNT, cx->arena);
	}
	*out = found;
	return MR_OK;
}

static const char SQL_INSERT_MESSAGE[] =
	"INSERT INTO messages(message_id, thread_id, in_reply_to, created_at_utc, canonical_path,"
	" subject, body_markdown, headers_json, sender_principal_id, sender_address,"
	" sender_display_name, sender_manifest_path_hint, sender_role, sender_registration_id)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

static enum mr_code insert_message(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_message *message, const struct mr_mailbox_delivered *delivered)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf headers MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;
	enum mr_code rc;

	mr_buf_init(&headers, MR_MAILBOX_HEAD_BYTES * 6);
	mr_json_init(&writer, &headers, MR_JSON_SPACED | MR_JSON_ASCII | MR_JSON_SORTED);
	mr_json_value(&writer, message->headers);
	rc = mr_buf_check(&headers, "headers", &cx->err);
	if (!rc)
		rc = mr_db_prepare(db, SQL_INSERT_MESSAGE, &stmt, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, message->message_id);
	mr_stmt_bind_text(stmt, 2, message->thread_id);
	mr_stmt_bind_text(stmt, 3, message->in_reply_to);
	mr_stmt_bind_text(stmt, 4, message->created_at_utc);
	mr_stmt_bind_text(stmt, 5, delivered->canonical_path);
	mr_stmt_bind_text(stmt, 6, message->subject);
	mr_stmt_bind_text(stmt, 7, delivered->document);
	mr_stmt_bind_text(stmt, 8, mr_buf_text(&headers));
	mr_stmt_bind_text(stmt, 9, message->sender.principal_id);
	mr_stmt_bind_text(stmt, 10, message->sender.address);
	mr_stmt_bind_text(stmt, 11, message->sender.display_name);
	mr_stmt_bind_text(stmt, 12, message->sender.manifest_path_hint);
	mr_stmt_bind_text(stmt, 13, message->sender.role);
	mr_stmt_bind_text(stmt, 14, delivered->sender_registration_id);
	return mr_stmt_run(stmt, &cx->err);
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT_RECIPIENT, &stmt, &cx->err);

	for (size_t i = 0; i < list->len && !rc; i++) {
		const struct mr_mailbox_principal *one = &list->items[i];

		mr_stmt_reset(stmt);
		mr_stmt_bind_text(stmt, 1, message_id);
		mr_stmt_bind_text(stmt, 2, kind);
		mr_stmt_bind_int(stmt, 3, (int64_t)(first + i));
		mr_stmt_bind_text(stmt, 4, one->address);
		mr_stmt_bind_text(stmt, 5, one->principal_id);
		mr_stmt_bind_text(stmt, 6, one->display_name);
		mr_stmt_bind_text(stmt, 7, one->manifest_path_hint);
		mr_stmt_bind_text(stmt, 8, one->role);
		mr_stmt_bind_text(stmt, 9, registration_ids ? registration_ids[first + i] : NULL);
		rc = mr_stmt_run(stmt, &cx->err);
	}
	return rc;
}

static const char *const kind_names[] = {
	[MR_MAILBOX_PATH_REF] = "path_ref",
	[MR_MAILBOX_MANAGED_COPY] = "managed_copy",
};

static const char SQL_ATTACHMENT[] = "SELECT kind, locator, media_type, sha256, size_bytes, label"
				     " FROM attachments WHERE attachment_id = ?1";

/* Is the attachment known, and with the same metadata? */
static enum mr_code find_attachment(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_attachment *one, bool *known)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ATTACHMENT, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, one->attachment_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	*known = row;
	if (!row)
		return MR_OK;
	if (mr_str_eq(mr_stmt_text(stmt, 0, cx->arena), kind_names[one->kind]) &&
		mr_str_eq(mr_stmt_text(stmt, 1, cx->arena), one->path) &&
		mr_str_eq(mr_stmt_text(stmt, 2, cx->arena), one->media_type) &&
		mr_str_eq(mr_stmt_text(stmt, 3, cx->arena), one->sha256) &&
		(mr_stmt_is_null(stmt, 4) ? -1 : mr_stmt_int(stmt, 4)) == one->size_bytes &&
		mr_str_eq(mr_stmt_text(stmt, 5, cx->arena), one->label))
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT_ATTACHMENT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, one->attachment_id);
	mr_stmt_bind_text(stmt, 2, kind_names[one->kind]);
	mr_stmt_bind_text(stmt, 3, one->path);
	mr_stmt_bind_text(stmt, 4, one->media_type);
	mr_stmt_bind_text(stmt, 5, one->sha256);
	if (one->size_bytes >= 0)
		mr_stmt_bind_int(stmt, 6, one->size_bytes);
	mr_stmt_bind_text(stmt, 7, one->label);
	return mr_stmt_run(stmt, &cx->err);
}

/* An attachment that stands twice in a message is linked once. */
static const char SQL_LINK_ATTACHMENT[] =
	"INSERT INTO message_attachments(message_id, attachment_id, ordinal) VALUES(?1, ?2, ?3)"
	" ON CONFLICT(message_id, attachment_id) DO NOTHING";

static enum mr_code insert_attachments(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_message *message)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_LINK_ATTACHMENT, &stmt, &cx->err);

	for (size_t i = 0; i < message->attachments.len && !rc; i++) {
		const struct mr_mailbox_attachment *one = &message->attachments.items[i];
		bool known = false;

		rc = find_attachment(cx, db, one, &known);
		if (!rc && !known)
			rc = insert_attachment(cx, db, one);
		if (rc)
			return rc;
		mr_stmt_reset(stmt);
		mr_stmt_bind_text(stmt, 1, message->message_id);
		mr_stmt_bind_text(stmt, 2, one->attachment_id);
		mr_stmt_bind_int(stmt, 3, (int64_t)i);
		rc = mr_stmt_run(stmt, &cx->err);
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

/* A statement that changes something and has one or two texts to bind. */
static enum mr_code change(struct mr_ctx *cx, struct mr_db *db, const char *sql, const char *first,
	const char *second)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, first);
	if (second)
		mr_stmt_bind_text(stmt, 2, second);
	return mr_stmt_run(stmt, &cx->err);
}

enum mr_code mr_mailbox_index_delete(struct mr_ctx *cx, struct mr_db *db, const char *message_id)
{
	enum mr_code rc = change(cx, db, SQL_DELETE_ATTACHMENTS, message_id, NULL);

	return rc ? rc : change(cx, db, SQL_DELETE_MESSAGE, message_id, NULL);
}

/* Room for one more item of `size` bytes after the `len` there are; doubles in the arena. */
static void *grown(struct mr_arena *arena, void *items, size_t len, size_t size)
{
	void *more;

	if (len != 0 && (len < 16 || (len & (len - 1)) != 0))
		return items;
	more = mr_arena_array(arena, len < 16 ? 16 : len * 2, size);
	if (len)
		memcpy(more, items, len * size);
	return more;
}

static const char SQL_RECIPIENTS[] =
	"SELECT recipient_kind, ordinal, owner_principal_id, address, display_name,"
	" manifest_path_hint, role, delivered_registration_id FROM message_recipients"
	" WHERE message_id = ?1 ORDER BY ordinal, recipient_kind DESC";

enum mr_code mr_mailbox_index_recipients(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_recipients *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_recipients list = { NULL, 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_RECIPIENTS, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, message_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		list.items = grown(cx->arena, list.items, list.len, sizeof(*list.items));
		list.items[list.len++] = (struct mr_mailbox_recipient){
			.kind = mr_stmt_text(stmt, 0, cx->arena),
			.ordinal = mr_stmt_int(stmt, 1),
			.principal = { .principal_id = mr_stmt_text(stmt, 2, cx->arena),
				.address = mr_stmt_text(stmt, 3, cx->arena),
				.display_name = mr_stmt_text(stmt, 4, cx->arena),
				.manifest_path_hint = mr_stmt_text(stmt, 5, cx->arena),
				.role = mr_stmt_text(stmt, 6, cx->arena) },
			.registration_id = mr_stmt_text(stmt, 7, cx->arena),
		};
	}
	if (!rc)
		*out = list;
	return rc;
}

static const char SQL_ATTACHMENTS[] =
	"SELECT a.attachment_id, a.kind, a.locator, a.media_type, a.sha256, a.size_bytes, a.label"
	" FROM message_attachments m JOIN attachments a ON a.attachment_id = m.attachment_id"
	" WHERE m.message_id = ?1 ORDER BY m.ordinal";

enum mr_code mr_mailbox_index_attachments(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_attachments *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_attachments list = { NULL, 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_ATTACHMENTS, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, message_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		const char *kind = mr_stmt_text(stmt, 1, cx->arena);

		list.items = grown(cx->arena, list.items, list.len, sizeof(*list.items));
		list.items[list.len++] = (struct mr_mailbox_attachment){
			.attachment_id = mr_stmt_text(stmt, 0, cx->arena),
			.kind = mr_str_eq(kind, kind_names[MR_MAILBOX_MANAGED_COPY])
				? MR_MAILBOX_MANAGED_COPY
				: MR_MAILBOX_PATH_REF,
			.path = mr_stmt_text(stmt, 2, cx->arena),
			.media_type = mr_stmt_text(stmt, 3, cx->arena),
			.sha256 = mr_stmt_text(stmt, 4, cx->arena),
			.size_bytes = mr_stmt_is_null(stmt, 5) ? -1 : mr_stmt_int(stmt, 5),
			.label = mr_stmt_text(stmt, 6, cx->arena),
		};
	}
	if (!rc)
		*out = list;
	return rc;
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
	PROJECTION_COLUMNS "WHERE message_id = ?2 ORDER BY registration_id, folder_name";
static const char SQL_PROJECTIONS_OF_BOTH[] =
	PROJECTION_COLUMNS "WHERE registration_id = ?1 AND message_id = ?2 ORDER BY folder_name";

enum mr_code mr_mailbox_index_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, const char *message_id, struct mr_mailbox_projections *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_projections list = { NULL, 0 };
	const char *sql = registration_id
		? message_id ? SQL_PROJECTIONS_OF_BOTH : SQL_PROJECTIONS_OF_REGISTRATION
		: message_id ? SQL_PROJECTIONS_OF_MESSAGE
			     : SQL_PROJECTIONS;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	if (registration_id)
		mr_stmt_bind_text(stmt, 1, registration_id);
	if (message_id)
		mr_stmt_bind_text(stmt, 2, message_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		list.items = grown(cx->arena, list.items, list.len, sizeof(*list.items));
		list.items[list.len++] = (struct mr_mailbox_projection){
			.registration_id = mr_stmt_text(stmt, 0, cx->arena),
			.message_id = mr_stmt_text(stmt, 1, cx->arena),
			.folder = mr_stmt_text(stmt, 2, cx->arena),
			.path = mr_stmt_text(stmt, 3, cx->arena),
		};
	}
	if (!rc)
		*out = list;
	return rc;
}

static const char SQL_ADD_PROJECTION[] =
	"INSERT INTO mailbox_projections(registration_id, message_id, folder_name,"
	" projection_path) VALUES(?1, ?2, ?3, ?4)"
	" ON CONFLICT(registration_id, message_id, folder_name)"
	" DO UPDATE SET projection_path = excluded.projection_path";

enum mr_code mr_mailbox_index_add_projection(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_projection *projection)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ADD_PROJECTION, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, projection->registration_id);
	mr_stmt_bind_text(stmt, 2, projection->message_id);
	mr_stmt_bind_text(stmt, 3, projection->folder);
	mr_stmt_bind_text(stmt, 4, projection->path);
	return mr_stmt_run(stmt, &cx->err);
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
		return change(cx, db, SQL_DROP_PROJECTIONS, registration_id, message_id);
	if (registration_id)
		return change(cx, db, SQL_DROP_OF_REGISTRATION, registration_id, NULL);
	if (message_id)
		return change(cx, db, SQL_DROP_OF_MESSAGE, message_id, NULL);
	return mr_err_set(&cx->err, MR_EINTERNAL, "drop the projections of what?");
}

#define LISTED_COLUMNS "SELECT " MESSAGE_COLUMNS ", p.folder_name, p.projection_path "

/* The newest of all, down to where enough are ours: an index has them in this order. */
static const char SQL_WALK[] = "SELECT m.message_id, m.rowid FROM messages m"
			       " ORDER BY m.created_at_utc DESC, m.rowid DESC LIMIT ?1";
static const char SQL_LISTED_ONE[] =
	LISTED_COLUMNS "FROM mailbox_projections p JOIN messages m ON m.rowid = ?3"
		       " WHERE p.registration_id = ?1 AND p.message_id = ?2 ORDER BY p.folder_name";
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

static enum mr_code read_listed(struct mr_ctx *cx, struct mr_stmt *stmt, int64_t limit,
	struct mr_mailbox_listing *list)
{
	bool row = false;
	enum mr_code rc = MR_OK;

	while ((limit <= 0 || (int64_t)list->len < limit) &&
		!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		struct mr_mailbox_listed *one;

		list->items = grown(cx->arena, list->items, list->len, sizeof(*list->items));
		one = &list->items[list->len++];
		read_message(stmt, cx->arena, &one->message);
		one->folder = mr_stmt_text(stmt, MESSAGE_COLUMN_COUNT, cx->arena);
		one->projection_path = mr_stmt_text(stmt, MESSAGE_COLUMN_COUNT + 1, cx->arena);
	}
	return rc;
}

/*
 * Look at the newest messages one by one. `*done` when `limit` rows were found, or every message
 * was looked at; otherwise this account gets little of much mail, and sorting its own is cheaper.
 */
static enum mr_code list_by_walking(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, int64_t limit, struct mr_mailbox_listing *list, bool *done)
{
	struct mr_stmt *walk MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *one MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t most = limit > WALK_MAX / WALK_PER_ROW ? WALK_MAX : limit * WALK_PER_ROW;
	int64_t walked = 0;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, SQL_WALK, &walk, &cx->err);

	if (!rc)
		rc = mr_db_prepare(db, SQL_LISTED_ONE, &one, &cx->err);
	if (rc)
		return rc;
	if (most < WALK_MIN)
		most = WALK_MIN;
	mr_stmt_bind_int(walk, 1, most);
	while ((int64_t)list->len < limit && !(rc = mr_stmt_step(walk, &row, &cx->err)) && row) {
		mr_stmt_reset(one);
		mr_stmt_bind_text(one, 1, registration_id);
		mr_stmt_bind_text(one, 2, mr_stmt_text(walk, 0, cx->arena));
		mr_stmt_bind_int(one, 3, mr_stmt_int(walk, 1));
		rc = read_listed(cx, one, limit, list);
		if (rc)
			return rc;
		walked++;
	}
	*done = (int64_t)list->len == limit || walked < most;
	return rc;
}

enum mr_code mr_mailbox_index_list(struct mr_ctx *cx, struct mr_db *db, const char *registration_id,
	int64_t limit, struct mr_mailbox_listing *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_listing list = { NULL, 0 };
	bool done = false;
	enum mr_code rc = MR_OK;

	if (limit > 0)
		rc = list_by_walking(cx, db, registration_id, limit, &list, &done);
	if (!rc && !done) {
		list = (struct mr_mailbox_listing){ NULL, 0 };
		rc = mr_db_prepare(db, SQL_LIST, &stmt, &cx->err);
		if (rc)
			return rc;
		mr_stmt_bind_text(stmt, 1, registration_id);
		mr_stmt_bind_int(stmt, 2, limit > 0 ? limit : -1);
		rc = read_listed(cx, stmt, limit, &list);
	}
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
		return change(cx, db, SQL_DROP_THREAD, thread_id, NULL);
	rc = mr_db_prepare(db, SQL_PUT_THREAD, &put, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_text(put, 1, thread_id);
	mr_stmt_bind_text(put, 2,
		mr_mailbox_normal_subject(cx->arena, mr_stmt_text(latest, 2, cx->arena)));
	mr_stmt_bind_text(put, 3, mr_stmt_text(latest, 0, cx->arena));
	mr_stmt_bind_text(put, 4, mr_stmt_text(latest, 1, cx->arena));
	return mr_stmt_run(put, &cx->err);
}
