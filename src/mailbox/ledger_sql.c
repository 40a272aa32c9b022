/* mailbox/ledger_sql.c - the ledger of wake-ups, in SQL. */
#include "mailbox/ledger_sql.h"

#include "data/rows.h"
#include "text/json.h"
#include "text/time.h"

const char *const mr_ledger_states[] = { "queued", "sending", "delivered", "acknowledged", "failed",
	"withdrawn", NULL };

const char *mr_ledger_now(struct mr_ctx *cx)
{
	return mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_MICROS_OFFSET);
}

static const char SQL_SCHEMA[] =
	"CREATE TABLE " MR_LEDGER_TABLE "("
	"notice_id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, channel TEXT NOT NULL,"
	" attempts BIGINT NOT NULL DEFAULT 0, queued_us BIGINT NOT NULL, delivered_us BIGINT,"
	" settled_us BIGINT, retry_us BIGINT, detail TEXT, subject TEXT);"
	"CREATE INDEX mailroom_notice_state ON mailroom_notice(state);"
	"CREATE TABLE mailroom_notice_message("
	"notice_id BIGINT NOT NULL, message_ref TEXT NOT NULL,"
	" PRIMARY KEY(notice_id, message_ref)) WITHOUT ROWID;"
	"CREATE TABLE mailroom_announced("
	"message_ref TEXT PRIMARY KEY, times BIGINT NOT NULL DEFAULT 0, last_us BIGINT NOT NULL,"
	" open_notice BIGINT NOT NULL DEFAULT 0) WITHOUT ROWID;"
	"CREATE TABLE mailroom_channel("
	"singleton BIGINT PRIMARY KEY, channel TEXT NOT NULL, command_json TEXT NOT NULL,"
	" command_timeout_seconds BIGINT NOT NULL);";

enum mr_code mr_ledger_sql_schema(struct mr_ctx *cx, struct mr_db *db)
{
	return mr_db_exec(db, SQL_SCHEMA, &cx->err);
}

/* --- the channel --- */

static const char SQL_CHANNEL[] =
	"SELECT channel, command_json, command_timeout_seconds FROM mailroom_channel"
	" WHERE singleton = 1";

enum mr_code mr_ledger_sql_channel(struct mr_ctx *cx, struct mr_db *db,
	struct mr_notifier_settings *settings)
{
	const struct mr_value *words = NULL;
	const char *channel, *command;
	int64_t timeout;
	bool found = false;
	enum mr_code rc = mr_rows_one(cx, db, SQL_CHANNEL, NULL,
		MR_INTO(&channel, &command, &timeout), &found);

	if (rc || !found)
		return rc;
	for (size_t i = 0; mr_notifier_channels[i]; i++)
		if (mr_str_eq(mr_notifier_channels[i], channel))
			settings->channel = (enum mr_notifier_channel)i;
	settings->command_timeout_seconds = timeout;
	rc = mr_json_parse(cx->arena, mr_bytes_text(command), NULL, &words, &cx->err);
	if (rc || words->kind != MR_LIST)
		return rc;
	settings->command.items =
		mr_arena_array(cx->arena, words->list.len + 1, sizeof(*settings->command.items));
	for (size_t i = 0; i < words->list.len; i++)
		if (words->list.items[i].kind == MR_TEXT)
			settings->command.items[settings->command.len++] =
				words->list.items[i].text;
	return MR_OK;
}

static const char SQL_STORE_CHANNEL[] =
	"INSERT INTO mailroom_channel(singleton, channel, command_json, command_timeout_seconds)"
	" VALUES(1, ?1, ?2, ?3) ON CONFLICT(singleton) DO UPDATE SET channel = excluded.channel,"
	" command_json = excluded.command_json,"
	" command_timeout_seconds = excluded.command_timeout_seconds";

enum mr_code mr_ledger_sql_store_channel(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_settings *settings, const char *command_json)
{
	return mr_rows_run(cx, db, SQL_STORE_CHANNEL,
		MR_BIND(mr_notifier_channels[settings->channel], command_json,
			settings->command_timeout_seconds));
}

/* --- messages --- */

static const char SQL_MESSAGES[] = "SELECT message_ref, times, last_us, open_notice"
				   " FROM mailroom_announced ORDER BY message_ref" MR_ROWS_ALL;

