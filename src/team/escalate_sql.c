/*
 * team/escalate_sql.c - Reads overdue acknowledgements, and records how often each has been
 * escalated.
 */
#include "team/escalate_sql.h"

#include "data/rows.h"

/* From the index of acknowledgements that are due; the k-th time at 2^k times the TTL. */
const char mr_team_escalate_question[] =
	"SELECT m.id, m.project_id, m.subject, m.thread_id, s.name, m.created_ts,"
	" r.agent_id, a.project_id, a.name, coalesce(e.times, 0), coalesce(e.reservation_id, 0)"
	" FROM message_recipients r CROSS JOIN messages m CROSS JOIN agents a CROSS JOIN agents s"
	" LEFT JOIN ack_escalations e ON e.message_id = r.message_id AND e.agent_id = r.agent_id"
	" WHERE r.ack_due = 1 AND r.ack_ts IS NULL AND m.id = r.message_id"
	" AND a.id = r.agent_id AND a.is_active = 1 AND s.id = m.sender_id"
	" AND coalesce(e.times, 0) < 3"
	" AND ?1 - m.created_ts >= CAST(?2 AS BIGINT) *"
	" CASE coalesce(e.times, 0) WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE 4 END"
	" ORDER BY m.created_ts, m.id, r.agent_id LIMIT ?3";

static enum mr_code read_due(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_due *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->message_id, &it->message_project_id, &it->subject, &it->thread_id,
			&it->sender, &it->created_ts, &it->agent_id, &it->agent_project_id,
			&it->agent, &it->times, &it->reservation_id));
	return MR_OK;
}

enum mr_code mr_team_escalate_due(struct mr_ctx *cx, struct mr_db *db, int64_t now, int64_t ttl_us,
	int64_t limit, struct mr_team_dues *out)
{
	return mr_rows_list(cx, db, mr_team_escalate_question, MR_BIND(now, ttl_us, limit),
		read_due, MR_LIST(out));
}

static const char SQL_PUT[] =
	"INSERT INTO ack_escalations (message_id, agent_id, times, reservation_id, updated_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (message_id, agent_id) DO UPDATE"
	" SET times = excluded.times, reservation_id = excluded.reservation_id,"
	" updated_ts = excluded.updated_ts";

enum mr_code mr_team_escalate_put(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_due *due, int64_t times, int64_t reservation_id)
{
	return mr_rows_run(cx, db, SQL_PUT,
		MR_BIND(due->message_id, due->agent_id, times, mr_bind_or_null(reservation_id),
			mr_clock_wall_us(cx->clock)));
}

static const char SQL_TAKE[] = "DELETE FROM ack_escalations WHERE message_id = ?1 AND agent_id = ?2"
			       " RETURNING coalesce(reservation_id, 0)";

enum mr_code mr_team_escalate_take(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, int64_t *out_reservation_id)
{
	return mr_rows_returning(cx, db, SQL_TAKE, MR_BIND(message_id, agent_id),
		MR_INTO(out_reservation_id), NULL);
}
