/* team/message_sql.c */
#include "team/message_sql.h"

#include "team/error.h"
#include "team/limits.h"
#include "text/time.h"
#include "text/token.h"

#include <string.h>

/* Six digits are enough for most days; more only when they are not. */
enum { UID_DIGITS = 6, UID_DIGITS_MAX = 32, UID_DIGITS_STEP = 2 };

static const char SQL_INSERT[] =
	"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, thread_seq, reply_to,"
	" subject, body_md, importance, ack_required, created_ts, attachments, attachment_bytes,"
	" verified)"
	" VALUES (?1, ?2, ?3, ?4, ?5,"
	"  CASE WHEN ?5 IS NULL THEN 0 WHEN ?6 > 0 THEN ?6 ELSE 1 + COALESCE((SELECT"
	"   max(o.thread_seq) FROM messages o WHERE o.project_id = ?3 AND o.thread_id = ?5), 0) "
	"END,"
	"  ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
	" ON CONFLICT (uid) DO NOTHING RETURNING id, thread_seq";

static void bind_id(struct mr_stmt *stmt, int index, int64_t id)
{
	if (id)
		mr_stmt_bind_int(stmt, index, id);
	else
		mr_stmt_bind_null(stmt, index);
}

/* `*stored` is false when another message has the uid. */
static enum mr_code insert(struct mr_ctx *cx, struct mr_db *db, struct mr_team_message *row,
	int64_t attachment_bytes, bool *stored)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	bind_id(stmt, 1, row->id);
	mr_stmt_bind_text(stmt, 2, row->uid);
	mr_stmt_bind_int(stmt, 3, row->project_id);
	mr_stmt_bind_int(stmt, 4, row->sender_id);
	mr_stmt_bind_text(stmt, 5, row->thread_id);
	mr_stmt_bind_int(stmt, 6, row->thread_seq);
	bind_id(stmt, 7, row->reply_to);
	mr_stmt_bind_text(stmt, 8, row->subject);
	mr_stmt_bind_text(stmt, 9, row->body_md);
	mr_stmt_bind_text(stmt, 10, mr_team_importance_name(row->importance));
	mr_stmt_bind_int(stmt, 11, row->ack_required);
	mr_stmt_bind_int(stmt, 12, row->created_ts);
	mr_stmt_bind_text(stmt, 13, row->attachments);
	mr_stmt_bind_int(stmt, 14, attachment_bytes);
	mr_stmt_bind_int(stmt, 15, row->verified);
	rc = mr_stmt_step(stmt, stored, &cx->err);
	if (rc || !*stored)
		return rc;
	row->id = mr_stmt_int(stmt, 0);
	row->thread_seq = mr_stmt_int(stmt, 1);
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_LATEST[] = "SELECT created_ts FROM messages ORDER BY id DESC LIMIT 1";

/*
 * The time of the message that is stored next: now, but always after the message before, so that
 * whoever asks for what came since a message gets all of it, also when the clock was set back. Only
 * a message that is more than a day ahead is not followed: then the clock was wrong before, unless
 * it is one that has not been set yet.
 */
static enum mr_code next_time(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t now = mr_clock_wall_us(cx->clock), latest = 0;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_LATEST, &stmt, &cx->err);

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	if (row)
		latest = mr_stmt_int(stmt, 0);
	if (latest >= now &&
		(latest - now <= MR_TEAM_CLOCK_AHEAD_S * MR_TIME_S ||
			now < MR_TEAM_CLOCK_UNSET_S * MR_TIME_S))
		*out = latest + 1;
	else
		*out = now;
	return MR_OK;
}

enum mr_code mr_team_message_insert(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_message *message, int64_t attachment_bytes)
{
	struct mr_team_message row = *message;
	bool stored = false;
	enum mr_code rc = MR_OK;

	if (!row.created_ts)
		rc = next_time(cx, db, &row.created_ts);
	if (rc)
		return rc;
	if (!row.attachments)
		row.attachments = "[]";
	if (row.uid)
		rc = insert(cx, db, &row, attachment_bytes, &stored);
	for (size_t digits = UID_DIGITS;
		!rc && !stored && !message->uid && digits <= UID_DIGITS_MAX;
		digits += UID_DIGITS_STEP) {
		row.uid = mr_token_uid(cx->arena, cx->rand, row.created_ts, digits);
		rc = insert(cx, db, &row, attachment_bytes, &stored);
	}
	if (!rc && !stored)
		rc = mr_err_set(&cx->err, MR_EEXISTS, "there is a message %s already", row.uid);
	if (!rc)
		*message = row;
	return rc;
}

