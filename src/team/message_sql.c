/*
 * team/message_sql.c - Inserts messages and recipients, reads them by id, and keeps idempotency
 * keys and quota sums.
 */
#include "team/message_sql.h"

#include "data/rows.h"
#include "team/error.h"
#include "team/limits.h"
#include "text/time.h"
#include "text/token.h"

/* Six digits are enough for most days; more only when they are not. */
enum { UID_DIGITS = 6, UID_DIGITS_MAX = 32, UID_DIGITS_STEP = 2 };

/*
 * The time of the next message is ?11, now, but always later than the previous message's, so that
 * clients that ask for messages since one get all of them, also after the clock was set back. Only
 * a message too far ahead (?16) is ignored: then the clock was wrong before, unless it is one that
 * has not been set yet (it is before ?17). One that comes from elsewhere (?15) keeps its own.
 */
#define TIME                                                                                       \
	"CASE WHEN ?15 = 1 THEN CAST(?11 AS BIGINT) ELSE COALESCE((SELECT CASE"                    \
	" WHEN l.created_ts >= ?11 AND (l.created_ts - ?11 <= ?16 OR ?11 < CAST(?17 AS BIGINT))"   \
	" THEN l.created_ts + 1 ELSE ?11 END FROM messages l ORDER BY l.id DESC LIMIT 1), ?11) END"
/* One that is made anew has an id; every other gets the next. */
#define INSERT(column, value)                                                                       \
	"INSERT INTO messages (uid, project_id, sender_id, thread_id, thread_seq, reply_to,"        \
	" subject, body_md, importance, ack_required, created_ts, attachments, attachment_bytes,"   \
	" verified" column ")"                                                                      \
	" VALUES (?1, ?2, ?3, ?4,"                                                                  \
	"  CASE WHEN CAST(?4 AS TEXT) IS NULL THEN 0 WHEN ?5 > 0 THEN ?5 ELSE 1 + COALESCE((SELECT" \
	"   max(o.thread_seq) FROM messages o WHERE o.project_id = ?2 AND o.thread_id = ?4), 0) "   \
	"END,"                                                                                      \
	"  ?6, ?7, ?8, ?9, ?10, " TIME ", ?12, ?13, ?14" value ")"                                  \
	" ON CONFLICT (uid) DO NOTHING RETURNING id, thread_seq, created_ts"
static const char SQL_INSERT[] = INSERT("", "");
static const char SQL_INSERT_AS[] = INSERT(", id", ", ?18");

/* `*stored` is false when another message has the uid. */
static enum mr_code insert(struct mr_ctx *cx, struct mr_db *db, struct mr_team_message *row,
	int64_t attachment_bytes, bool keeps_time, bool *stored)
{
	int64_t id, thread_seq, created_ts;
	bool is_known = row->id != 0;
	struct mr_bind last = is_known ? mr_bind_int(row->id) : (struct mr_bind){ MR_BIND_END };
	enum mr_code rc = mr_rows_returning(cx, db, is_known ? SQL_INSERT_AS : SQL_INSERT,
		MR_BIND(row->uid, row->project_id, row->sender_id, row->thread_id, row->thread_seq,
			mr_bind_or_null(row->reply_to), row->subject, row->body_md,
			mr_team_importance_name(row->importance), row->ack_required,
			row->created_ts, row->attachments, attachment_bytes, row->verified,
			keeps_time, MR_TEAM_CLOCK_AHEAD_S * MR_TIME_S,
			MR_TEAM_CLOCK_UNSET_S * MR_TIME_S, last),
		MR_INTO(&id, &thread_seq, &created_ts), stored);

	if (rc || !*stored)
		return rc;
	row->id = id;
	row->thread_seq = thread_seq;
	row->created_ts = created_ts;
	return MR_OK;
}

static const char SQL_ADDRESSED[] =
	"INSERT INTO message_groups (message_id, names) VALUES (?1, ?2)";

enum mr_code mr_team_message_insert(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_message *message, int64_t attachment_bytes)
{
	struct mr_team_message row = *message;
	bool stored = false, keeps_time = row.created_ts != 0;
	enum mr_code rc = MR_OK;

	if (!keeps_time)
		row.created_ts = mr_clock_wall_us(cx->clock);
	if (!row.attachments)
		row.attachments = "[]";
	if (row.uid)
		rc = insert(cx, db, &row, attachment_bytes, keeps_time, &stored);
	for (size_t digits = UID_DIGITS;
		!rc && !stored && !message->uid && digits <= UID_DIGITS_MAX;
		digits += UID_DIGITS_STEP) {
		row.uid = mr_token_uid(cx->arena, cx->rand, row.created_ts, digits);
		rc = insert(cx, db, &row, attachment_bytes, keeps_time, &stored);
	}
	if (!rc && !stored)
		rc = mr_err_set(&cx->err, MR_EEXISTS, "there is a message %s already", row.uid);
	if (!rc && row.addressed)
		rc = mr_rows_send(cx, db, SQL_ADDRESSED, MR_BIND(row.id, row.addressed));
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
	return mr_rows_send(cx, db, SQL_RECIPIENT,
		MR_BIND(message->id, recipient->agent_id, mr_team_kind_name(recipient->kind),
			message->importance >= MR_TEAM_HIGH,
			message->ack_required && recipient->kind == MR_TEAM_TO,
			mr_bind_or_null(recipient->read_ts), mr_bind_or_null(recipient->ack_ts),
			(int64_t)place));
}

