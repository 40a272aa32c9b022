/* mailbox/notifier_sql.c - settings, audit and requests of the notifier in gateway/queue.sqlite. */
#include "mailbox/notifier_sql.h"

#include "base/fs.h"
#include "data/rows.h"
#include "mailbox/ledger_sql.h"
#include "text/json.h"

#define GATEWAY_DIR "gateway"
#define QUEUE_FILE  "queue.sqlite"

enum { DIR_MODE = 0700, TOKENS_BYTES = 8 << 20 };

const char *mr_notifier_sql_dir(struct mr_arena *arena, const char *session)
{
	return mr_arena_printf(arena, "%s/" GATEWAY_DIR, session);
}

const char *mr_notifier_sql_path(struct mr_arena *arena, const char *session)
{
	return mr_arena_printf(arena, "%s/" GATEWAY_DIR "/" QUEUE_FILE, session);
}

/* As the Houmao runtime makes them; what is there already stays as it is. */
static const char SQL_SCHEMA[] =
	"CREATE TABLE IF NOT EXISTS gateway_requests(request_id TEXT PRIMARY KEY,"
	" request_kind TEXT NOT NULL, payload_json TEXT NOT NULL, state TEXT NOT NULL,"
	" accepted_at_utc TEXT NOT NULL, started_at_utc TEXT, finished_at_utc TEXT,"
	" managed_agent_instance_epoch INTEGER, error_detail TEXT, result_json TEXT);"
	"CREATE TABLE IF NOT EXISTS gateway_mail_notifier("
	"singleton INTEGER PRIMARY KEY CHECK (singleton = 1), enabled INTEGER NOT NULL,"
	" interval_seconds INTEGER, mode TEXT NOT NULL DEFAULT 'any_inbox',"
	" appendix_text TEXT NOT NULL DEFAULT '',"
	" context_error_policy TEXT NOT NULL DEFAULT 'continue_current',"
	" pre_notification_context_action TEXT NOT NULL DEFAULT 'none',"
	" notify_block_render TEXT NOT NULL DEFAULT 'enabled',"
	" notify_block_auth_mode TEXT NOT NULL DEFAULT 'permissive-log',"
	" notify_block_auth_verifier TEXT NOT NULL DEFAULT 'none',"
	" notify_block_shared_tokens_json TEXT NOT NULL DEFAULT '[]',"
	" notify_block_per_message_chars INTEGER NOT NULL DEFAULT 512,"
	" notify_block_total_chars INTEGER NOT NULL DEFAULT 2048,"
	" last_poll_at_utc TEXT, last_notification_at_utc TEXT, last_notified_digest TEXT,"
	" last_error TEXT, compacted_eligible_message_refs_json TEXT NOT NULL DEFAULT '[]',"
	" updated_at_utc TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS gateway_notifier_audit("
	"audit_id INTEGER PRIMARY KEY AUTOINCREMENT, poll_time_utc TEXT NOT NULL,"
	" unread_count INTEGER, unread_digest TEXT, unread_summary_json TEXT NOT NULL DEFAULT '[]',"
	" request_admission TEXT, active_execution TEXT, queue_depth INTEGER,"
	" outcome TEXT NOT NULL CHECK (outcome IN ('empty', 'dedup_skip', 'busy_skip', 'enqueued',"
	" 'pre_notification_context_error', 'context_recovery_error', 'poll_error')),"
	" enqueued_request_id TEXT, detail TEXT, context_error_policy TEXT,"
	" pre_notification_context_action TEXT, context_action_outcome TEXT,"
	" degraded_tool_name TEXT, degraded_error_type TEXT, rendered_block_entries_json TEXT);";

static enum mr_code make_schema(struct mr_ctx *cx, struct mr_db *db)
{
	bool there = false;
	enum mr_code rc = mr_db_has_table(db, MR_LEDGER_TABLE, &there, &cx->err);

