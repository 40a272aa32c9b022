/* team/store/changes_sql.c */
#include "team/store/changes.h"

#include <string.h>

/* Both walk their primary keys from where one left off. */
static const char SQL_NEW[] = "SELECT id, project_id, thread_id FROM messages WHERE id > ?1"
			      " ORDER BY id LIMIT ?2";
static const char SQL_REACHED[] =
	"SELECT r.message_id, r.agent_id, a.project_id, r.kind = 'bcc'"
	" FROM message_recipients r CROSS JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id > ?1 AND r.message_id <= ?2 ORDER BY r.message_id";

static enum mr_code read_new(struct mr_ctx *cx, struct mr_db *db, int64_t after, int64_t limit,
	struct mr_team_changes *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_NEW, &stmt, &cx->err);

	if (rc)
		return rc;
	out->items = mr_arena_array(cx->arena, (size_t)limit, sizeof(*out->items));
	mr_stmt_bind_int(stmt, 1, after);
	mr_stmt_bind_int(stmt, 2, limit);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc || !row)
			return rc;
		out->items[out->len++] = (struct mr_team_new){
			.id = mr_stmt_int(stmt, 0),
			.project_id = mr_stmt_int(stmt, 1),
			.thread_id = mr_stmt_text(stmt, 2, cx->arena),
		};
	}
}

static void add_reached(struct mr_arena *arena, struct mr_team_new *message,
	struct mr_team_reached one)
{
	size_t len = message->reached_count;

	/* 1, 2, 4, ... rooms: a full one has a power of two. */
	if ((len & (len - 1)) == 0) {
		struct mr_team_reached *more =
			mr_arena_array(arena, len ? len * 2 : 1, sizeof(*more));

		if (len)
			memcpy(more, message->reached, len * sizeof(*more));
		message->reached = more;
	}
	message->reached[message->reached_count++] = one;
}

static enum mr_code read_reached(struct mr_ctx *cx, struct mr_db *db, int64_t after,
	struct mr_team_changes *news)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_REACHED, &stmt, &cx->err);
	size_t at = 0;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, after);
	mr_stmt_bind_int(stmt, 2, news->items[news->len - 1].id);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc || !row)
			return rc;
		while (at < news->len && news->items[at].id < mr_stmt_int(stmt, 0))
			at++;
		if (at == news->len)
			return MR_OK;
		if (news->items[at].id == mr_stmt_int(stmt, 0))
			add_reached(cx->arena, &news->items[at],
				(struct mr_team_reached){ mr_stmt_int(stmt, 1),
					mr_stmt_int(stmt, 2), mr_stmt_int(stmt, 3) != 0 });
	}
}

enum mr_code mr_team_changes_after(struct mr_ctx *cx, struct mr_db *db, int64_t after,
	int64_t limit, struct mr_team_changes *out)
{
	struct mr_team_changes news = { NULL, 0 };
	enum mr_code rc = read_new(cx, db, after, limit, &news);

	if (!rc && news.len)
		rc = read_reached(cx, db, after, &news);
	if (!rc)
		*out = news;
	return rc;
}

/* What is taken gets a new id; what is renewed or released changes the sum of the open ones, which
 * stand in an index of their own. */
static const char SQL_LEASES[] =
	"SELECT (SELECT COALESCE(max(id), 0) FROM file_reservations WHERE project_id = ?1),"
	" count(*), COALESCE(sum(expires_ts), 0) FROM file_reservations"
	" WHERE project_id = ?1 AND prefix >= '' AND released_ts IS NULL";

enum mr_code mr_team_changes_leases(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_LEASES, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	/* Multipliers that keep the three apart well enough; unsigned, for it may well go round. */
	if (!rc)
		*out = (int64_t)((uint64_t)mr_stmt_int(stmt, 0) * UINT64_C(0x9e3779b97f4a7c15) +
			(uint64_t)mr_stmt_int(stmt, 1) * UINT64_C(0xbf58476d1ce4e5b9) +
			(uint64_t)mr_stmt_int(stmt, 2));
	return rc;
}

/* An agent that goes does so by a change; there are never so many that counting would matter. */
static const char SQL_MEMBERS[] =
	"SELECT (SELECT COALESCE(max(id), 0) FROM projects), COALESCE(max(id), 0),"
	" COALESCE(sum(is_active), 0) FROM agents";

enum mr_code mr_team_changes_members(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_MEMBERS, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = (mr_stmt_int(stmt, 0) << 42) + (mr_stmt_int(stmt, 1) << 21) +
			mr_stmt_int(stmt, 2);
	return rc;
}
