/*
 * team/lease/reservation_sql.c - Reads and writes the rows of file_reservations: by pattern
 * prefix, by agent, by expiry.
 */
#include "team/lease/reservation_sql.h"

#include "data/rows.h"
#include "team/limits.h"

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

static enum mr_code read_lease(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_lease_row *it = to;
	struct mr_team_reservation *lease = &it->lease;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&lease->id, &lease->project_id, &lease->agent_id, &lease->agent,
			&lease->path_pattern, &lease->exclusive, &lease->reason, &lease->origin,
			&lease->created_ts, &lease->expires_ts, &lease->released_ts, &it->prefix,
			&it->holder_active_ts));
	return MR_OK;
}

static enum mr_code collect(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, struct mr_team_lease_rows *out)
{
	return mr_rows_append(cx, db, sql, values, read_lease, MR_LIST(out));
}

static const char SQL_INSERT[] =
	"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix, exclusive,"
	" reason, origin, created_ts, expires_ts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
	"RETURNING id";

enum mr_code mr_team_lease_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_reservation *lease, const char *prefix, int64_t *out_id)
{
	return mr_rows_returning(cx, db, SQL_INSERT,
		MR_BIND(lease->project_id, lease->agent_id, lease->path_pattern, prefix,
			lease->exclusive, lease->reason, lease->origin, lease->created_ts,
			lease->expires_ts),
		MR_INTO(out_id), NULL);
}

static const char SQL_GET[] = COLUMNS "WHERE f.id = ?1";

enum mr_code mr_team_lease_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const struct mr_team_lease_row **out)
{
	struct mr_team_lease_row *row = mr_arena_alloc(cx->arena, sizeof(*row));
	bool found;
	enum mr_code rc = mr_rows_first(cx, db, SQL_GET, MR_BIND(id), read_lease, row, &found);

	if (!rc)
		*out = found ? row : NULL;
	return rc;
}

static const char SQL_RELEASE[] =
	"UPDATE file_reservations SET released_ts = ?2 WHERE id = ?1 AND released_ts IS NULL";

enum mr_code mr_team_lease_set_released(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t released_ts, bool *changed)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_RELEASE, MR_BIND(id, released_ts));

	if (!rc)
		*changed = mr_db_changes(db) > 0;
	return rc;
}

static const char SQL_RENEW[] = "UPDATE file_reservations SET expires_ts = ?2 WHERE id = ?1";

enum mr_code mr_team_lease_set_expiry(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t expires_ts)
{
	return mr_rows_run(cx, db, SQL_RENEW, MR_BIND(id, expires_ts));
}

/* How many rows the statements below may add: ?4 of each. */
static int64_t room(const struct mr_team_lease_near *near, const struct mr_team_lease_rows *rows)
{
	return (near->max ? near->max : MR_TEAM_LEASES_NEAR) - (int64_t)rows->len;
}

static const char SQL_AT[] = NEAR_COLUMNS "AND f.prefix = ?5 LIMIT ?4";

enum mr_code mr_team_lease_at(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *prefix, struct mr_team_lease_rows *out)
{
	return collect(cx, db, SQL_AT,
		MR_BIND(near->project_id, near->now, near->but_agent_id, room(near, out), prefix),
		out);
}

static const char SQL_BELOW[] = NEAR_COLUMNS "AND f.prefix > ?5 AND f.prefix < ?6 LIMIT ?4";

enum mr_code mr_team_lease_below(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *prefix, struct mr_team_lease_rows *out)
{
	/* '0' is the character after '/'. */
	return collect(cx, db, SQL_BELOW,
		MR_BIND(near->project_id, near->now, near->but_agent_id, room(near, out),
			mr_arena_printf(cx->arena, "%s/", prefix),
			mr_arena_printf(cx->arena, "%s0", prefix)),
		out);
}

static const char SQL_ANY_BELOW[] =
	"SELECT 1 FROM file_reservations WHERE project_id = ?1 AND released_ts IS NULL"
	" AND prefix >= ?2 AND prefix < ?3 AND (prefix = ?2 OR prefix > ?4) LIMIT 1";

enum mr_code mr_team_lease_any_below(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *prefix, bool *out)
{
	return mr_rows_exist(cx, db, SQL_ANY_BELOW,
		MR_BIND(project_id, prefix, mr_arena_printf(cx->arena, "%s0", prefix),
			mr_arena_printf(cx->arena, "%s/", prefix)),
		out);
}

/* The prefix leads to the index of open leases, not to that of all there ever were. */
static const char SQL_ANYWHERE[] = NEAR_COLUMNS "AND f.prefix >= '' LIMIT ?4";

