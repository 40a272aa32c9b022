/*
 * team/contact_sql.c - Reads and writes contact links, and answers the queries that a contact
 * decision needs.
 */
#include "team/contact_sql.h"

#include "data/rows.h"
#include "team/limits.h"

#define LINK_COLUMNS                                                                               \
	"l.id, l.a_project_id, l.a_agent_id, l.b_project_id, l.b_agent_id, l.status,"              \
	" l.created_ts, l.updated_ts, l.expires_ts, l.notified_ts, l.unasked"
#define LINK_COLUMN_COUNT 11
#define LINK_NAMES        ", l.reason, ap.slug, a.name, bp.slug, b.name"
#define LINK_JOINS                                                                                 \
	" JOIN projects ap ON ap.id = l.a_project_id JOIN agents a ON a.id = l.a_agent_id"         \
	" JOIN projects bp ON bp.id = l.b_project_id JOIN agents b ON b.id = l.b_agent_id"

static void read_link(struct mr_ctx *cx, struct mr_stmt *row, struct mr_team_link_row *out)
{
	struct mr_team_link *link = &out->link;
	const char *status;

	*out = (struct mr_team_link_row){ .link = { .status = MR_TEAM_PENDING } };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&link->id, &link->a_project_id, &link->a_agent_id, &link->b_project_id,
			&link->b_agent_id, &status, &link->created_ts, &link->updated_ts,
			&link->expires_ts, &out->notified_ts, &out->unasked));
	mr_team_link_status_of(status, &link->status);
}

static enum mr_code read_named(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_link_row *it = to;
	struct mr_team_link *link = &it->link;

	read_link(cx, row, it);
	mr_stmt_into(row, LINK_COLUMN_COUNT, cx->arena,
		MR_INTO(&link->reason, &link->a_project, &link->a_agent, &link->b_project,
			&link->b_agent));
	return MR_OK;
}

static const char SQL_PAIR[] =
	"SELECT " LINK_COLUMNS " FROM agent_links l WHERE a_agent_id = ?1 AND b_agent_id = ?2"
	" UNION ALL SELECT " LINK_COLUMNS
	" FROM agent_links l WHERE a_agent_id = ?2 AND b_agent_id = ?1";

struct pair {
	int64_t x;
	struct mr_team_link_pair links;
};

static enum mr_code read_pair(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct pair *pair = to;
	struct mr_team_link_row link;

	read_link(cx, row, &link);
	*(link.link.a_agent_id == pair->x ? &pair->links.out : &pair->links.back) = link;
	return MR_OK;
}

enum mr_code mr_team_contact_pair(struct mr_ctx *cx, struct mr_db *db, int64_t x, int64_t y,
	struct mr_team_link_pair *out)
{
	struct pair pair = { .x = x };
	enum mr_code rc = mr_rows_each(cx, db, SQL_PAIR, MR_BIND(x, y), read_pair, &pair);

	if (!rc)
		*out = pair.links;
	return rc;
}

static const char SQL_GET[] =
	"SELECT " LINK_COLUMNS LINK_NAMES " FROM agent_links l" LINK_JOINS " WHERE l.id = ?1";

enum mr_code mr_team_contact_get(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_link_row *out)
{
	return mr_rows_first(cx, db, SQL_GET, MR_BIND(id), read_named, out, found);
}

static const char SQL_INSERT[] =
	"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, status,"
	" reason, created_ts, updated_ts, expires_ts, notified_ts, unasked)"
	" VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, ''), ?7, ?8, ?9, ?10, ?11) RETURNING id";
static const char SQL_UPDATE[] =
	"UPDATE agent_links SET a_project_id = ?1, a_agent_id = ?2, b_project_id = ?3,"
	" b_agent_id = ?4, status = ?5, reason = coalesce(?6, reason), created_ts = ?7,"
	" updated_ts = ?8, expires_ts = ?9, notified_ts = ?10, unasked = ?11 WHERE id = ?12";

enum mr_code mr_team_contact_store(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_link_row *row)
{
	struct mr_team_link *link = &row->link;
	/* An insert has no ?12. */
	struct mr_bind id = link->id ? mr_bind_int(link->id) : (struct mr_bind){ MR_BIND_END };
	const struct mr_bind *values = MR_BIND(link->a_project_id, link->a_agent_id,
		link->b_project_id, link->b_agent_id, mr_team_link_status_name(link->status),
		link->reason, link->created_ts, link->updated_ts, mr_bind_or_null(link->expires_ts),
		mr_bind_or_null(row->notified_ts), row->unasked, id);

