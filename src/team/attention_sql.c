/* team/attention_sql.c - Queries for what needs a person, each bounded by its list's length. */
#include "team/attention_sql.h"

#include "data/rows.h"
#include "team/name.h"

#define OF_READERS(agent, who) "(CAST(" who " AS TEXT) IS NULL OR " agent " IN ids(" who "))"

enum { OVERSEERS = 1000 };

static const char SQL_PROJECTS[] = "SELECT count(*) FROM projects";

enum mr_code mr_team_attention_projects(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_PROJECTS, NULL, MR_INTO(out), NULL);
}

static const char SQL_OVERSEERS[] =
	"SELECT a.id, p.slug FROM agents a JOIN projects p ON p.id = a.project_id"
	" WHERE a.name_fold = ?1 AND a.is_active = 1 AND " OF_READERS("a.id",
		"?2") " AND EXISTS (SELECT 1 FROM message_recipients r"
		      "  WHERE r.agent_id = a.id AND r.read_ts IS NULL)"
		      " ORDER BY a.id LIMIT ?3";

static enum mr_code read_overseer(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_overseer_row *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->id, &it->project));
	return MR_OK;
}

enum mr_code mr_team_attention_overseers(struct mr_ctx *cx, struct mr_db *db, const char *readers,
	struct mr_team_overseers *out)
{
	const char *name = mr_str_lower(cx->arena, MR_TEAM_OVERSEER_NAME);

	return mr_rows_list(cx, db, SQL_OVERSEERS, MR_BIND(name, mr_bind_ids(readers), OVERSEERS),
		read_overseer, MR_LIST(out));
}

static const char SQL_REQUESTS[] =
	"SELECT l.id, l.a_project_id, l.a_agent_id, l.b_project_id, l.b_agent_id, l.reason,"
	" l.created_ts, l.updated_ts, l.expires_ts, ap.slug, a.name, bp.slug, b.name"
	" FROM agent_links l"
	" JOIN projects ap ON ap.id = l.a_project_id JOIN agents a ON a.id = l.a_agent_id"
	" JOIN projects bp ON bp.id = l.b_project_id JOIN agents b ON b.id = l.b_agent_id"
	" WHERE l.status = 'pending' AND (l.expires_ts IS NULL OR l.expires_ts > ?1)"
	" AND a.is_active = 1 AND b.is_active = 1"
	" AND (" OF_READERS("a.id", "?2") " OR " OF_READERS("b.id",
		"?2") ")"
		      " ORDER BY l.updated_ts DESC, l.id DESC LIMIT ?3";

static enum mr_code read_request(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_link *it = to;

	it->status = MR_TEAM_PENDING;
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->a_project_id, &it->a_agent_id, &it->b_project_id,
			&it->b_agent_id, &it->reason, &it->created_ts, &it->updated_ts,
			&it->expires_ts, &it->a_project, &it->a_agent, &it->b_project,
			&it->b_agent));
	return MR_OK;
}

enum mr_code mr_team_attention_requests(struct mr_ctx *cx, struct mr_db *db, const char *readers,
	int64_t now, struct mr_team_links *out)
{
	return mr_rows_list(cx, db, SQL_REQUESTS,
		MR_BIND(now, mr_bind_ids(readers), MR_TEAM_ATTENTION_ITEMS), read_request,
		MR_LIST(out));
}

/* The oldest that each agent owes is the first of its part of an index. */
static const char SQL_OWED[] =
	"SELECT p.slug, a.name, m.id, m.subject, s.name, m.created_ts"
	" FROM agents a JOIN projects p ON p.id = a.project_id"
	" JOIN messages m ON m.id = (SELECT min(r.message_id) FROM message_recipients r"
	"  WHERE r.agent_id = a.id AND r.ack_due = 1 AND r.ack_ts IS NULL)"
	" JOIN agents s ON s.id = m.sender_id"
	" WHERE a.is_active = 1 AND m.created_ts <= ?1 AND " OF_READERS("a.id",
		"?2") " ORDER BY m.created_ts, a.id LIMIT ?3";

static enum mr_code read_owed(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_owed *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->project, &it->agent, &it->message_id, &it->subject, &it->from,
			&it->created_ts));
	return MR_OK;
}

