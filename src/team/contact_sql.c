/* team/contact_sql.c */
#include "team/contact_sql.h"

#include "team/limits.h"

#include <string.h>

#define LINK_COLUMNS                                                                               \
	"l.id, l.a_project_id, l.a_agent_id, l.b_project_id, l.b_agent_id, l.status,"              \
	" l.created_ts, l.updated_ts, l.expires_ts, l.notified_ts, l.unasked"
#define LINK_NAMES ", l.reason, ap.slug, a.name, bp.slug, b.name"
#define LINK_JOINS                                                                                 \
	" JOIN projects ap ON ap.id = l.a_project_id JOIN agents a ON a.id = l.a_agent_id"         \
	" JOIN projects bp ON bp.id = l.b_project_id JOIN agents b ON b.id = l.b_agent_id"

static struct mr_team_link_row read_link(struct mr_ctx *cx, struct mr_stmt *stmt)
{
	struct mr_team_link_row row = {
		.link = { .id = mr_stmt_int(stmt, 0),
			.a_project_id = mr_stmt_int(stmt, 1),
			.a_agent_id = mr_stmt_int(stmt, 2),
			.b_project_id = mr_stmt_int(stmt, 3),
			.b_agent_id = mr_stmt_int(stmt, 4),
			.status = MR_TEAM_PENDING,
			.created_ts = mr_stmt_int(stmt, 6),
			.updated_ts = mr_stmt_int(stmt, 7),
			.expires_ts = mr_stmt_int(stmt, 8) },
		.notified_ts = mr_stmt_int(stmt, 9),
		.unasked = mr_stmt_int(stmt, 10) != 0,
	};

	mr_team_link_status_of(mr_stmt_text(stmt, 5, cx->arena), &row.link.status);
	return row;
}

static struct mr_team_link_row read_named(struct mr_ctx *cx, struct mr_stmt *stmt)
{
	struct mr_team_link_row row = read_link(cx, stmt);

	row.link.reason = mr_stmt_text(stmt, 11, cx->arena);
	row.link.a_project = mr_stmt_text(stmt, 12, cx->arena);
	row.link.a_agent = mr_stmt_text(stmt, 13, cx->arena);
	row.link.b_project = mr_stmt_text(stmt, 14, cx->arena);
	row.link.b_agent = mr_stmt_text(stmt, 15, cx->arena);
	return row;
}

static const char SQL_PAIR[] =
	"SELECT " LINK_COLUMNS " FROM agent_links l WHERE a_agent_id = ?1 AND b_agent_id = ?2"
	" UNION ALL SELECT " LINK_COLUMNS
	" FROM agent_links l WHERE a_agent_id = ?2 AND b_agent_id = ?1";

enum mr_code mr_team_contact_pair(struct mr_ctx *cx, struct mr_db *db, int64_t x, int64_t y,
	struct mr_team_link_pair *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_link_pair pair = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_PAIR, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, x);
	mr_stmt_bind_int(stmt, 2, y);
	for (;;) {
		struct mr_team_link_row row;
		bool more = false;

		rc = mr_stmt_step(stmt, &more, &cx->err);
		if (rc)
			return rc;
		if (!more)
			break;
		row = read_link(cx, stmt);
		*(row.link.a_agent_id == x ? &pair.out : &pair.back) = row;
	}
	*out = pair;
	return MR_OK;
}

static const char SQL_GET[] =
	"SELECT " LINK_COLUMNS LINK_NAMES " FROM agent_links l" LINK_JOINS " WHERE l.id = ?1";

enum mr_code mr_team_contact_get(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_link_row *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_GET, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (!rc && *found)
		*out = read_named(cx, stmt);
	return rc;
}

static const char SQL_INSERT[] =
	"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, status,"
	" reason, created_ts, updated_ts, expires_ts, notified_ts, unasked)"
	" VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, ''), ?7, ?8, ?9, ?10, ?11)";
static const char SQL_UPDATE[] =
	"UPDATE agent_links SET a_project_id = ?1, a_agent_id = ?2, b_project_id = ?3,"
	" b_agent_id = ?4, status = ?5, reason = coalesce(?6, reason), created_ts = ?7,"
	" updated_ts = ?8, expires_ts = ?9, notified_ts = ?10, unasked = ?11 WHERE id = ?12";

static void bind_time(struct mr_stmt *stmt, int index, int64_t time_us)
{
	if (time_us)
		mr_stmt_bind_int(stmt, index, time_us);
	else
		mr_stmt_bind_null(stmt, index);
}