enum mr_code mr_team_lease_anywhere(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, struct mr_team_lease_rows *out)
{
	return collect(cx, db, SQL_ANYWHERE,
		MR_BIND(near->project_id, near->now, near->but_agent_id, room(near, out)), out);
}

static const char SQL_OF[] =
	COLUMNS "WHERE f.agent_id = ?1 AND f.released_ts IS NULL ORDER BY f.id DESC LIMIT ?2";

enum mr_code mr_team_lease_of(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id, int64_t limit,
	struct mr_team_lease_rows *out)
{
	return collect(cx, db, SQL_OF, MR_BIND(agent_id, limit), out);
}

/* Expired ones are few, and wherever they are. */
static const char SQL_EXPIRED[] =
	COLUMNS "WHERE f.released_ts IS NULL AND f.expires_ts <= ?2 AND (?1 = 0 OR"
		" f.project_id = ?1) ORDER BY f.expires_ts, f.id LIMIT ?3";

enum mr_code mr_team_lease_expired(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, int64_t limit, struct mr_team_lease_rows *out)
{
	return collect(cx, db, SQL_EXPIRED, MR_BIND(project_id, now, limit), out);
}

static const char SQL_AHEAD[] =
	COLUMNS "WHERE f.released_ts IS NULL AND f.expires_ts > ?2 AND f.created_ts > ?2"
		" AND (?1 = 0 OR f.project_id = ?1) ORDER BY f.expires_ts DESC, f.id LIMIT ?3";

enum mr_code mr_team_lease_ahead(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t created_after, int64_t limit, struct mr_team_lease_rows *out)
{
	return collect(cx, db, SQL_AHEAD, MR_BIND(project_id, created_after, limit), out);
}

static const char SQL_SET_TIMES[] =
	"UPDATE file_reservations SET created_ts = ?2, expires_ts = ?3 WHERE id = ?1";

enum mr_code mr_team_lease_set_times(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t created_ts, int64_t expires_ts)
{
	return mr_rows_run(cx, db, SQL_SET_TIMES, MR_BIND(id, created_ts, expires_ts));
}

static const char SQL_IDLE[] =
	COLUMNS "WHERE f.released_ts IS NULL AND f.expires_ts > ?2 AND f.origin = 'agent'"
		" AND a.last_active_ts < ?3 AND (?1 = 0 OR f.project_id = ?1)"
		" ORDER BY a.last_active_ts, f.id LIMIT ?4";

enum mr_code mr_team_lease_idle(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, int64_t active_before, int64_t limit, struct mr_team_lease_rows *out)
{
	return collect(cx, db, SQL_IDLE, MR_BIND(project_id, now, active_before, limit), out);
}

static const char SQL_LIST[] = COLUMNS "WHERE f.id IN (SELECT id FROM file_reservations"
				       " WHERE project_id = ?1 AND id < ?2 ORDER BY id DESC"
				       " LIMIT ?3)"
				       " ORDER BY f.id";
static const char SQL_LIST_ACTIVE[] =
	COLUMNS "WHERE f.id IN (SELECT id FROM file_reservations WHERE project_id = ?1"
		" AND prefix >= '' AND released_ts IS NULL AND expires_ts > ?4 AND +id < ?2"
		" ORDER BY id DESC LIMIT ?3)"
		" ORDER BY f.id";

enum mr_code mr_team_lease_list(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, bool active_only, int64_t before, int64_t limit,
	struct mr_team_lease_rows *out)
{
	before = before > 0 ? before : INT64_MAX;
	return active_only
		? collect(cx, db, SQL_LIST_ACTIVE, MR_BIND(project_id, before, limit, now), out)
		: collect(cx, db, SQL_LIST, MR_BIND(project_id, before, limit), out);
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
	int64_t sent = 0, read = 0, acknowledged = 0;
	enum mr_code rc = mr_rows_one(cx, db, SQL_MAIL_TS, MR_BIND(agent_id),
		MR_INTO(&sent, &read, &acknowledged), NULL);

	if (rc)
		return rc;
	*out = sent > read ? sent : read;
	*out = acknowledged > *out ? acknowledged : *out;
	return MR_OK;
}

const char *const mr_team_lease_questions[] = { SQL_GET, SQL_RELEASE, SQL_RENEW, SQL_AT, SQL_BELOW,
	SQL_ANYWHERE, SQL_OF, SQL_EXPIRED, SQL_IDLE, SQL_LIST, SQL_LIST_ACTIVE, SQL_MAIL_TS, NULL };
