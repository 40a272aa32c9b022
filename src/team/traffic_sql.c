/* team/traffic_sql.c - The SQL that counts pairs of senders and recipients. */
#include "team/traffic_sql.h"

#include "data/rows.h"

#define RECENT                                                                                     \
	" (SELECT id, sender_id, project_id, created_ts FROM messages WHERE project_id = ?1"       \
	" ORDER BY id DESC LIMIT ?2) m"

static const char SQL_SPAN[] = "SELECT count(*), COALESCE(min(m.created_ts), 0) FROM" RECENT;

static const char SQL_PAIRS[] =
	"SELECT s.name, sp.slug, a.name, ap.slug, t.messages, t.last_ts FROM"
	" (SELECT m.sender_id, r.agent_id, count(*) AS messages, max(m.created_ts) AS last_ts FROM" RECENT
	"  JOIN message_recipients r ON r.message_id = m.id"
	"  WHERE CAST(?3 AS TEXT) IS NULL OR m.sender_id IN ids(?3) OR r.agent_id IN ids(?3)"
	"  GROUP BY m.sender_id, r.agent_id ORDER BY messages DESC, last_ts DESC, m.sender_id,"
	"  r.agent_id LIMIT ?4) t"
	" JOIN agents s ON s.id = t.sender_id JOIN projects sp ON sp.id = s.project_id"
	" JOIN agents a ON a.id = t.agent_id JOIN projects ap ON ap.id = a.project_id"
	" ORDER BY t.messages DESC, t.last_ts DESC, s.id, a.id LIMIT ?4";

static enum mr_code read_pair(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_traffic_pair *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->from, &it->from_project, &it->to, &it->to_project, &it->messages,
			&it->last_ts));
	return MR_OK;
}

enum mr_code mr_team_traffic_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *readers, int64_t limit, struct mr_team_traffic *out)
{
	enum mr_code rc;

	*out = (struct mr_team_traffic){ 0 };
	rc = mr_rows_one(cx, db, SQL_SPAN, MR_BIND(project_id, limit),
		MR_INTO(&out->messages, &out->since_ts), NULL);
	return rc ? rc
		  : mr_rows_list(cx, db, SQL_PAIRS,
			    MR_BIND(project_id, limit, mr_bind_ids(readers), MR_TEAM_TRAFFIC_PAIRS),
			    read_pair, MR_LIST(&out->pairs));
}

static const char SQL_NEXT[] =
	"SELECT id, created_ts FROM messages WHERE id >= ?1 ORDER BY id LIMIT 1";

enum mr_code mr_team_traffic_next(struct mr_ctx *cx, struct mr_db *db, int64_t from, int64_t *id,
	int64_t *created_ts)
{
	return mr_rows_one(cx, db, SQL_NEXT, MR_BIND(from), MR_INTO(id, created_ts), NULL);
}

static const char SQL_END[] = "SELECT COALESCE(max(id), 0) + 1 FROM messages";

enum mr_code mr_team_traffic_end(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_END, NULL, MR_INTO(out), NULL);
}
