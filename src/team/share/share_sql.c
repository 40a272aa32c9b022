/*
 * team/share/share_sql.c - Reads the messages to export, and writes the tables of the exported
 * database.
 */
#include "team/share/share_sql.h"

#include "data/rows.h"
#include "team/store/schema.h"
#include "text/time.h"

static const char SQL_MESSAGES[] =
	"SELECT id, uid, sender_id, thread_id, reply_to, subject, body_md, importance, created_ts,"
	" attachments FROM messages WHERE project_id = ?1 AND id > ?2 ORDER BY id LIMIT 1";

static enum mr_code read_message(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_message *it = to;
	const char *importance;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->uid, &it->sender_id, &it->thread_id, &it->reply_to,
			&it->subject, &it->body_md, &importance, &it->created_ts,
			&it->attachments));
	mr_team_importance_of(importance, &it->importance);
	return MR_OK;
}

/* One message at a time, each with an arena of its own: bodies may be long, and `visit` asks the
 * database, too. */
enum mr_code mr_team_share_messages(struct mr_ctx *cx, struct mr_db *from, int64_t project_id,
	mr_team_share_visit *visit, void *arg)
{
	enum mr_code rc = MR_OK;
	int64_t last = 0;
	bool found = true;

	while (!rc && found) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_arena *outer = cx->arena;
		struct mr_team_message message = { .project_id = project_id };

		cx->arena = arena;
		rc = mr_rows_first(cx, from, SQL_MESSAGES, MR_BIND(project_id, last), read_message,
			&message, &found);
		cx->arena = outer;
		if (!rc && found)
			rc = visit(arena, &message, arg);
		last = message.id;
	}
	return rc;
}

static const char SQL_RECIPIENTS[] =
	"SELECT r.message_id, r.agent_id, r.kind, a.name, a.project_id FROM message_recipients r"
	" JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id = ?1 AND r.kind <> 'bcc' ORDER BY r.kind DESC, "
	"a.name_fold, a.id" MR_ROWS_ALL;

static enum mr_code read_recipient(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_recipient *it = to;
	const char *kind;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->message_id, &it->agent_id, &kind, &it->name, &it->project_id));
	mr_team_kind_of(kind, &it->kind);
	return MR_OK;
}

enum mr_code mr_team_share_recipients(struct mr_ctx *cx, struct mr_arena *arena, struct mr_db *from,
	int64_t message_id, struct mr_team_recipients *out)
{
	struct mr_arena *outer = cx->arena;
	enum mr_code rc;

	cx->arena = arena;
	rc = mr_rows_list(cx, from, SQL_RECIPIENTS, MR_BIND(message_id), read_recipient,
		MR_LIST(out));
	cx->arena = outer;
	return rc;
}

static const char SQL_COUNT[] =
	"SELECT (SELECT count(*) FROM file_reservations WHERE project_id = ?1),"
	" (SELECT count(*) FROM agent_links WHERE a_project_id = ?1 OR b_project_id = ?1),"
	" (SELECT count(*) FROM messages m JOIN message_recipients r ON r.message_id = m.id"
	"  WHERE m.project_id = ?1 AND (r.read_ts IS NOT NULL OR r.ack_ts IS NOT NULL))";

enum mr_code mr_team_share_count(struct mr_ctx *cx, struct mr_db *from, int64_t project_id,
	struct mr_team_share_counts *out)
{
	return mr_rows_one(cx, from, SQL_COUNT, MR_BIND(project_id),
		MR_INTO(&out->reservations, &out->links, &out->read_states), NULL);
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
	/* Clients of the copy query these tables, too; they stay empty. */
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

static const char *time_of(struct mr_ctx *cx, int64_t time_us)
{
	return time_us ? mr_time_format(cx->arena, time_us, MR_TIME_MICROS) : NULL;
}

static const char SQL_PROJECT[] =
	"INSERT INTO projects (id, slug, human_key, created_at) VALUES (?1, ?2, ?3, ?4)";

enum mr_code mr_team_share_put_project(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_project *project)
{
	return mr_rows_run(cx, to, SQL_PROJECT,
		MR_BIND(project->id, project->slug, project->human_key,
			mr_time_format(cx->arena, project->created_at, MR_TIME_MICROS)));
}

static const char SQL_AGENT[] =
	"INSERT INTO agents (id, project_id, name, program, model, task_description, inception_ts,"
	" last_active_ts, attachments_policy, contact_policy, is_active, deleted_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

enum mr_code mr_team_share_put_agent(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_agent *agent)
{
	return mr_rows_run(cx, to, SQL_AGENT,
		MR_BIND(agent->id, agent->project_id, agent->name, agent->program, agent->model,
			agent->task_description, time_of(cx, agent->inception_ts),
			time_of(cx, agent->inception_ts),
			mr_team_attachments_policy_name(agent->attachments_policy),
			mr_team_contact_policy_name(agent->contact_policy), agent->is_active,
			time_of(cx, agent->deleted_ts)));
}

/* Nobody has to acknowledge a copy. */
static const char SQL_MESSAGE[] =
	"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, reply_to, subject,"
	" body_md, importance, ack_required, created_ts, attachments)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10, ?11)";

enum mr_code mr_team_share_put_message(struct mr_ctx *cx, struct mr_db *to, struct mr_arena *arena,
	const struct mr_team_message *message)
{
	return mr_rows_run(cx, to, SQL_MESSAGE,
		MR_BIND(message->id, message->uid, message->project_id, message->sender_id,
			message->thread_id, mr_bind_or_null(message->reply_to), message->subject,
			message->body_md, mr_team_importance_name(message->importance),
			mr_time_format(arena, message->created_ts, MR_TIME_MICROS),
			message->attachments));
}

static const char SQL_RECIPIENT[] =
	"INSERT INTO message_recipients (message_id, agent_id, kind) VALUES (?1, ?2, ?3)";

enum mr_code mr_team_share_put_recipient(struct mr_ctx *cx, struct mr_db *to,
	const struct mr_team_recipient *recipient)
{
	return mr_rows_run(cx, to, SQL_RECIPIENT,
		MR_BIND(recipient->message_id, recipient->agent_id,
			mr_team_kind_name(recipient->kind)));
}

/* The last thing of an agent that the copy has: reading is private, and leaves no trace in it. */
static const char SQL_ACTIVE[] =
	"UPDATE agents SET last_active_ts = n.newest FROM (SELECT sender_id, max(created_ts) AS"
	" newest FROM messages GROUP BY sender_id) n WHERE n.sender_id = agents.id"
	" AND n.newest > agents.last_active_ts";

enum mr_code mr_team_share_finish(struct mr_ctx *cx, struct mr_db *to)
{
	enum mr_code rc = mr_db_exec(to, SQL_ACTIVE, &cx->err);

	if (!rc)
		rc = mr_db_search_create(to, &mr_team_search_index, &cx->err);
	if (!rc)
		rc = mr_db_search_rebuild(to, &mr_team_search_index, &cx->err);
	if (!rc)
		rc = mr_db_search_purge(to, &mr_team_search_index, &cx->err);
	if (!rc)
		rc = mr_db_compact(to, &cx->err);
	return rc;
}