	if (rc || there)
		return rc;
	rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	/* Another process may have made them meanwhile. */
	if (!rc)
		rc = mr_db_has_table(db, MR_LEDGER_TABLE, &there, &cx->err);
	if (!rc && !there)
		rc = mr_db_exec(db, SQL_SCHEMA, &cx->err);
	if (!rc && !there)
		rc = mr_ledger_sql_schema(cx, db);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

enum mr_code mr_notifier_sql_open(struct mr_ctx *cx, const char *session, bool create,
	struct mr_db **out)
{
	const struct mr_db_options options = {
		.path = mr_notifier_sql_path(cx->arena, session),
		.read_only = !create,
		.create = create,
		.journal = MR_DB_JOURNAL_WAL,
		.sync = MR_DB_SYNC_FULL,
		.keep_log = true,
		.repair_hint = "remove the file: settings and records of wake-ups are then lost, "
			       "mail is not",
	};
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	bool there = true;
	enum mr_code rc;

	mr_ctx_reads(cx, options.path, true);
	rc = mr_db_open(&options, &db, &cx->err);
	if (rc == MR_ENOTFOUND && create) {
		rc = mr_fs_make_dirs(AT_FDCWD, mr_notifier_sql_dir(cx->arena, session), DIR_MODE,
			&cx->err);
		if (!rc)
			rc = mr_db_open(&options, &db, &cx->err);
	}
	if (!rc && create)
		rc = make_schema(cx, db);
	if (!rc && !create)
		rc = mr_db_has_table(db, MR_LEDGER_TABLE, &there, &cx->err);
	if (!rc && !there)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND, "%s holds no records of wake-ups",
			options.path);
	if (rc)
		return rc;
	*out = db;
	db = NULL;
	return MR_OK;
}

/* --- settings --- */

static const char SQL_SETTINGS[] =
	"SELECT enabled, interval_seconds, mode, appendix_text, context_error_policy,"
	" pre_notification_context_action, notify_block_render, notify_block_auth_mode,"
	" notify_block_auth_verifier, notify_block_shared_tokens_json,"
	" notify_block_per_message_chars, notify_block_total_chars, last_poll_at_utc,"
	" last_notification_at_utc, last_error FROM gateway_mail_notifier WHERE singleton = 1";

/* The place of a word; of one that another version knows, the first. */
static size_t index_of(const char *const *words, const char *text)
{
	for (size_t i = 0; words[i]; i++)
		if (mr_str_eq(words[i], text))
			return i;
	return 0;
}

static struct mr_texts read_texts(struct mr_ctx *cx, const char *json)
{
	const struct mr_value *value = NULL;
	struct mr_texts out = { NULL, 0 };
	struct mr_err ignored;

	if (!json || mr_json_parse(cx->arena, mr_bytes_text(json), NULL, &value, &ignored) ||
		value->kind != MR_LIST)
		return out;
	out.items = mr_arena_array(cx->arena, value->list.len + 1, sizeof(*out.items));
	for (size_t i = 0; i < value->list.len; i++)
		if (value->list.items[i].kind == MR_TEXT)
			out.items[out.len++] = value->list.items[i].text;
	return out;
}

enum mr_code mr_notifier_sql_settings(struct mr_ctx *cx, struct mr_db *db,
	struct mr_notifier_settings *out)
{
	struct mr_notifier_settings s = mr_notifier_settings_default();
	const char *mode, *appendix, *policy, *action, *render, *auth, *verifier, *tokens;
	bool enabled, found = false;
	int64_t interval, each, total;
	enum mr_code rc = mr_rows_one(cx, db, SQL_SETTINGS, NULL,
		MR_INTO(&enabled, &interval, &mode, &appendix, &policy, &action, &render, &auth,
			&verifier, &tokens, &each, &total, &s.last_poll_at, &s.last_notification_at,
			&s.last_error),
		&found);

