/*
 * team/session_sql.c - Notes which session an agent has, finds the agent that a session had, and
 * lists the leases that ended sessions left.
 */
#include "data/rows.h"
#include "team/limits.h"
#include "team/session.h"
#include "text/digest.h"

/* Whoever knows the id of a session of MCP can use it, so it is not kept itself. */
static const char *digest_of(struct mr_ctx *cx, const char *id)
{
	return id ? mr_digest_sha256(cx->arena, mr_bytes_text(id)) : "";
}

static const char SQL_BY_ID[] =
	"SELECT s.agent_id FROM agent_sessions s JOIN agents a ON a.id = s.agent_id"
	" WHERE s.project_id = ?1 AND s.session = ?2 AND a.is_active = 1"
	" ORDER BY s.started_ts DESC, s.agent_id DESC LIMIT 1";
static const char SQL_BY_PLACE[] =
	"SELECT s.agent_id FROM agent_sessions s JOIN agents a ON a.id = s.agent_id"
	" WHERE s.project_id = ?1 AND s.place = ?2 AND a.is_active = 1"
	" AND lower(a.program) = lower(?3)"
	" AND (s.ended_ts IS NOT NULL OR a.last_active_ts < ?4)"
	" ORDER BY s.started_ts DESC, s.agent_id DESC LIMIT 1";

enum mr_code mr_team_session_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const struct mr_team_session *session, const char *program, int64_t silent_since,
	int64_t *out_id, const char **why)
{
	enum mr_code rc = MR_OK;

	*out_id = 0;
	*why = "it had this session before";
	if (session->id)
		rc = mr_rows_one(cx, db, SQL_BY_ID, MR_BIND(project_id, digest_of(cx, session->id)),
			MR_INTO(out_id), NULL);
	if (rc || *out_id || !session->place)
		return rc;
	*why = mr_arena_printf(cx->arena,
		"it was the last one of %s in %s, and is not at work any more", program,
		session->place);
	return mr_rows_one(cx, db, SQL_BY_PLACE,
		MR_BIND(project_id, session->place, program, silent_since), MR_INTO(out_id), NULL);
}

static const char SQL_STORE[] =
	"INSERT INTO agent_sessions (agent_id, project_id, session, place, started_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (agent_id) DO UPDATE SET"
	" session = excluded.session, place = excluded.place, started_ts = excluded.started_ts,"
	" ended_ts = NULL";

enum mr_code mr_team_session_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, const struct mr_team_session *session)
{
	return mr_rows_run(cx, db, SQL_STORE,
		MR_BIND(agent->id, agent->project_id, digest_of(cx, session->id),
			session->place ? session->place : "", mr_clock_wall_us(cx->clock)));
}

static const char SQL_END[] =
	"UPDATE agent_sessions SET ended_ts = ?2 WHERE session = ?1 AND ended_ts IS NULL";

static enum mr_code end(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const char *digest = arg;

	return mr_rows_run(cx, db, SQL_END, MR_BIND(digest, mr_clock_wall_us(cx->clock)));
}

enum mr_code mr_team_session_end(struct mr_ctx *cx, struct mr_team *team, const char *id)
{
	return mr_team_write(cx, team, end, NULL, mr_arena_strdup(cx->arena, digest_of(cx, id)));
}

static const char SQL_ENDED[] =
	"SELECT 1 FROM agent_sessions WHERE agent_id = ?1 AND ended_ts IS NOT NULL";

enum mr_code mr_team_session_has_ended(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	bool *out)
{
	return mr_rows_exist(cx, db, SQL_ENDED, MR_BIND(agent_id), out);
}

enum { LEFT_MAX = 50 };
static const char SQL_LEFT[] =
	"SELECT f.id, f.project_id, f.agent_id, a.name, f.path_pattern, f.exclusive, f.reason,"
	" f.created_ts, f.expires_ts FROM agent_sessions me"
	" JOIN agent_sessions s ON s.project_id = me.project_id AND s.place = me.place"
	"  AND s.agent_id <> me.agent_id AND s.ended_ts IS NOT NULL"
	" JOIN agents a ON a.id = s.agent_id"
	" JOIN file_reservations f ON f.agent_id = s.agent_id AND f.released_ts IS NULL"
	"  AND f.expires_ts > ?2"
	" WHERE me.agent_id = ?1 AND me.place <> '' ORDER BY f.id LIMIT ?3";

static enum mr_code read_left(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_reservation *it = to;

	*it = (struct mr_team_reservation){ 0 };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->project_id, &it->agent_id, &it->agent, &it->path_pattern,
			&it->exclusive, &it->reason, &it->created_ts, &it->expires_ts));
	return MR_OK;
}

enum mr_code mr_team_session_left(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_agent *agent, struct mr_team_reservations *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc
		  : mr_rows_list(cx, reader.db, SQL_LEFT,
			    MR_BIND(agent->id, mr_clock_wall_us(cx->clock), LEFT_MAX), read_left,
			    MR_LIST(out));
}
