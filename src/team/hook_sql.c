/*
 * team/hook_sql.c - Notes for which agents a client's session acts, finds the last agent of a work
 * tree, and lists the mail that an agent was not told of yet.
 */
#include "team/hook.h"

#include "data/rows.h"
#include "text/digest.h"

/* Sessions that were not seen for so long are forgotten. */
#define KEPT_US (INT64_C(30) * 24 * 3600 * 1000000)

static const char *digest_of(struct mr_ctx *cx, const char *session)
{
	return mr_digest_sha256(cx->arena, mr_bytes_text(session));
}

#define AGENT_COLUMNS "a.id, a.project_id, a.name, p.human_key"

static enum mr_code read_agent(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_hook_agent *agent = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&agent->id, &agent->project_id, &agent->name, &agent->project));
	return MR_OK;
}

static const char SQL_AGENTS[] =
	"SELECT " AGENT_COLUMNS " FROM hook_sessions h JOIN agents a ON a.id = h.agent_id"
	" JOIN projects p ON p.id = a.project_id"
	" WHERE h.session = ?1 AND a.is_active = 1 AND (?2 = 0 OR a.project_id = ?2)"
	" ORDER BY h.noted_ts DESC, a.id DESC LIMIT ?3";

enum mr_code mr_team_hook_agents(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *session, struct mr_team_hook_agents *out)
{
	return mr_rows_list(cx, db, SQL_AGENTS,
		MR_BIND(digest_of(cx, session), project_id, MR_TEAM_HOOK_AGENTS), read_agent,
		MR_LIST(out));
}

static const char SQL_LAST[] =
	"SELECT " AGENT_COLUMNS " FROM agent_sessions s JOIN agents a ON a.id = s.agent_id"
	" JOIN projects p ON p.id = a.project_id"
	" WHERE s.project_id = ?1 AND s.place = ?2 AND a.is_active = 1"
	" AND (?3 = 0 OR s.ended_ts IS NOT NULL)"
	" ORDER BY s.started_ts DESC, s.agent_id DESC LIMIT 1";

enum mr_code mr_team_hook_last(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *place, bool ended_only, struct mr_team_hook_agent *out)
{
	*out = (struct mr_team_hook_agent){ 0 };
	return mr_rows_first(cx, db, SQL_LAST, MR_BIND(project_id, place, ended_only), read_agent,
		out, NULL);
}

static const char SQL_NOTE[] =
	"INSERT INTO hook_sessions (session, agent_id, noted_ts) VALUES (?1, ?2, ?3)"
	" ON CONFLICT (session, agent_id) DO UPDATE SET noted_ts = excluded.noted_ts";
static const char SQL_FORGET[] = "DELETE FROM hook_sessions WHERE noted_ts < ?1";
static const char SQL_FORGET_WARNED[] = "DELETE FROM hook_warnings WHERE warned_ts < ?1";

enum mr_code mr_team_hook_note(struct mr_ctx *cx, struct mr_db *db, const char *session,
	int64_t agent_id)
{
	int64_t now = mr_clock_wall_us(cx->clock);
	enum mr_code rc =
		mr_rows_run(cx, db, SQL_NOTE, MR_BIND(digest_of(cx, session), agent_id, now));

	if (!rc)
		rc = mr_rows_run(cx, db, SQL_FORGET, MR_BIND(now - KEPT_US));
	return rc ? rc : mr_rows_run(cx, db, SQL_FORGET_WARNED, MR_BIND(now - KEPT_US));
}

static const char SQL_WARNED[] = "SELECT 1 FROM hook_warnings WHERE session = ?1";

enum mr_code mr_team_hook_is_warned(struct mr_ctx *cx, struct mr_db *db, const char *session,
	bool *out)
{
	return mr_rows_exist(cx, db, SQL_WARNED, MR_BIND(digest_of(cx, session)), out);
}

static const char SQL_WARN[] = "INSERT INTO hook_warnings (session, warned_ts) VALUES (?1, ?2)"
			       " ON CONFLICT (session) DO NOTHING";

enum mr_code mr_team_hook_warn(struct mr_ctx *cx, struct mr_db *db, const char *session,
	bool *first)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_WARN,
		MR_BIND(digest_of(cx, session), mr_clock_wall_us(cx->clock)));

	*first = !rc && mr_db_changes(db) > 0;
	return rc;
}

/* An agent that another session has taken up since goes on. */
static const char SQL_END[] =
	"UPDATE agent_sessions SET ended_ts = ?2 WHERE ended_ts IS NULL AND agent_id IN"
	" (SELECT h.agent_id FROM hook_sessions h WHERE h.session = ?1 AND NOT EXISTS"
	"  (SELECT 1 FROM hook_sessions o WHERE o.agent_id = h.agent_id"
	"   AND o.session <> h.session AND o.noted_ts > h.noted_ts))";

enum mr_code mr_team_hook_end(struct mr_ctx *cx, struct mr_db *db, const char *session)
{
	return mr_rows_run(cx, db, SQL_END,
		MR_BIND(digest_of(cx, session), mr_clock_wall_us(cx->clock)));
}

/* ?1 agent, ?2 how many. */
#define UNTOLD                                                                                     \
	"(SELECT r.message_id, r.urgent FROM message_recipients r WHERE r.agent_id = ?1"           \
	" AND r.read_ts IS NULL AND r.message_id >"                                                \
	"  coalesce((SELECT t.message_id FROM hook_told t WHERE t.agent_id = ?1), 0)"              \
	" ORDER BY r.message_id DESC LIMIT ?2) u"
static const char SQL_NEWS[] =
	"SELECT count(*), coalesce(sum(u.urgent), 0), coalesce(max(u.message_id), 0) FROM " UNTOLD;
static const char SQL_SENDERS[] =
	"SELECT s.name FROM " UNTOLD " JOIN messages m ON m.id = u.message_id"
	" JOIN agents s ON s.id = m.sender_id GROUP BY s.id ORDER BY max(m.id) DESC LIMIT ?3";

static enum mr_code read_name(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_stmt_into(row, 0, cx->arena, MR_INTO((const char **)to));
	return MR_OK;
}

enum mr_code mr_team_hook_news(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_hook_news *out)
{
	struct mr_team_hook_news news = { 0 };
	enum mr_code rc = mr_rows_one(cx, db, SQL_NEWS, MR_BIND(agent_id, MR_TEAM_HOOK_NEWS),
		MR_INTO(&news.count, &news.urgent, &news.newest), NULL);

	if (!rc && news.count)
		rc = mr_rows_list(cx, db, SQL_SENDERS,
			MR_BIND(agent_id, MR_TEAM_HOOK_NEWS, MR_TEAM_HOOK_SENDERS), read_name,
			MR_LIST(&news.from));
	if (!rc)
		*out = news;
	return rc;
}

static const char SQL_TOLD[] =
	"INSERT INTO hook_told (agent_id, message_id) VALUES (?1, ?2)"
	" ON CONFLICT (agent_id) DO UPDATE SET message_id = excluded.message_id"
	" WHERE excluded.message_id > hook_told.message_id";

enum mr_code mr_team_hook_told(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t message_id)
{
	return mr_rows_run(cx, db, SQL_TOLD, MR_BIND(agent_id, message_id));
}