static const char SQL_RECIPIENT[] =
	"INSERT INTO message_recipients (message_id, agent_id, kind, urgent, ack_due, read_ts,"
	" ack_ts, place) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

enum mr_code mr_team_recipient_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_message *message, const struct mr_team_recipient *recipient,
	size_t place)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_RECIPIENT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message->id);
	mr_stmt_bind_int(stmt, 2, recipient->agent_id);
	mr_stmt_bind_text(stmt, 3, mr_team_kind_name(recipient->kind));
	mr_stmt_bind_int(stmt, 4, message->importance >= MR_TEAM_HIGH);
	mr_stmt_bind_int(stmt, 5, message->ack_required && recipient->kind == MR_TEAM_TO);
	bind_id(stmt, 6, recipient->read_ts);
	bind_id(stmt, 7, recipient->ack_ts);
	mr_stmt_bind_int(stmt, 8, (int64_t)place);
	return mr_stmt_run(stmt, &cx->err);
}

/* One number from a query whose parameters are numbers; `*found` may be NULL. */
static enum mr_code ask(struct mr_ctx *cx, struct mr_db *db, const char *sql, const int64_t *args,
	int count, bool *found, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);
	bool row = false;

	for (int i = 0; !rc && i < count; i++)
		mr_stmt_bind_int(stmt, i + 1, args[i]);
	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	*out = row ? mr_stmt_int(stmt, 0) : 0;
	if (found)
		*found = row;
	return MR_OK;
}

static const char SQL_EXISTS[] = "SELECT 1 FROM messages WHERE id = ?1";

enum mr_code mr_team_message_exists(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	bool *out)
{
	int64_t one;

	return ask(cx, db, SQL_EXISTS, &message_id, 1, out, &one);
}

static const char SQL_SEEN[] =
	"SELECT 1 FROM messages m WHERE m.id = ?1 AND " MR_TEAM_SEEN_BY("m", "?2");

enum mr_code mr_team_message_is_seen(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t message_id, bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_SEEN, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	mr_stmt_bind_text(stmt, 2, mr_team_readers(rights));
	return mr_stmt_step(stmt, out, &cx->err);
}

static const char SQL_LAST[] = "SELECT COALESCE(max(id), 0) FROM messages";

enum mr_code mr_team_message_last(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return ask(cx, db, SQL_LAST, NULL, 0, NULL, out);
}

static const char SQL_ATTACHED[] = "SELECT COALESCE(sum(attachment_bytes), 0) FROM messages"
				   " WHERE project_id = ?1 AND attachment_bytes > 0";

enum mr_code mr_team_attached_bytes(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *out)
{
	return ask(cx, db, SQL_ATTACHED, &project_id, 1, NULL, out);
}

static const char SQL_FULL[] = "SELECT 1 FROM message_recipients"
			       " WHERE agent_id = ?1 AND read_ts IS NULL LIMIT 1 OFFSET ?2";

enum mr_code mr_team_inbox_is_full(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t limit, bool *out)
{
	int64_t args[] = { agent_id, limit - 1 };
	int64_t one;

	return ask(cx, db, SQL_FULL, args, 2, out, &one);
}

static const char SQL_KEY_FIND[] = "SELECT message_id, notes FROM sent_keys"
				   " WHERE sender_id = ?1 AND key = ?2 AND created_ts > ?3";

enum mr_code mr_team_key_find(struct mr_ctx *cx, struct mr_db *db, int64_t sender_id,
	const char *key, int64_t since_ts, int64_t *out_message_id, const char **notes)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_KEY_FIND, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, sender_id);
	mr_stmt_bind_text(stmt, 2, key);
	mr_stmt_bind_int(stmt, 3, since_ts);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	*out_message_id = row ? mr_stmt_int(stmt, 0) : 0;
	*notes = row ? mr_stmt_text(stmt, 1, cx->arena) : "";
	return MR_OK;
}

static const char SQL_KEY_FORGET[] = "DELETE FROM sent_keys WHERE created_ts <= ?1";
static const char SQL_KEY_PUT[] =
	"INSERT INTO sent_keys (sender_id, key, message_id, created_ts, notes)"
	" VALUES (?1, ?2, ?3, ?4, ?5)";

