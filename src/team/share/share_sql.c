/* team/share/share_sql.c */
#include "team/share/share_sql.h"

#include "team/store/schema.h"
#include "text/time.h"

#include <string.h>

enum { RECIPIENTS_MAX = 100000 };

static const char SQL_MESSAGES[] =
	"SELECT id, uid, sender_id, thread_id, reply_to, subject, body_md, importance, created_ts,"
	" attachments FROM messages WHERE project_id = ?1 ORDER BY id";

enum mr_code mr_team_share_messages(struct mr_ctx *cx, struct mr_db *from, int64_t project_id,
	mr_team_share_visit *visit, void *arg)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(from, SQL_MESSAGES, &stmt, &cx->err);
	bool row = true;

	if (!rc)
		mr_stmt_bind_int(stmt, 1, project_id);
	while (!rc && row) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_team_message message = { .project_id = project_id };

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc || !row)
			continue;
		message.id = mr_stmt_int(stmt, 0);
		message.uid = mr_stmt_text(stmt, 1, arena);
		message.sender_id = mr_stmt_int(stmt, 2);
		message.thread_id = mr_stmt_text(stmt, 3, arena);
		message.reply_to = mr_stmt_int(stmt, 4);
		message.subject = mr_stmt_text(stmt, 5, arena);
		message.body_md = mr_stmt_text(stmt, 6, arena);
		mr_team_importance_of(mr_stmt_text(stmt, 7, arena), &message.importance);
		message.created_ts = mr_stmt_int(stmt, 8);
		message.attachments = mr_stmt_text(stmt, 9, arena);
		rc = visit(arena, &message, arg);
	}
	return rc;
}

static const char SQL_RECIPIENTS[] =
	"SELECT r.agent_id, r.kind, a.name, a.project_id FROM message_recipients r"
	" JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id = ?1 AND r.kind <> 'bcc' ORDER BY r.kind DESC, a.name_fold";

enum mr_code mr_team_share_recipients(struct mr_ctx *cx, struct mr_arena *arena, struct mr_db *from,
	int64_t message_id, struct mr_team_recipients *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf rows MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = mr_db_prepare(from, SQL_RECIPIENTS, &stmt, &cx->err);
	bool row = true;

	mr_buf_init(&rows, RECIPIENTS_MAX * sizeof(*out->items));
	if (!rc)
		mr_stmt_bind_int(stmt, 1, message_id);
	while (!rc && row) {
		struct mr_team_recipient recipient = { .message_id = message_id };

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc || !row)
			continue;
		recipient.agent_id = mr_stmt_int(stmt, 0);
		mr_team_kind_of(mr_stmt_text(stmt, 1, arena), &recipient.kind);
		recipient.name = mr_stmt_text(stmt, 2, arena);
		recipient.project_id = mr_stmt_int(stmt, 3);
		mr_buf_add(&rows, &recipient, sizeof(recipient));
	}
	if (!rc)
		rc = mr_buf_check(&rows, "the recipients of a message", &cx->err);
	if (rc)
		return rc;
	*out = (struct mr_team_recipients){ mr_arena_memdup(arena, mr_buf_text(&rows), rows.len),
		rows.len / sizeof(*out->items) };
	return MR_OK;
}

static const char SQL_COUNT[] =
	"SELECT (SELECT count(*) FROM file_reservations WHERE project_id = ?1),"
	" (SELECT count(*) FROM agent_links WHERE a_project_id = ?1 OR b_project_id = ?1),"
	" (SELECT count(*) FROM messages m JOIN message_recipients r ON r.message_id = m.id"
	"  WHERE m.project_id = ?1 AND (r.read_ts IS NOT NULL OR r.ack_ts IS NOT NULL))";

