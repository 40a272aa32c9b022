/*
 * team/purge_sql.c - Finds the messages, threads, leases, links and slots that purging an agent
 * affects, and renumbers threads.
 */
#include "team/purge_sql.h"

#include "data/rows.h"
#include "team/message_sql.h"

#define GOT                                                                                        \
	" FROM message_recipients r JOIN messages m ON m.id = r.message_id AND m.sender_id <> ?1"

/* The messages that digests lose: what it sent, where it was sent and where it arrived, and what
 * came from elsewhere, perhaps for it alone. */
#define LOST                                                                                       \
	"SELECT project_id, thread_id, id FROM messages WHERE sender_id = ?1"                      \
	" UNION ALL SELECT o.project_id, m.thread_id, m.id FROM messages m"                        \
	" JOIN message_recipients r ON r.message_id = m.id AND r.kind <> 'bcc'"                    \
	" JOIN agents o ON o.id = r.agent_id AND o.project_id <> m.project_id"                     \
	" WHERE m.sender_id = ?1"                                                                  \
	" UNION ALL SELECT o.project_id, m.thread_id, m.id FROM agents o"                          \
	" JOIN message_recipients r ON r.agent_id = o.id AND r.kind <> 'bcc'"                      \
	" JOIN messages m ON m.id = r.message_id AND m.project_id <> o.project_id"                 \
	" WHERE o.id = ?1"
#define PLACES "SELECT count(*)" MR_TEAM_THREAD_FROM("s.project_id", "s.thread_id")

static const char *const sql_traces[] = {
	[MR_TEAM_TRACE_SENT] = "SELECT project_id, id, NULL, subject, created_ts FROM messages"
			       " WHERE sender_id = ?1 ORDER BY id" MR_ROWS_ALL,
	[MR_TEAM_TRACE_COPIES] =
		"SELECT a.project_id, m.id, a.name, m.subject, m.created_ts FROM messages m"
		" JOIN message_recipients r ON r.message_id = m.id JOIN agents a ON a.id = "
		"r.agent_id"
		" WHERE m.sender_id = ?1"
		" UNION ALL SELECT a.project_id, m.id, a.name, m.subject, m.created_ts" GOT
		" JOIN agents a ON a.id = r.agent_id WHERE r.agent_id = ?1" MR_ROWS_ALL,
	[MR_TEAM_TRACE_GOT] = "SELECT m.project_id, m.id, NULL, NULL, 0" GOT
			      " WHERE r.agent_id = ?1 ORDER BY m.id" MR_ROWS_ALL,
	[MR_TEAM_TRACE_ABROAD] =
		"SELECT DISTINCT a.project_id, m.id, NULL, NULL, 0" GOT
		" JOIN message_recipients o ON o.message_id = m.id AND o.agent_id <> ?1"
		" JOIN agents a ON a.id = o.agent_id AND a.project_id <> m.project_id"
		" WHERE r.agent_id = ?1 ORDER BY m.id" MR_ROWS_ALL,
	[MR_TEAM_TRACE_THREADS] =
		"SELECT s.project_id, (" PLACES " AND +t.id <= s.first), NULL, s.thread_id,"
		" (" PLACES ") FROM (SELECT l.project_id, l.thread_id, min(l.id) AS first FROM"
		" (" LOST ") l WHERE l.thread_id IS NOT NULL GROUP BY 1, 2) s" MR_ROWS_ALL,
	[MR_TEAM_TRACE_CONTACTS] =
		"SELECT a.project_id, a.id, a.name, NULL, 0 FROM agents a WHERE a.id IN"
		" (SELECT b_agent_id FROM agent_links WHERE a_agent_id = ?1 UNION"
		"  SELECT a_agent_id FROM agent_links WHERE b_agent_id = ?1)" MR_ROWS_ALL,
	[MR_TEAM_TRACE_SLOTS] = "SELECT DISTINCT project_id, 0, NULL, slot_name, 0"
				" FROM build_slots WHERE agent_id = ?1" MR_ROWS_ALL,
	[MR_TEAM_TRACE_LEASES] = "SELECT DISTINCT project_id, 0, NULL, path_pattern, 0"
				 " FROM file_reservations WHERE agent_id = ?1" MR_ROWS_ALL,
};

static enum mr_code read_trace(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_trace *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->project_id, &it->ref, &it->name, &it->text, &it->number));
	return MR_OK;
}

enum mr_code mr_team_purge_traces(struct mr_ctx *cx, struct mr_db *db, enum mr_team_trace_kind kind,
	int64_t agent_id, struct mr_team_traces *out)
{
	return mr_rows_list(cx, db, sql_traces[kind], MR_BIND(agent_id), read_trace, MR_LIST(out));
}

/* By way of unused numbers: no two messages of a thread may share one at any time. */
static const char SQL_MARK[] =
	"UPDATE messages SET thread_seq = -n.place FROM (SELECT id, row_number() OVER (ORDER BY"
	" thread_seq) AS place FROM messages WHERE project_id = ?1 AND thread_id = ?2) n"
	" WHERE messages.id = n.id";
static const char SQL_NUMBER[] = "UPDATE messages SET thread_seq = -thread_seq"
				 " WHERE project_id = ?1 AND thread_id = ?2";

enum mr_code mr_team_purge_renumber(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_MARK, MR_BIND(project_id, thread_id));

	return rc ? rc : mr_rows_run(cx, db, SQL_NUMBER, MR_BIND(project_id, thread_id));
}

static const char SQL_AT[] = "SELECT t.id, t.project_id" MR_TEAM_THREAD_FROM("?1",
	"?2") " ORDER BY t.id LIMIT 1 OFFSET ?3";

enum mr_code mr_team_purge_message_at(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id, int64_t place, int64_t *out, int64_t *out_home)
{
	return mr_rows_one(cx, db, SQL_AT, MR_BIND(project_id, thread_id, place - 1),
		MR_INTO(out, out_home), NULL);
}
