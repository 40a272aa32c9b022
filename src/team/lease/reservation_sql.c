/* team/lease/reservation_sql.c */
#include "team/lease/reservation_sql.h"

#include "team/limits.h"

#include <string.h>

#define COLUMNS                                                                                    \
	"SELECT f.id, f.project_id, f.agent_id, a.name, f.path_pattern, f.exclusive, f.reason,"    \
	" f.origin, f.created_ts, f.expires_ts, f.released_ts, f.prefix, a.last_active_ts"         \
	" FROM file_reservations f JOIN agents a ON a.id = f.agent_id "
/* CROSS JOIN keeps the engine from beginning with the agents: leases are what we have an index on.
 */
#define NEAR_COLUMNS                                                                               \
	"SELECT f.id, f.project_id, f.agent_id, a.name, f.path_pattern, f.exclusive, f.reason,"    \
	" f.origin, f.created_ts, f.expires_ts, f.released_ts, f.prefix, a.last_active_ts"         \
	" FROM file_reservations f CROSS JOIN agents a"                                            \
	" WHERE a.id = f.agent_id AND f.project_id = ?1 AND f.released_ts IS NULL"                 \
	" AND f.expires_ts > ?2 AND f.agent_id <> ?3 "

static void push(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_lease_rows *out)
{
	if (out->len == out->cap) {
		size_t cap = out->cap ? out->cap * 2 : 16;
		struct mr_team_lease_row *more = mr_arena_array(cx->arena, cap, sizeof(*more));

		if (out->len)
			memcpy(more, out->items, out->len * sizeof(*more));
		out->items = more;
		out->cap = cap;
	}
	out->items[out->len++] = (struct mr_team_lease_row){
		.lease = { .id = mr_stmt_int(stmt, 0),
			.project_id = mr_stmt_int(stmt, 1),
			.agent_id = mr_stmt_int(stmt, 2),
			.agent = mr_stmt_text(stmt, 3, cx->arena),
			.path_pattern = mr_stmt_text(stmt, 4, cx->arena),
			.exclusive = mr_stmt_int(stmt, 5) != 0,
			.reason = mr_stmt_text(stmt, 6, cx->arena),
			.origin = mr_stmt_text(stmt, 7, cx->arena),
			.created_ts = mr_stmt_int(stmt, 8),
			.expires_ts = mr_stmt_int(stmt, 9),
			.released_ts = mr_stmt_int(stmt, 10) },
		.prefix = mr_stmt_text(stmt, 11, cx->arena),
		.holder_active_ts = mr_stmt_int(stmt, 12),
	};
}

static enum mr_code collect(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_lease_rows *out)
{
	enum mr_code rc;
	bool row;

	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row)
		push(cx, stmt, out);
	return rc;
}

static const char SQL_INSERT[] =
	"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix, exclusive,"
	" reason, origin, created_ts, expires_ts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

enum mr_code mr_team_lease_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_reservation *lease, const char *prefix, int64_t *out_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, lease->project_id);
	mr_stmt_bind_int(stmt, 2, lease->agent_id);
	mr_stmt_bind_text(stmt, 3, lease->path_pattern);
	mr_stmt_bind_text(stmt, 4, prefix);
	mr_stmt_bind_int(stmt, 5, lease->exclusive);
	mr_stmt_bind_text(stmt, 6, lease->reason);
	mr_stmt_bind_text(stmt, 7, lease->origin);
	mr_stmt_bind_int(stmt, 8, lease->created_ts);
	mr_stmt_bind_int(stmt, 9, lease->expires_ts);
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc)
		*out_id = mr_db_last_id(db);
	return rc;
}

static const char SQL_GET[] = COLUMNS "WHERE f.id = ?1";

enum mr_code mr_team_lease_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const struct mr_team_lease_row **out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_GET, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	rc = collect(cx, stmt, &rows);
	if (!rc)
		*out = rows.len ? &rows.items[0] : NULL;
	return rc;
}

static const char SQL_RELEASE[] =
	"UPDATE file_reservations SET released_ts = ?2 WHERE id = ?1 AND released_ts IS NULL";

enum mr_code mr_team_lease_set_released(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t released_ts, bool *changed)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_RELEASE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	mr_stmt_bind_int(stmt, 2, released_ts);
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc)
		*changed = mr_db_changes(db) > 0;
	return rc;
}

static const char SQL_RENEW[] = "UPDATE file_reservations SET expires_ts = ?2 WHERE id = ?1";

enum mr_code mr_team_lease_set_expiry(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t expires_ts)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_RENEW, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	mr_stmt_bind_int(stmt, 2, expires_ts);
	return mr_stmt_run(stmt, &cx->err);
}

/* One of the three statements below: ?1 to ?4 are theirs, then up to two texts. */
static enum mr_code find_near(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_team_lease_near *near, const char *from, const char *to,
	struct mr_team_lease_rows *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, near->project_id);
	mr_stmt_bind_int(stmt, 2, near->now);
	mr_stmt_bind_int(stmt, 3, near->but_agent_id);
	mr_stmt_bind_int(stmt, 4,
		(near->max ? near->max : MR_TEAM_LEASES_NEAR) - (int64_t)out->len);
	if (from)
		mr_stmt_bind_text(stmt, 5, from);
	if (to)
		mr_stmt_bind_text(stmt, 6, to);
	return collect(cx, stmt, out);
}

static const char SQL_AT[] = NEAR_COLUMNS "AND f.prefix = ?5 LIMIT ?4";

enum mr_code mr_team_lease_at(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *prefix, struct mr_team_lease_rows *out)
{
	return find_near(cx, db, SQL_AT, near, prefix, NULL, out);
}