enum mr_code mr_team_share_count(struct mr_ctx *cx, struct mr_db *from, int64_t project_id,
	struct mr_team_share_counts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(from, SQL_COUNT, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = (struct mr_team_share_counts){ mr_stmt_int(stmt, 0), mr_stmt_int(stmt, 1),
			mr_stmt_int(stmt, 2) };
	return rc;
}

static const char SQL_TABLES[] =
	"CREATE TABLE projects ("
	"  id INTEGER PRIMARY KEY,"
	"  slug TEXT NOT NULL UNIQUE,"
	"  human_key TEXT NOT NULL,"
	"  created_at TEXT NOT NULL);"
	"CREATE TABLE agents ("
	"  id INTEGER PRIMARY KEY,"
	"  project_id INTEGER NOT NULL REFERENCES projects(id),"
	"  name TEXT NOT NULL,"
	"  program TEXT NOT NULL,"
	"  model TEXT NOT NULL,"
	"  task_description TEXT NOT NULL DEFAULT '',"
	"  inception_ts TEXT NOT NULL,"
	"  last_active_ts TEXT NOT NULL,"
	"  attachments_policy TEXT NOT NULL DEFAULT 'auto',"
	"  contact_policy TEXT NOT NULL DEFAULT 'open',"
	"  is_active INTEGER NOT NULL DEFAULT 1,"
	"  deleted_ts TEXT);"
	"CREATE INDEX idx_agents_project ON agents(project_id);"
	"CREATE TABLE messages ("
	"  id INTEGER PRIMARY KEY,"
	"  uid TEXT NOT NULL,"
	"  project_id INTEGER NOT NULL REFERENCES projects(id),"
	"  sender_id INTEGER NOT NULL REFERENCES agents(id),"
	"  thread_id TEXT,"
	"  reply_to INTEGER,"
	"  subject TEXT NOT NULL,"
	"  body_md TEXT NOT NULL,"
	"  importance TEXT NOT NULL DEFAULT 'normal',"
	"  ack_required INTEGER NOT NULL DEFAULT 0,"
	"  created_ts TEXT NOT NULL,"
	"  attachments TEXT NOT NULL DEFAULT '[]');"
	"CREATE INDEX idx_messages_created_ts ON messages(created_ts);"
	"CREATE INDEX idx_messages_thread_id ON messages(project_id, thread_id, created_ts);"
	"CREATE TABLE message_recipients ("
	"  message_id INTEGER NOT NULL REFERENCES messages(id),"
	"  agent_id INTEGER NOT NULL REFERENCES agents(id),"
	"  kind TEXT NOT NULL DEFAULT 'to',"
	"  read_ts TEXT,"
	"  ack_ts TEXT,"
	"  PRIMARY KEY (message_id, agent_id));"
	"CREATE INDEX idx_message_recipients_agent ON message_recipients(agent_id);"
	/* Readers of the copy ask for these too; they stay empty. */
	"CREATE TABLE file_reservations ("
	"  id INTEGER PRIMARY KEY, project_id INTEGER, agent_id INTEGER, path_pattern TEXT,"
	"  exclusive INTEGER, reason TEXT, created_ts TEXT, expires_ts TEXT, released_ts TEXT);"
	"CREATE TABLE agent_links ("
	"  id INTEGER PRIMARY KEY, a_project_id INTEGER, a_agent_id INTEGER, b_project_id INTEGER,"
	"  b_agent_id INTEGER, status TEXT, reason TEXT, created_ts TEXT, updated_ts TEXT,"
	"  expires_ts TEXT);";

enum mr_code mr_team_share_tables(struct mr_ctx *cx, struct mr_db *to)
{
	return mr_db_exec(to, SQL_TABLES, &cx->err);
}

static void bind_time(struct mr_ctx *cx, struct mr_stmt *stmt, int index, int64_t time_us)
{
	if (time_us)
		mr_stmt_bind_text(stmt, index, mr_time_format(cx->arena, time_us, MR_TIME_MICROS));
	else
		mr_stmt_bind_null(stmt, index);
}

static const char SQL_PROJECT[] =
	"INSERT INTO projects (id, slug, human_key, created_at) VALUES (?1, ?2, ?3, ?4)";

enum mr_code mr_team_share_put_project(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_project *project)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(to, SQL_PROJECT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project->id);
	mr_stmt_bind_text(stmt, 2, project->slug);
	mr_stmt_bind_text(stmt, 3, project->human_key);
	mr_stmt_bind_text(stmt, 4, mr_time_format(cx->arena, project->created_at, MR_TIME_MICROS));
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_AGENT[] =
	"INSERT INTO agents (id, project_id, name, program, model, task_description, inception_ts,"
	" last_active_ts, attachments_policy, contact_policy, is_active, deleted_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

enum mr_code mr_team_share_put_agent(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_agent *agent)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(to, SQL_AGENT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent->id);
	mr_stmt_bind_int(stmt, 2, agent->project_id);
	mr_stmt_bind_text(stmt, 3, agent->name);
	mr_stmt_bind_text(stmt, 4, agent->program);
	mr_stmt_bind_text(stmt, 5, agent->model);
	mr_stmt_bind_text(stmt, 6, agent->task_description);
	mr_stmt_bind_text(stmt, 7, mr_time_format(cx->arena, agent->inception_ts, MR_TIME_MICROS));
	mr_stmt_bind_text(stmt, 8,
		mr_time_format(cx->arena, agent->last_active_ts, MR_TIME_MICROS));
	mr_stmt_bind_text(stmt, 9, mr_team_attachments_policy_name(agent->attachments_policy));
	mr_stmt_bind_text(stmt, 10, mr_team_contact_policy_name(agent->contact_policy));
	mr_stmt_bind_int(stmt, 11, agent->is_active);
	bind_time(cx, stmt, 12, agent->deleted_ts);
	return mr_stmt_run(stmt, &cx->err);
}

