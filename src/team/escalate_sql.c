/* team/escalate_sql.c */
#include "team/escalate_sql.h"

/* From the index of acknowledgements that are due; the k-th time at 2^k times the TTL. */
const char mr_team_escalate_question[] =
	"SELECT m.id, m.project_id, m.subject, m.thread_id, s.name, m.created_ts,"
	" r.agent_id, a.project_id, a.name, coalesce(e.times, 0), coalesce(e.reservation_id, 0)"
	" FROM message_recipients r CROSS JOIN messages m CROSS JOIN agents a CROSS JOIN agents s"
	" LEFT JOIN ack_escalations e ON e.message_id = r.message_id AND e.agent_id = r.agent_id"
	" WHERE r.ack_due = 1 AND r.ack_ts IS NULL AND m.id = r.message_id"
	" AND a.id = r.agent_id AND a.is_active = 1 AND s.id = m.sender_id"
	" AND coalesce(e.times, 0) < 3"
	" AND ?1 - m.created_ts >= ?2 * (1 << coalesce(e.times, 0))"
	" ORDER BY m.created_ts, m.id, r.agent_id LIMIT ?3";

enum mr_code mr_team_escalate_due(struct mr_ctx *cx, struct mr_db *db, int64_t now, int64_t ttl_us,
	int64_t limit, struct mr_team_dues *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_dues dues = { mr_arena_array(cx->arena, (size_t)limit, sizeof(*dues.items)),
		0 };
	enum mr_code rc = mr_db_prepare(db, mr_team_escalate_question, &stmt, &cx->err);
	bool row;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, now);
	mr_stmt_bind_int(stmt, 2, ttl_us);
	mr_stmt_bind_int(stmt, 3, limit);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		dues.items[dues.len++] = (struct mr_team_due){
			.message_id = mr_stmt_int(stmt, 0),
			.message_project_id = mr_stmt_int(stmt, 1),
			.subject = mr_stmt_text(stmt, 2, cx->arena),
			.thread_id = mr_stmt_text(stmt, 3, cx->arena),
			.sender = mr_stmt_text(stmt, 4, cx->arena),
			.created_ts = mr_stmt_int(stmt, 5),
			.agent_id = mr_stmt_int(stmt, 6),
			.agent_project_id = mr_stmt_int(stmt, 7),
			.agent = mr_stmt_text(stmt, 8, cx->arena),
			.times = mr_stmt_int(stmt, 9),
			.reservation_id = mr_stmt_int(stmt, 10),
		};
	}
	if (!rc)
		*out = dues;
	return rc;
}

static const char SQL_PUT[] =
	"INSERT INTO ack_escalations (message_id, agent_id, times, reservation_id, updated_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (message_id, agent_id) DO UPDATE"
	" SET times = excluded.times, reservation_id = excluded.reservation_id,"
	" updated_ts = excluded.updated_ts";

enum mr_code mr_team_escalate_put(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_due *due, int64_t times, int64_t reservation_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_PUT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, due->message_id);
	mr_stmt_bind_int(stmt, 2, due->agent_id);
	mr_stmt_bind_int(stmt, 3, times);
	if (reservation_id)
		mr_stmt_bind_int(stmt, 4, reservation_id);
	mr_stmt_bind_int(stmt, 5, mr_clock_wall_us(cx->clock));
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_TAKE[] = "DELETE FROM ack_escalations WHERE message_id = ?1 AND agent_id = ?2"
			       " RETURNING coalesce(reservation_id, 0)";

enum mr_code mr_team_escalate_take(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, int64_t *out_reservation_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_TAKE, &stmt, &cx->err);
	int64_t id = 0;
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	mr_stmt_bind_int(stmt, 2, agent_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row)
		id = mr_stmt_int(stmt, 0);
	if (!rc)
		*out_reservation_id = id;
	return rc;
}