static enum mr_code read_message(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_ledger_message *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->ref, &it->times, &it->last_us, &it->open_notice));
	return MR_OK;
}

enum mr_code mr_ledger_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_messages *out)
{
	return mr_rows_list(cx, db, SQL_MESSAGES, NULL, read_message, MR_LIST(out));
}

static const char SQL_JOIN[] =
	"INSERT INTO mailroom_notice_message(notice_id, message_ref) VALUES(?1, ?2)";
static const char SQL_JOIN_ANNOUNCED[] =
	"INSERT INTO mailroom_announced(message_ref, times, last_us, open_notice)"
	" VALUES(?2, 0, ?3, ?1) ON CONFLICT(message_ref) DO UPDATE SET open_notice = ?1";

enum mr_code mr_ledger_sql_join(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const char *ref, int64_t now_us)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_JOIN, MR_BIND(notice, ref));

	return rc ? rc : mr_rows_run(cx, db, SQL_JOIN_ANNOUNCED, MR_BIND(notice, ref, now_us));
}

static const char SQL_LEAVE[] =
	"DELETE FROM mailroom_notice_message WHERE notice_id = ?1 AND message_ref = ?2";
static const char SQL_LEAVE_ANNOUNCED[] =
	"UPDATE mailroom_announced SET open_notice = 0 WHERE message_ref = ?2 AND open_notice = ?1";

enum mr_code mr_ledger_sql_leave(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const char *ref)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_LEAVE, MR_BIND(notice, ref));

	return rc ? rc : mr_rows_run(cx, db, SQL_LEAVE_ANNOUNCED, MR_BIND(notice, ref));
}

static const char SQL_REFS[] = "SELECT message_ref FROM mailroom_notice_message"
			       " WHERE notice_id = ?1 ORDER BY message_ref" MR_ROWS_ALL;

enum mr_code mr_ledger_sql_refs(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	struct mr_texts *out)
{
	return mr_rows_list(cx, db, SQL_REFS, MR_BIND(notice), mr_row_text, MR_LIST(out));
}

static const char SQL_UNACKNOWLEDGED[] =
	"SELECT m.notice_id, m.message_ref FROM mailroom_notice n"
	" JOIN mailroom_notice_message m ON m.notice_id = n.notice_id"
	" WHERE n.state = 'delivered' ORDER BY m.notice_id" MR_ROWS_ALL;

static enum mr_code read_pair(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_ledger_pair *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->notice, &it->ref));
	return MR_OK;
}

enum mr_code mr_ledger_sql_unacknowledged(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_pairs *out)
{
	return mr_rows_list(cx, db, SQL_UNACKNOWLEDGED, NULL, read_pair, MR_LIST(out));
}

static const char SQL_FORGET[] = "DELETE FROM mailroom_announced WHERE message_ref = ?1";

enum mr_code mr_ledger_sql_forget(struct mr_ctx *cx, struct mr_db *db, const char *ref)
{
	return mr_rows_run(cx, db, SQL_FORGET, MR_BIND(ref));
}

/* --- notices --- */

#define NOTICE                                                                                     \
	"SELECT n.notice_id, n.state, n.channel, (SELECT count(*) FROM mailroom_notice_message m"  \
	" WHERE m.notice_id = n.notice_id), n.attempts, n.queued_us, n.delivered_us,"              \
	" n.settled_us, n.retry_us, n.detail, n.subject FROM mailroom_notice n"

static const char SQL_OPEN[] = NOTICE " WHERE n.state IN ('queued', 'sending')"
				      " OR (n.state = 'failed' AND n.retry_us IS NOT NULL)"
				      " ORDER BY n.notice_id LIMIT 1";
static const char SQL_GET[] = NOTICE " WHERE n.notice_id = ?1";
static const char SQL_LIST[] = NOTICE " ORDER BY n.notice_id DESC LIMIT ?1";

static enum mr_code read_notice(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_ledger_notice *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->state, &it->channel, &it->messages, &it->attempts,
			&it->queued_us, &it->delivered_us, &it->settled_us, &it->retry_us,
			&it->detail, &it->subject));
	return MR_OK;
}

enum mr_code mr_ledger_sql_open_notice(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_notice *out, bool *found)
{
	return mr_rows_first(cx, db, SQL_OPEN, NULL, read_notice, out, found);
}