/* Nobody has to acknowledge a copy. */
static const char SQL_MESSAGE[] =
	"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, reply_to, subject,"
	" body_md, importance, ack_required, created_ts, attachments)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10, ?11)";

enum mr_code mr_team_share_put_message(struct mr_ctx *cx, struct mr_db *to, struct mr_arena *arena,
	const struct mr_team_message *message)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(to, SQL_MESSAGE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message->id);
	mr_stmt_bind_text(stmt, 2, message->uid);
	mr_stmt_bind_int(stmt, 3, message->project_id);
	mr_stmt_bind_int(stmt, 4, message->sender_id);
	mr_stmt_bind_text(stmt, 5, message->thread_id);
	if (message->reply_to)
		mr_stmt_bind_int(stmt, 6, message->reply_to);
	else
		mr_stmt_bind_null(stmt, 6);
	mr_stmt_bind_text(stmt, 7, message->subject);
	mr_stmt_bind_text(stmt, 8, message->body_md);
	mr_stmt_bind_text(stmt, 9, mr_team_importance_name(message->importance));
	mr_stmt_bind_text(stmt, 10, mr_time_format(arena, message->created_ts, MR_TIME_MICROS));
	mr_stmt_bind_text(stmt, 11, message->attachments);
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_RECIPIENT[] =
	"INSERT INTO message_recipients (message_id, agent_id, kind) VALUES (?1, ?2, ?3)";

enum mr_code mr_team_share_put_recipient(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_recipient *recipient)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(to, SQL_RECIPIENT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, recipient->message_id);
	mr_stmt_bind_int(stmt, 2, recipient->agent_id);
	mr_stmt_bind_text(stmt, 3, mr_team_kind_name(recipient->kind));
	return mr_stmt_run(stmt, &cx->err);
}

enum mr_code mr_team_share_finish(struct mr_ctx *cx, struct mr_db *to)
{
	enum mr_code rc = mr_db_search_create(to, &mr_team_search_index, &cx->err);

	if (!rc)
		rc = mr_db_search_rebuild(to, &mr_team_search_index, &cx->err);
	if (!rc)
		rc = mr_db_search_purge(to, &mr_team_search_index, &cx->err);
	if (!rc)
		rc = mr_db_compact(to, &cx->err);
	return rc;
}