enum mr_code mr_team_contact_store(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_link_row *row)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_link *link = &row->link;
	enum mr_code rc = mr_db_prepare(db, link->id ? SQL_UPDATE : SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, link->a_project_id);
	mr_stmt_bind_int(stmt, 2, link->a_agent_id);
	mr_stmt_bind_int(stmt, 3, link->b_project_id);
	mr_stmt_bind_int(stmt, 4, link->b_agent_id);
	mr_stmt_bind_text(stmt, 5, mr_team_link_status_name(link->status));
	mr_stmt_bind_text(stmt, 6, link->reason);
	mr_stmt_bind_int(stmt, 7, link->created_ts);
	mr_stmt_bind_int(stmt, 8, link->updated_ts);
	bind_time(stmt, 9, link->expires_ts);
	bind_time(stmt, 10, row->notified_ts);
	mr_stmt_bind_int(stmt, 11, row->unasked);
	if (link->id)
		mr_stmt_bind_int(stmt, 12, link->id);
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc && !link->id)
		link->id = mr_db_last_id(db);
	return rc;
}

static const char SQL_ROWS[] =
	"SELECT " LINK_COLUMNS LINK_NAMES " FROM agent_links l" LINK_JOINS
	" WHERE (l.a_agent_id = ?1 OR l.b_agent_id = ?1) AND (?2 IS NULL OR l.status = ?2)"
	" ORDER BY l.updated_ts DESC, l.id DESC LIMIT ?3";

enum mr_code mr_team_contact_rows(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	const char *status, struct mr_team_links *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_links found = { NULL, 0 };
	size_t room = 0;
	enum mr_code rc = mr_db_prepare(db, SQL_ROWS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	mr_stmt_bind_text(stmt, 2, status);
	mr_stmt_bind_int(stmt, 3, MR_TEAM_LINKS);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row)
			break;
		if (found.len == room) {
			struct mr_team_link *more;

			room = room ? room * 2 : 16;
			more = mr_arena_array(cx->arena, room, sizeof(*more));
			if (found.len)
				memcpy(more, found.items, found.len * sizeof(*more));
			found.items = more;
		}
		found.items[found.len++] = read_named(cx, stmt).link;
	}
	*out = found;
	return MR_OK;
}

/* Is there a row at all? The statement is bound. */
static enum mr_code has_row(struct mr_ctx *cx, struct mr_stmt *stmt, bool *out)
{
	bool row = false;
	enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);

	if (!rc)
		*out = row;
	return rc;
}

static const char SQL_SENT[] =
	"SELECT 1 FROM messages m JOIN message_recipients r ON r.message_id = m.id"
	" WHERE m.id = ?1 AND m.sender_id = ?2 AND r.agent_id = ?3";

enum mr_code mr_team_contact_sent(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t author, int64_t receiver, bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_SENT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	mr_stmt_bind_int(stmt, 2, author);
	mr_stmt_bind_int(stmt, 3, receiver);
	return has_row(cx, stmt, out);
}

/* Ids grow with time, so the walk back can end at the first message that is too old. */
static const char SQL_WROTE[] = "SELECT m.created_ts, EXISTS (SELECT 1 FROM message_recipients r"
				" WHERE r.message_id = m.id AND r.agent_id = ?2)"
				" FROM messages m WHERE m.sender_id = ?1 ORDER BY m.id DESC";

enum mr_code mr_team_contact_wrote(struct mr_ctx *cx, struct mr_db *db, int64_t author,
	int64_t receiver, int64_t since, bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_WROTE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, author);
	mr_stmt_bind_int(stmt, 2, receiver);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row || mr_stmt_int(stmt, 0) < since) {
			*out = false;
			return MR_OK;
		}
		if (mr_stmt_int(stmt, 1)) {
			*out = true;
			return MR_OK;
		}
	}
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t number = 0;
	enum mr_code rc = mr_db_prepare(db, SQL_IN_THREAD, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_str_to_int(thread_id, &number);
	mr_stmt_bind_int(stmt, 1, project_a);
	mr_stmt_bind_int(stmt, 2, project_b);
	mr_stmt_bind_text(stmt, 3, thread_id);
	mr_stmt_bind_int(stmt, 4, agent);
	mr_stmt_bind_int(stmt, 5, number);
	return has_row(cx, stmt, out);
}