	if (!rc && found) {
		s.enabled = enabled;
		s.interval_seconds = interval;
		s.mode = (enum mr_notice_mode)index_of(mr_notice_modes, mode);
		s.appendix_text = appendix ? appendix : "";
		s.context_error_policy =
			(enum mr_notifier_context_policy)index_of(mr_notifier_context_policies,
				policy);
		s.pre_notification_context_action =
			(enum mr_notifier_pre_action)index_of(mr_notifier_pre_actions, action);
		s.rules = (struct mr_notice_rules){
			.render = !mr_str_eq(render, mr_notifier_renders[0]),
			.auth_mode = (enum mr_notice_auth_mode)index_of(mr_notice_auth_modes, auth),
			.verifier =
				(enum mr_notice_verifier)index_of(mr_notice_verifiers, verifier),
			.tokens = read_texts(cx, tokens),
			.per_message_chars = each,
			.total_chars = total,
		};
	}
	if (!rc)
		rc = mr_ledger_sql_channel(cx, db, &s);
	if (!rc)
		*out = s;
	return rc;
}

static const char SQL_STORE[] =
	"INSERT INTO gateway_mail_notifier(singleton, enabled, interval_seconds, mode,"
	" appendix_text, context_error_policy, pre_notification_context_action,"
	" notify_block_render, notify_block_auth_mode, notify_block_auth_verifier,"
	" notify_block_shared_tokens_json, notify_block_per_message_chars,"
	" notify_block_total_chars, updated_at_utc)"
	" VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
	" ON CONFLICT(singleton) DO UPDATE SET enabled = excluded.enabled,"
	" interval_seconds = excluded.interval_seconds, mode = excluded.mode,"
	" appendix_text = excluded.appendix_text,"
	" context_error_policy = excluded.context_error_policy,"
	" pre_notification_context_action = excluded.pre_notification_context_action,"
	" notify_block_render = excluded.notify_block_render,"
	" notify_block_auth_mode = excluded.notify_block_auth_mode,"
	" notify_block_auth_verifier = excluded.notify_block_auth_verifier,"
	" notify_block_shared_tokens_json = excluded.notify_block_shared_tokens_json,"
	" notify_block_per_message_chars = excluded.notify_block_per_message_chars,"
	" notify_block_total_chars = excluded.notify_block_total_chars, last_error = NULL,"
	" updated_at_utc = excluded.updated_at_utc";

static enum mr_code write_texts(struct mr_ctx *cx, const struct mr_texts *texts, const char **out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	enum mr_code rc;

	mr_buf_init(&buf, TOKENS_BYTES);
	mr_json_init(&json, &buf, MR_JSON_COMPACT);
	mr_json_begin_list(&json);
	for (size_t i = 0; i < texts->len; i++)
		mr_json_text(&json, texts->items[i]);
	mr_json_end(&json);
	rc = mr_buf_check(&buf, "the list", &cx->err);
	if (!rc)
		*out = mr_arena_strdup(cx->arena, mr_buf_text(&buf));
	return rc;
}

enum mr_code mr_notifier_sql_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_settings *s)
{
	const char *tokens = NULL, *command = NULL;
	const char *now = mr_ledger_now(cx);
	enum mr_code rc = write_texts(cx, &s->rules.tokens, &tokens);