static const char SQL_EXISTS[] = "SELECT 1 FROM messages WHERE id = ?1";

enum mr_code mr_team_message_exists(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	bool *out)
{
	return mr_rows_exist(cx, db, SQL_EXISTS, MR_BIND(message_id), out);
}

static const char SQL_SEEN[] =
	"SELECT 1 FROM messages m WHERE m.id = ?1 AND " MR_TEAM_SEEN_BY("m", "?2");

enum mr_code mr_team_message_is_seen(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t message_id, bool *out)
{
	return mr_rows_exist(cx, db, SQL_SEEN,
		MR_BIND(message_id, mr_bind_ids(mr_team_readers(rights))), out);
}

static const char SQL_LAST[] = "SELECT COALESCE(max(id), 0) FROM messages";

enum mr_code mr_team_message_last(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_LAST, NULL, MR_INTO(out), NULL);
}

static const char SQL_ATTACHED[] = "SELECT COALESCE(sum(attachment_bytes), 0) FROM messages"
				   " WHERE project_id = ?1 AND attachment_bytes > 0";

enum mr_code mr_team_attached_bytes(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *out)
{
	return mr_rows_one(cx, db, SQL_ATTACHED, MR_BIND(project_id), MR_INTO(out), NULL);
}

static const char SQL_FULL[] = "SELECT 1 FROM message_recipients"
			       " WHERE agent_id = ?1 AND read_ts IS NULL LIMIT 1 OFFSET ?2";

enum mr_code mr_team_inbox_is_full(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t limit, bool *out)
{
	return mr_rows_exist(cx, db, SQL_FULL, MR_BIND(agent_id, limit - 1), out);
}

static const char SQL_KEY_FIND[] = "SELECT message_id, notes FROM sent_keys"
				   " WHERE sender_id = ?1 AND key = ?2 AND created_ts > ?3";

enum mr_code mr_team_key_find(struct mr_ctx *cx, struct mr_db *db, int64_t sender_id,
	const char *key, int64_t since_ts, int64_t *out_message_id, const char **notes)
{
	bool found;
	enum mr_code rc = mr_rows_one(cx, db, SQL_KEY_FIND, MR_BIND(sender_id, key, since_ts),
		MR_INTO(out_message_id, notes), &found);

	if (!rc && !found)
		*notes = "";
	return rc;
}

static const char SQL_KEY_FORGET[] = "DELETE FROM sent_keys WHERE created_ts <= ?1";
static const char SQL_KEY_PUT[] =
	"INSERT INTO sent_keys (sender_id, key, message_id, created_ts, notes)"
	" VALUES (?1, ?2, ?3, ?4, ?5)";

enum mr_code mr_team_key_put(struct mr_ctx *cx, struct mr_db *db, int64_t sender_id,
	const char *key, int64_t since_ts, int64_t message_id, const char *notes)
{
	enum mr_code rc = mr_rows_send(cx, db, SQL_KEY_FORGET, MR_BIND(since_ts));

	return rc
		? rc
		: mr_rows_send(cx, db, SQL_KEY_PUT,
			  MR_BIND(sender_id, key, message_id, mr_clock_wall_us(cx->clock), notes));
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
		.addressed = mr_stmt_text(stmt, column + 13, arena),
		.body_md = body_column < 0 ? NULL : mr_stmt_text(stmt, body_column, arena),
	};
}

static const char SQL_ROW[] =
	"SELECT " MR_TEAM_MESSAGE_COLUMNS ", m.body_md FROM messages m WHERE m.id = ?1";

static enum mr_code read_whole(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_team_message_read(row, 0, MR_TEAM_MESSAGE_COLUMN_COUNT, cx->arena, to);
	return MR_OK;
}

enum mr_code mr_team_message_row(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	struct mr_team_message *out)
{
	bool found = false;
	enum mr_code rc =
		mr_rows_first(cx, db, SQL_ROW, MR_BIND(message_id), read_whole, out, &found);

	if (rc || found)
		return rc;
	mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no message %lld", (long long)message_id);
	return mr_team_fail_int(cx, "message_id", message_id);
}

static const char SQL_RECIPIENTS[] =
	"SELECT r.message_id, r.agent_id, a.project_id, a.name, p.slug, r.kind, r.read_ts, r.ack_ts"
	" FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
	" JOIN projects p ON p.id = a.project_id WHERE r.message_id = ?1"
	" ORDER BY r.place, r.agent_id" MR_ROWS_ALL;

static enum mr_code read_recipient(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_recipient *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->message_id, &it->agent_id, &it->project_id, &it->name,
			&it->project_slug, NULL, &it->read_ts, &it->ack_ts));
	it->kind = MR_TEAM_TO;
	mr_team_kind_of(mr_stmt_peek(row, 5), &it->kind);
	return MR_OK;
}

enum mr_code mr_team_message_recipients(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	struct mr_team_recipients *out)
{
	return mr_rows_list(cx, db, SQL_RECIPIENTS, MR_BIND(message_id), read_recipient,
		MR_LIST(out));
}