enum mr_code mr_ledger_sql_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_ledger_notice *out, bool *found)
{
	return mr_rows_first(cx, db, SQL_GET, MR_BIND(id), read_notice, out, found);
}

enum mr_code mr_ledger_sql_list(struct mr_ctx *cx, struct mr_db *db, int64_t limit,
	struct mr_ledger_notices *out)
{
	return mr_rows_list(cx, db, SQL_LIST, MR_BIND(limit), read_notice, MR_LIST(out));
}

static const char SQL_ADD[] = "INSERT INTO mailroom_notice(state, channel, queued_us, subject)"
			      " VALUES('queued', ?1, ?2, ?3) RETURNING notice_id";

enum mr_code mr_ledger_sql_add(struct mr_ctx *cx, struct mr_db *db, const char *channel,
	const char *subject, int64_t now_us, int64_t *out_id)
{
	return mr_rows_returning(cx, db, SQL_ADD, MR_BIND(channel, now_us, subject),
		MR_INTO(out_id), NULL);
}

static const char SQL_CHANGE[] =
	"UPDATE mailroom_notice SET state = ?2, channel = coalesce(?3, channel), detail = ?4,"
	" retry_us = ?5, attempts = attempts + ?6, delivered_us = coalesce(?7, delivered_us),"
	" settled_us = ?8 WHERE notice_id = ?1";
static const char SQL_ANNOUNCED[] =
	"UPDATE mailroom_announced SET times = times + 1, last_us = ?2 WHERE open_notice = ?1";
static const char SQL_CLOSE[] =
	"UPDATE mailroom_announced SET open_notice = 0 WHERE open_notice = ?1";

enum mr_code mr_ledger_sql_change(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const struct mr_ledger_change *change)
{
	enum mr_ledger_state state = change->state;
	bool is_open = state == MR_LEDGER_QUEUED || state == MR_LEDGER_SENDING ||
		(state == MR_LEDGER_FAILED && change->retry_us);
	bool is_settled = !is_open && state != MR_LEDGER_DELIVERED;
	enum mr_code rc = mr_rows_run(cx, db, SQL_CHANGE,
		MR_BIND(notice, mr_ledger_states[state], change->channel, change->detail,
			mr_bind_or_null(change->retry_us), change->is_attempt,
			mr_bind_or_null(state == MR_LEDGER_DELIVERED ? change->now_us : 0),
			mr_bind_or_null(is_settled ? change->now_us : 0)));

	if (!rc && change->is_announced)
		rc = mr_rows_run(cx, db, SQL_ANNOUNCED, MR_BIND(notice, change->now_us));
	if (!rc && !is_open)
		rc = mr_rows_run(cx, db, SQL_CLOSE, MR_BIND(notice));
	return rc;
}

static const char SQL_PRUNE_MESSAGES[] =
	"DELETE FROM mailroom_notice_message WHERE notice_id IN (SELECT notice_id"
	" FROM mailroom_notice WHERE queued_us < ?1 AND state IN ('delivered', 'acknowledged',"
	" 'withdrawn', 'failed') AND retry_us IS NULL)";
static const char SQL_PRUNE[] =
	"DELETE FROM mailroom_notice WHERE queued_us < ?1 AND state IN ('delivered',"
	" 'acknowledged', 'withdrawn', 'failed') AND retry_us IS NULL";

enum mr_code mr_ledger_sql_prune(struct mr_ctx *cx, struct mr_db *db, int64_t before_us)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_PRUNE_MESSAGES, MR_BIND(before_us));

	return rc ? rc : mr_rows_run(cx, db, SQL_PRUNE, MR_BIND(before_us));
}

static const char SQL_BACKLOG[] =
	"SELECT (SELECT count(*) FROM mailroom_notice_message m WHERE m.notice_id = n.notice_id),"
	" n.queued_us, n.channel, n.detail FROM mailroom_notice n WHERE n.state = 'failed'"
	" AND n.retry_us IS NOT NULL ORDER BY n.notice_id LIMIT 1";

enum mr_code mr_ledger_sql_backlog(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_backlog *out, bool *found)
{
	return mr_rows_one(cx, db, SQL_BACKLOG, NULL,
		MR_INTO(&out->messages, &out->oldest_us, &out->channel, &out->detail), found);
}