	if (!rc)
		rc = write_texts(cx, &s->command, &command);
	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_rows_run(cx, db, SQL_STORE,
			MR_BIND(s->enabled, mr_bind_or_null(s->interval_seconds),
				mr_notice_modes[s->mode], s->appendix_text,
				mr_notifier_context_policies[s->context_error_policy],
				mr_notifier_pre_actions[s->pre_notification_context_action],
				mr_notifier_renders[s->rules.render],
				mr_notice_auth_modes[s->rules.auth_mode],
				mr_notice_verifiers[s->rules.verifier], tokens,
				s->rules.per_message_chars, s->rules.total_chars, now));
	if (!rc)
		rc = mr_ledger_sql_store_channel(cx, db, s, command);
	if (!rc)
		mr_db_notify(db);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

static const char SQL_NEWS[] =
	"UPDATE gateway_mail_notifier SET last_poll_at_utc = coalesce(?1, last_poll_at_utc),"
	" last_notification_at_utc = coalesce(?2, last_notification_at_utc), last_error = ?3"
	" WHERE singleton = 1";

enum mr_code mr_notifier_sql_news(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_news *news)
{
	return mr_rows_run(cx, db, SQL_NEWS,
		MR_BIND(news->poll_at, news->notification_at, news->error));
}

/* --- audit --- */

static const char SQL_LAST_AUDIT[] =
	"SELECT outcome, unread_digest, detail FROM gateway_notifier_audit"
	" ORDER BY audit_id DESC LIMIT 1";
static const char SQL_AUDIT[] =
	"INSERT INTO gateway_notifier_audit(poll_time_utc, unread_count, unread_digest,"
	" unread_summary_json, request_admission, active_execution, queue_depth, outcome,"
	" enqueued_request_id, detail, context_error_policy, pre_notification_context_action,"
	" rendered_block_entries_json)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

enum mr_code mr_notifier_sql_audit(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_audit *row)
{
	const char *outcome, *digest, *detail;
	enum mr_code rc = mr_rows_one(cx, db, SQL_LAST_AUDIT, NULL,
		MR_INTO(&outcome, &digest, &detail), NULL);

	if (rc)
		return rc;
	if (!row->request_id && mr_str_eq(outcome, row->outcome) &&
		mr_str_eq(digest, row->unread_digest) && mr_str_eq(detail, row->detail))
		return MR_OK;
	return mr_rows_run(cx, db, SQL_AUDIT,
		MR_BIND(row->poll_time, row->unread_count, row->unread_digest,
			row->unread_summary ? row->unread_summary : "[]", row->admission,
			row->execution, row->queue_depth, row->outcome, row->request_id,
			row->detail, row->context_error_policy,
			row->pre_notification_context_action, row->rendered_entries));
}

/* --- requests --- */

static const char SQL_REQUEST[] =
	"INSERT INTO gateway_requests(request_id, request_kind, payload_json, state,"
	" accepted_at_utc, started_at_utc, managed_agent_instance_epoch)"
	" VALUES(?1, 'mail_notifier_prompt', ?2, 'running', ?3, ?3, 1)";
static const char SQL_REQUEST_END[] =
	"UPDATE gateway_requests SET state = ?2, finished_at_utc = ?3, error_detail = ?4,"
	" result_json = ?5 WHERE request_id = ?1";

enum mr_code mr_notifier_sql_request(struct mr_ctx *cx, struct mr_db *db, const char *id,
	const char *payload_json, const char *now)
{
	return mr_rows_run(cx, db, SQL_REQUEST, MR_BIND(id, payload_json, now));
}

enum mr_code mr_notifier_sql_request_end(struct mr_ctx *cx, struct mr_db *db, const char *id,
	const char *now, const char *error)
{
	const char *result = error ? NULL
				   : mr_arena_printf(cx->arena,
					     "{\"completed_at_utc\": \"%s\", \"request_kind\": "
					     "\"mail_notifier_prompt\"}",
					     now);

	return mr_rows_run(cx, db, SQL_REQUEST_END,
		MR_BIND(id, error ? "failed" : "completed", now, error, result));
}

/* --- pruning --- */

static const char SQL_PRUNE_AUDIT[] =
	"DELETE FROM gateway_notifier_audit WHERE poll_time_utc < ?1 OR audit_id <="
	" (SELECT max(audit_id) FROM gateway_notifier_audit) - ?2";
static const char SQL_PRUNE_REQUESTS[] =
	"DELETE FROM gateway_requests WHERE request_kind = 'mail_notifier_prompt'"
	" AND finished_at_utc < ?1";

enum mr_code mr_notifier_sql_prune(struct mr_ctx *cx, struct mr_db *db, const char *before,
	int64_t most)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_PRUNE_AUDIT, MR_BIND(before, most));

	return rc ? rc : mr_rows_run(cx, db, SQL_PRUNE_REQUESTS, MR_BIND(before));
}
