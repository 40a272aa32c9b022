/*
 * team/store/changes_sql.c - Reads the messages after a given id, and change numbers for projects,
 * agents and leases.
 */
#include "team/store/changes.h"

#include "data/rows.h"

#include <string.h>

/* Both read their primary keys from a given position on. */
static const char SQL_NEW[] = "SELECT id, project_id, thread_id FROM messages WHERE id > ?1"
			      " ORDER BY id LIMIT ?2";
static const char SQL_REACHED[] =
	"SELECT r.message_id, r.agent_id, a.project_id, r.kind = 'bcc'"
	" FROM message_recipients r CROSS JOIN agents a WHERE a.id = r.agent_id"
	" AND r.message_id > ?1 AND r.message_id <= ?2 ORDER BY r.message_id";

static enum mr_code read_new(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_new *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->id, &it->project_id, &it->thread_id));
	return MR_OK;
}

static void add_reached(struct mr_arena *arena, struct mr_team_new *message,
	struct mr_team_reached one)
{
	size_t len = message->reached_count;

	/* The array doubles: it is full when its length is a power of two. */
	if ((len & (len - 1)) == 0) {
		struct mr_team_reached *more =
			mr_arena_array(arena, len ? len * 2 : 1, sizeof(*more));

		if (len)
			memcpy(more, message->reached, len * sizeof(*more));
		message->reached = more;
	}
	message->reached[message->reached_count++] = one;
}

/* Both lists are in the order of messages. */
struct reaching {
	struct mr_team_changes *news;
	size_t at;
};

static enum mr_code read_reached(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct reaching *reaching = to;
	struct mr_team_changes *news = reaching->news;
	struct mr_team_reached one;
	int64_t message_id;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&message_id, &one.agent_id, &one.project_id, &one.is_blind));
	while (reaching->at < news->len && news->items[reaching->at].id < message_id)
		reaching->at++;
	if (reaching->at < news->len && news->items[reaching->at].id == message_id)
		add_reached(cx->arena, &news->items[reaching->at], one);
	return MR_OK;
}

enum mr_code mr_team_changes_after(struct mr_ctx *cx, struct mr_db *db, int64_t after,
	int64_t limit, struct mr_team_changes *out)
{
	struct mr_team_changes news = { NULL, 0 };
	enum mr_code rc =
		mr_rows_list(cx, db, SQL_NEW, MR_BIND(after, limit), read_new, MR_LIST(&news));

	if (!rc && news.len)
		rc = mr_rows_each(cx, db, SQL_REACHED, MR_BIND(after, news.items[news.len - 1].id),
			read_reached, &(struct reaching){ &news, 0 });
	if (!rc)
		*out = news;
	return rc;
}

static const char SQL_DUES[] =
	"SELECT r.message_id, a.name, m.subject FROM agents a CROSS JOIN message_recipients r"
	" CROSS JOIN messages m WHERE a.project_id = ?1 AND r.agent_id = a.id AND r.ack_due = 1"
	" AND r.ack_ts IS NULL AND m.id = r.message_id"
	" ORDER BY r.message_id DESC, a.name LIMIT ?2";

static enum mr_code read_due(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_due *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->message_id, &it->agent, &it->subject));
	return MR_OK;
}

enum mr_code mr_team_changes_dues(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t limit, struct mr_team_dues *out)
{
	return mr_rows_list(cx, db, SQL_DUES, MR_BIND(project_id, limit), read_due, MR_LIST(out));
}

/* A new lease has a new id; a renewed or released one changes the sum over open leases, which
 * have an index of their own. */
static const char SQL_LEASES[] =
	"SELECT (SELECT COALESCE(max(id), 0) FROM file_reservations WHERE project_id = ?1),"
	" count(*), COALESCE(sum(expires_ts), 0) FROM file_reservations"
	" WHERE project_id = ?1 AND prefix >= '' AND released_ts IS NULL";

enum mr_code mr_team_changes_leases(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *out)
{
	int64_t last, open, expiries;
	enum mr_code rc = mr_rows_one(cx, db, SQL_LEASES, MR_BIND(project_id),
		MR_INTO(&last, &open, &expiries), NULL);

	/* Combine the three with multipliers; overflow is harmless, so the arithmetic is
	 * unsigned. */
	if (!rc)
		*out = (int64_t)((uint64_t)last * UINT64_C(0x9e3779b97f4a7c15) +
			(uint64_t)open * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)expiries);
	return rc;
}

/* Retiring an agent updates its row; there are few enough agents to count them all. */
static const char SQL_MEMBERS[] =
	"SELECT (SELECT COALESCE(max(id), 0) FROM projects), COALESCE(max(id), 0),"
	" COALESCE(sum(is_active), 0) FROM agents";

enum mr_code mr_team_changes_members(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	int64_t projects, agents, active;
	enum mr_code rc =
		mr_rows_one(cx, db, SQL_MEMBERS, NULL, MR_INTO(&projects, &agents, &active), NULL);

	if (!rc)
		*out = (projects << 42) + (agents << 21) + active;
	return rc;
}