enum mr_code mr_team_attention_owed(struct mr_ctx *cx, struct mr_db *db, const char *readers,
	int64_t before, struct mr_team_attention *out)
{
	return mr_rows_list(cx, db, SQL_OWED,
		MR_BIND(before, mr_bind_ids(readers), MR_TEAM_ATTENTION_ITEMS), read_owed,
		MR_LIST(&out->owed));
}

static const char SQL_LEFT[] =
	"SELECT p.slug, f.id, f.project_id, f.agent_id, a.name, f.path_pattern, f.exclusive,"
	" f.reason, f.origin, f.created_ts, f.expires_ts, a.last_active_ts"
	" FROM file_reservations f JOIN agents a ON a.id = f.agent_id"
	" JOIN projects p ON p.id = f.project_id"
	" WHERE f.released_ts IS NULL AND f.expires_ts > ?1 AND f.origin = 'agent'"
	" AND a.last_active_ts < ?2 ORDER BY f.created_ts, f.id LIMIT ?3";

static enum mr_code read_left(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_left_lease *it = to;
	struct mr_team_reservation *lease = &it->lease;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->project, &lease->id, &lease->project_id, &lease->agent_id,
			&lease->agent, &lease->path_pattern, &lease->exclusive, &lease->reason,
			&lease->origin, &lease->created_ts, &lease->expires_ts,
			&it->last_active_ts));
	return MR_OK;
}

enum mr_code mr_team_attention_left(struct mr_ctx *cx, struct mr_db *db, int64_t now,
	int64_t before, struct mr_team_attention *out)
{
	return mr_rows_list(cx, db, SQL_LEFT, MR_BIND(now, before, MR_TEAM_ATTENTION_ITEMS),
		read_left, MR_LIST(&out->left));
}

/* What it wrote last is the end of its part of an index. */
static const char SQL_WORKING[] =
	"SELECT p.slug, a.id, a.project_id, a.name, a.program, a.model, a.task_description,"
	" a.inception_ts, a.last_active_ts, m.id, m.subject, m.created_ts,"
	" (SELECT count(*) FROM file_reservations f"
	"  WHERE f.agent_id = a.id AND f.released_ts IS NULL AND f.expires_ts > ?1)"
	" FROM (SELECT * FROM agents WHERE is_active = 1 AND is_system = 0"
	"  ORDER BY last_active_ts DESC, id DESC LIMIT ?3) a"
	" JOIN projects p ON p.id = a.project_id"
	" LEFT JOIN messages m ON m.id = (SELECT max(w.id) FROM messages w"
	"  WHERE w.sender_id = a.id) AND " OF_READERS("a.id",
		"?2") " ORDER BY a.last_active_ts DESC, a.id DESC LIMIT ?3";

static enum mr_code read_working(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_working *it = to;
	struct mr_team_agent *agent = &it->agent;

	agent->is_active = true;
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->project, &agent->id, &agent->project_id, &agent->name, &agent->program,
			&agent->model, &agent->task_description, &agent->inception_ts,
			&agent->last_active_ts, &it->message_id, &it->subject, &it->sent_ts,
			&it->leases));
	return MR_OK;
}

static const char SQL_PATHS[] =
	"SELECT path_pattern FROM file_reservations WHERE agent_id = ?1 AND released_ts IS NULL"
	" AND expires_ts > ?2 ORDER BY id DESC LIMIT ?3";

enum mr_code mr_team_attention_working(struct mr_ctx *cx, struct mr_db *db, const char *readers,
	int64_t now, struct mr_team_attention *out)
{
	enum mr_code rc = mr_rows_list(cx, db, SQL_WORKING,
		MR_BIND(now, mr_bind_ids(readers), MR_TEAM_ATTENTION_ITEMS), read_working,
		MR_LIST(&out->working));

	for (size_t i = 0; !rc && i < out->working.len; i++) {
		struct mr_team_working *it = &out->working.items[i];

		if (it->leases)
			rc = mr_rows_list(cx, db, SQL_PATHS,
				MR_BIND(it->agent.id, now, MR_TEAM_ATTENTION_PATHS), mr_row_text,
				MR_LIST(&it->paths));
	}
	return rc;
}