enum mr_code mr_team_key_put(struct mr_ctx *cx, struct mr_db *db, int64_t sender_id,
	const char *key, int64_t since_ts, int64_t message_id, const char *notes)
{
	struct mr_stmt *forget MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *put MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_KEY_FORGET, &forget, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(forget, 1, since_ts);
	rc = mr_stmt_run(forget, &cx->err);
	if (!rc)
		rc = mr_db_prepare(db, SQL_KEY_PUT, &put, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_int(put, 1, sender_id);
	mr_stmt_bind_text(put, 2, key);
	mr_stmt_bind_int(put, 3, message_id);
	mr_stmt_bind_int(put, 4, mr_clock_wall_us(cx->clock));
	mr_stmt_bind_text(put, 5, notes);
	return mr_stmt_run(put, &cx->err);
}

void mr_team_message_read(struct mr_stmt *stmt, int column, int body_column, struct mr_arena *arena,
	struct mr_team_message *out)
{
	enum mr_team_importance importance = MR_TEAM_NORMAL;

	mr_team_importance_of(mr_stmt_peek(stmt, column + 8), &importance);
	*out = (struct mr_team_message){
		.id = mr_stmt_int(stmt, column),
		.uid = mr_stmt_text(stmt, column + 1, arena),
		.project_id = mr_stmt_int(stmt, column + 2),
		.sender_id = mr_stmt_int(stmt, column + 3),
		.thread_id = mr_stmt_text(stmt, column + 4, arena),
		.thread_seq = mr_stmt_int(stmt, column + 5),
		.reply_to = mr_stmt_int(stmt, column + 6),
		.subject = mr_stmt_text(stmt, column + 7, arena),
		.importance = importance,
		.ack_required = mr_stmt_int(stmt, column + 9) != 0,
		.created_ts = mr_stmt_int(stmt, column + 10),
		.attachments = mr_stmt_text(stmt, column + 11, arena),
		.verified = mr_stmt_int(stmt, column + 12) != 0,
		.body_md = body_column < 0 ? NULL : mr_stmt_text(stmt, body_column, arena),
	};
}

static const char SQL_ROW[] =
	"SELECT " MR_TEAM_MESSAGE_COLUMNS ", m.body_md FROM messages m WHERE m.id = ?1";

enum mr_code mr_team_message_row(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	struct mr_team_message *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ROW, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	if (!row) {
		mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no message %lld",
			(long long)message_id);
		return mr_team_fail_int(cx, "message_id", message_id);
	}
	mr_team_message_read(stmt, 0, MR_TEAM_MESSAGE_COLUMN_COUNT, cx->arena, out);
	return MR_OK;
}

static const char SQL_RECIPIENTS[] =
	"SELECT r.agent_id, a.project_id, a.name, p.slug, r.kind, r.read_ts, r.ack_ts"
	" FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
	" JOIN projects p ON p.id = a.project_id WHERE r.message_id = ?1"
	" ORDER BY r.place, r.agent_id";

/* Twice the room, at least some. */
static void grow(struct mr_arena *arena, struct mr_team_recipients *list, size_t *room)
{
	struct mr_team_recipient *items;

	*room = *room ? 2 * *room : 8;
	items = mr_arena_array(arena, *room, sizeof(*items));
	if (list->len)
		memcpy(items, list->items, list->len * sizeof(*items));
	list->items = items;
}

enum mr_code mr_team_message_recipients(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	struct mr_team_recipients *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_recipients found = { NULL, 0 };
	size_t room = 0;
	enum mr_code rc = mr_db_prepare(db, SQL_RECIPIENTS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	for (;;) {
		enum mr_team_recipient_kind kind = MR_TEAM_TO;
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row)
			break;
		if (found.len == room)
			grow(cx->arena, &found, &room);
		mr_team_kind_of(mr_stmt_peek(stmt, 4), &kind);
		found.items[found.len++] = (struct mr_team_recipient){
			.message_id = message_id,
			.agent_id = mr_stmt_int(stmt, 0),
			.project_id = mr_stmt_int(stmt, 1),
			.name = mr_stmt_text(stmt, 2, cx->arena),
			.project_slug = mr_stmt_text(stmt, 3, cx->arena),
			.kind = kind,
			.read_ts = mr_stmt_int(stmt, 5),
			.ack_ts = mr_stmt_int(stmt, 6),
		};
	}
	*out = found;
	return MR_OK;
}