static const char SQL_BELOW[] = NEAR_COLUMNS "AND f.prefix > ?5 AND f.prefix < ?6 LIMIT ?4";

enum mr_code mr_team_lease_below(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *prefix, struct mr_team_lease_rows *out)
{
	/* '0' is the character after '/'. */
	return find_near(cx, db, SQL_BELOW, near, mr_arena_printf(cx->arena, "%s/", prefix),
		mr_arena_printf(cx->arena, "%s0", prefix), out);
}

/* The prefix leads to the index of open leases, not to that of all there ever were. */
static const char SQL_ANYWHERE[] = NEAR_COLUMNS "AND f.prefix >= '' LIMIT ?4";

enum mr_code mr_team_lease_anywhere(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, struct mr_team_lease_rows *out)
{
	return find_near(cx, db, SQL_ANYWHERE, near, NULL, NULL, out);
}

static const char SQL_OF[] =
	COLUMNS "WHERE f.agent_id = ?1 AND f.released_ts IS NULL ORDER BY f.id DESC LIMIT ?2";

enum mr_code mr_team_lease_of(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id, int64_t limit,
	struct mr_team_lease_rows *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_OF, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	mr_stmt_bind_int(stmt, 2, limit);
	return collect(cx, stmt, out);
}

/* Expired ones are few, and wherever they are. */
static const char SQL_EXPIRED[] =
	COLUMNS "WHERE f.released_ts IS NULL AND f.expires_ts <= ?2 AND (?1 = 0 OR"
		" f.project_id = ?1) ORDER BY f.expires_ts, f.id LIMIT ?3";

enum mr_code mr_team_lease_expired(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, int64_t limit, struct mr_team_lease_rows *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_EXPIRED, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, now);
	mr_stmt_bind_int(stmt, 3, limit);
	return collect(cx, stmt, out);
}

static const char SQL_AHEAD[] =
	COLUMNS "WHERE f.released_ts IS NULL AND f.expires_ts > ?2 AND f.created_ts > ?2"
		" AND (?1 = 0 OR f.project_id = ?1) ORDER BY f.expires_ts DESC, f.id LIMIT ?3";

enum mr_code mr_team_lease_ahead(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t created_after, int64_t limit, struct mr_team_lease_rows *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_AHEAD, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, created_after);
	mr_stmt_bind_int(stmt, 3, limit);
	return collect(cx, stmt, out);
}

static const char SQL_SET_TIMES[] =
	"UPDATE file_reservations SET created_ts = ?2, expires_ts = ?3 WHERE id = ?1";

enum mr_code mr_team_lease_set_times(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t created_ts, int64_t expires_ts)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_SET_TIMES, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	mr_stmt_bind_int(stmt, 2, created_ts);
	mr_stmt_bind_int(stmt, 3, expires_ts);
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_IDLE[] =
	COLUMNS "WHERE f.released_ts IS NULL AND f.expires_ts > ?2 AND f.origin = 'agent'"
		" AND a.last_active_ts < ?3 AND (?1 = 0 OR f.project_id = ?1)"
		" ORDER BY a.last_active_ts, f.id LIMIT ?4";

enum mr_code mr_team_lease_idle(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, int64_t active_before, int64_t limit, struct mr_team_lease_rows *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_IDLE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, now);
	mr_stmt_bind_int(stmt, 3, active_before);
	mr_stmt_bind_int(stmt, 4, limit);
	return collect(cx, stmt, out);
}

static const char SQL_LIST[] = COLUMNS "WHERE f.id IN (SELECT id FROM file_reservations"
				       " WHERE project_id = ?1 AND id < ?4 ORDER BY id DESC"
				       " LIMIT ?2)"
				       " ORDER BY f.id";
static const char SQL_LIST_ACTIVE[] =
	COLUMNS "WHERE f.id IN (SELECT id FROM file_reservations WHERE project_id = ?1"
		" AND prefix >= '' AND released_ts IS NULL AND expires_ts > ?3 AND +id < ?4"
		" ORDER BY id DESC LIMIT ?2)"
		" ORDER BY f.id";

enum mr_code mr_team_lease_list(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, bool active_only, int64_t before, int64_t limit,
	struct mr_team_lease_rows *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc =
		mr_db_prepare(db, active_only ? SQL_LIST_ACTIVE : SQL_LIST, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, limit);
	if (active_only)
		mr_stmt_bind_int(stmt, 3, now);
	mr_stmt_bind_int(stmt, 4, before > 0 ? before : INT64_MAX);
	return collect(cx, stmt, out);
}

/* What it did with its newest mail tells enough: an inbox may be long. */
static const char SQL_MAIL_TS[] =
	"SELECT (SELECT created_ts FROM messages WHERE sender_id = ?1 ORDER BY id DESC LIMIT 1),"
	" max(r.read_ts), max(r.ack_ts) FROM"
	" (SELECT read_ts, ack_ts FROM message_recipients WHERE agent_id = ?1"
	"  ORDER BY message_id DESC LIMIT 500) r";

enum mr_code mr_team_lease_mail_ts(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_MAIL_TS, &stmt, &cx->err);
	int64_t newest = 0;
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	for (int i = 0; i < 3; i++) {
		if (mr_stmt_int(stmt, i) > newest)
			newest = mr_stmt_int(stmt, i);
	}
	*out = newest;
	return MR_OK;
}

const char *const mr_team_lease_questions[] = { SQL_GET, SQL_RELEASE, SQL_RENEW, SQL_AT, SQL_BELOW,
	SQL_ANYWHERE, SQL_OF, SQL_EXPIRED, SQL_IDLE, SQL_LIST, SQL_LIST_ACTIVE, SQL_MAIL_TS, NULL };