	if (link->id)
		return mr_rows_run(cx, db, SQL_UPDATE, values);
	return mr_rows_returning(cx, db, SQL_INSERT, values, MR_INTO(&link->id), NULL);
}

static const char SQL_ROWS[] = "SELECT " LINK_COLUMNS LINK_NAMES " FROM agent_links l" LINK_JOINS
			       " WHERE (l.a_agent_id = ?1 OR l.b_agent_id = ?1) AND (CAST(?2 AS "
			       "TEXT) IS NULL OR l.status = ?2)"
			       " ORDER BY l.updated_ts DESC, l.id DESC LIMIT ?3";

static enum mr_code read_listed(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_link_row link;
	enum mr_code rc = read_named(cx, row, &link);

	*(struct mr_team_link *)to = link.link;
	return rc;
}

enum mr_code mr_team_contact_rows(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	const char *status, struct mr_team_links *out)
{
	return mr_rows_list(cx, db, SQL_ROWS, MR_BIND(agent_id, status, MR_TEAM_LINKS), read_listed,
		MR_LIST(out));
}

static const char SQL_PROJECT_ROWS[] =
	"SELECT " LINK_COLUMNS LINK_NAMES " FROM agent_links l" LINK_JOINS
	" WHERE (l.a_project_id = ?1 OR l.b_project_id = ?1) AND (CAST(?2 AS TEXT) IS NULL OR"
	" l.status = ?2) ORDER BY l.updated_ts DESC, l.id DESC LIMIT ?3";

enum mr_code mr_team_contact_project_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *status, struct mr_team_links *out)
{
	return mr_rows_list(cx, db, SQL_PROJECT_ROWS, MR_BIND(project_id, status, MR_TEAM_LINKS),
		read_listed, MR_LIST(out));
}

static const char SQL_SENT[] =
	"SELECT 1 FROM messages m JOIN message_recipients r ON r.message_id = m.id"
	" WHERE m.id = ?1 AND m.sender_id = ?2 AND r.agent_id = ?3";

enum mr_code mr_team_contact_sent(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t author, int64_t receiver, bool *out)
{
	return mr_rows_exist(cx, db, SQL_SENT, MR_BIND(message_id, author, receiver), out);
}

enum { WALK = 64 }; /* messages that are asked for at a time */
/* Ids grow with time, so the walk back can end at the first message that is too old. */
static const char SQL_WROTE[] =
	"SELECT m.id, m.created_ts, EXISTS (SELECT 1 FROM message_recipients r"
	" WHERE r.message_id = m.id AND r.agent_id = ?2)"
	" FROM messages m WHERE m.sender_id = ?1 AND m.id < ?3 ORDER BY m.id DESC LIMIT ?4";

enum mr_code mr_team_contact_wrote(struct mr_ctx *cx, struct mr_db *db, int64_t author,
	int64_t receiver, int64_t since, bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_WROTE, &stmt, &cx->err);
	int64_t id = INT64_MAX, created = since, walked = 0;
	bool row = !rc, wrote = false;

	for (; row && !wrote && created >= since; walked++) {
		if (walked % WALK == 0) {
			mr_stmt_reset(stmt);
			mr_stmt_bind(stmt, 1, MR_BIND(author, receiver, id, WALK));
		}
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (row)
			mr_stmt_into(stmt, 0, NULL, MR_INTO(&id, &created, &wrote));
	}
	if (!rc)
		*out = wrote && created >= since;
	return rc;
}

/* A thread whose name is a number begins with the message of that id, which has no thread. */
static const char SQL_IN_THREAD[] =
	"SELECT 1 FROM messages m WHERE m.project_id IN (?1, ?2) AND m.thread_id = ?3"
	" AND (m.sender_id = ?4 OR EXISTS (SELECT 1 FROM message_recipients r"
	" WHERE r.message_id = m.id AND r.agent_id = ?4))"
	" UNION ALL SELECT 1 FROM messages m WHERE m.id = ?5 AND m.project_id IN (?1, ?2)"
	" AND (m.sender_id = ?4 OR EXISTS (SELECT 1 FROM message_recipients r"
	" WHERE r.message_id = m.id AND r.agent_id = ?4)) LIMIT 1";

enum mr_code mr_team_contact_in_thread(struct mr_ctx *cx, struct mr_db *db, int64_t project_a,
	int64_t project_b, const char *thread_id, int64_t agent, bool *out)
{
	int64_t number = 0;

	mr_str_to_int(thread_id, &number);
	return mr_rows_exist(cx, db, SQL_IN_THREAD,
		MR_BIND(project_a, project_b, thread_id, agent, number), out);
}
