/*
 * team/archive/archive_source_sql.c - Reads the leases, links, slots and messages that archive
 * files are built from.
 */
#include "team/archive/archive_source_sql.h"

#include "data/rows.h"
#include "team/limits.h"
#include "team/message_sql.h"

static const char SQL_LEASES[] =
	"SELECT f.id, f.project_id, f.agent_id, a.name, f.path_pattern, f.exclusive, f.reason,"
	" f.origin, f.created_ts, f.expires_ts, f.released_ts"
	" FROM file_reservations f JOIN agents a ON a.id = f.agent_id"
	" WHERE f.project_id = ?1 AND f.path_pattern = ?2 AND (f.released_ts IS NULL OR f.id ="
	"  (SELECT max(n.id) FROM file_reservations n WHERE n.project_id = ?1 AND"
	"   n.path_pattern = ?2)) ORDER BY f.id" MR_ROWS_ALL;

static enum mr_code read_lease(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_reservation *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->project_id, &it->agent_id, &it->agent, &it->path_pattern,
			&it->exclusive, &it->reason, &it->origin, &it->created_ts, &it->expires_ts,
			&it->released_ts));
	return MR_OK;
}

enum mr_code mr_team_source_leases(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *pattern, struct mr_team_reservations *out)
{
	return mr_rows_list(cx, db, SQL_LEASES, MR_BIND(project_id, pattern), read_lease,
		MR_LIST(out));
}

#define LINK                                                                                       \
	"SELECT l.id, l.a_project_id, l.a_agent_id, l.b_project_id, l.b_agent_id, ap.slug,"        \
	" aa.name, bp.slug, ba.name, l.status, l.reason, l.created_ts, l.updated_ts,"              \
	" l.expires_ts, l.notified_ts, l.unasked FROM agent_links l"                               \
	" JOIN agents aa ON aa.id = l.a_agent_id JOIN projects ap ON ap.id = aa.project_id"        \
	" JOIN agents ba ON ba.id = l.b_agent_id JOIN projects bp ON bp.id = ba.project_id"

static const char SQL_LINKS[] = LINK " WHERE l.a_agent_id = ?1 UNION " LINK
				     " WHERE l.b_agent_id = ?1 ORDER BY 1" MR_ROWS_ALL;

static enum mr_code read_link(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_link_record *it = to;
	struct mr_team_link *link = &it->link;
	const char *status;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&link->id, &link->a_project_id, &link->a_agent_id, &link->b_project_id,
			&link->b_agent_id, &link->a_project, &link->a_agent, &link->b_project,
			&link->b_agent, &status, &link->reason, &link->created_ts,
			&link->updated_ts, &link->expires_ts, &it->notified_ts, &it->unasked));
	mr_team_link_status_of(status, &link->status);
	return MR_OK;
}

enum mr_code mr_team_source_links(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_link_records *out)
{
	return mr_rows_list(cx, db, SQL_LINKS, MR_BIND(agent_id), read_link, MR_LIST(out));
}

#define SLOT                                                                                       \
	"SELECT s.id, s.project_id, s.agent_id, a.name, s.slot_name, s.created_ts, s.expires_ts,"  \
	" s.released_ts FROM build_slots s JOIN agents a ON a.id = s.agent_id"

static enum mr_code read_slot(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_slot_record *it = to;

	*it = (struct mr_team_slot_record){ 0 };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->project_id, &it->agent_id, &it->agent, &it->slot_name,
			&it->created_ts, &it->expires_ts, &it->released_ts));
	return MR_OK;
}

static const char SQL_SLOT[] = SLOT " WHERE s.id = ?1";

enum mr_code mr_team_source_slot(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_slot_record *out)
{
	return mr_rows_first(cx, db, SQL_SLOT, MR_BIND(id), read_slot, out, found);
}

static const char SQL_SLOTS[] =
	SLOT " WHERE s.id IN (SELECT max(n.id) FROM build_slots n WHERE n.project_id = ?1"
	     "  GROUP BY n.slot_name, n.agent_id) ORDER BY s.id" MR_ROWS_ALL;

enum mr_code mr_team_source_slots(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_slot_records *out)
{
	return mr_rows_list(cx, db, SQL_SLOTS, MR_BIND(project_id), read_slot, MR_LIST(out));
}

/* The ids first, so that no body is read that is not shown. */
static const char SQL_THREAD[] =
	"SELECT " MR_TEAM_MESSAGE_COLUMNS ", substr(m.body_md, 1, ?5) FROM messages m"
	" WHERE m.id IN (SELECT t.id" MR_TEAM_THREAD_FROM("?1",
		"?2") " ORDER BY t.id LIMIT ?4 OFFSET ?3) ORDER BY m.id" MR_ROWS_ALL;

static enum mr_code read_message(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_team_message_read(row, 0, MR_TEAM_MESSAGE_COLUMN_COUNT, cx->arena, to);
	return MR_OK;
}

enum mr_code mr_team_source_thread(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id, int64_t part, struct mr_team_messages *out)
{
	return mr_rows_list(cx, db, SQL_THREAD,
		MR_BIND(project_id, thread_id, (part - 1) * MR_TEAM_DIGEST_MESSAGES,
			MR_TEAM_DIGEST_MESSAGES, MR_TEAM_DIGEST_CHARS + 1),
		read_message, MR_LIST(out));
}

/* With the plus, the index of threads is used, and not that of ids. */
static const char SQL_BEFORE[] =
	"SELECT count(*)" MR_TEAM_THREAD_FROM("?1", "?2") " AND +t.id < ?3";

enum mr_code mr_team_source_part(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id, int64_t message_id, int64_t *out)
{
	int64_t before = 0;
	enum mr_code rc = mr_rows_one(cx, db, SQL_BEFORE,
		MR_BIND(project_id, thread_id, message_id), MR_INTO(&before), NULL);

	if (!rc)
		*out = before / MR_TEAM_DIGEST_MESSAGES + 1;
	return rc;
}

/* The caller's array, which has room for as many as the statement's LIMIT lets through. */
struct ids {
	int64_t *ids;
	size_t len;
};

static enum mr_code add_id(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct ids *found = to;

	(void)cx;
	found->ids[found->len++] = mr_stmt_int(row, 0);
	return MR_OK;
}

static enum mr_code collect(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, int64_t *out_ids, size_t *out_len)
{
	struct ids found = { out_ids, 0 };
	enum mr_code rc = mr_rows_each(cx, db, sql, values, add_id, &found);

	*out_len = found.len;
	return rc;
}

static const char SQL_DENIERS[] =
	"SELECT r.agent_id FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id = ?1 AND a.attachments_policy = 'deny' LIMIT ?2";

enum mr_code mr_team_source_deniers(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t *out_ids, size_t *out_len)
{
	return collect(cx, db, SQL_DENIERS, MR_BIND(message_id, MR_TEAM_RECIPIENTS), out_ids,
		out_len);
}

static const char *const SQL_IDS[] = {
	[MR_TEAM_SOURCE_AGENTS] = "SELECT id FROM agents WHERE project_id = ?1 AND id > ?2"
				  " ORDER BY id LIMIT ?3",
	[MR_TEAM_SOURCE_MESSAGES] = "SELECT id FROM messages WHERE project_id = ?1 AND id > ?2"
				    " ORDER BY id LIMIT ?3",
	[MR_TEAM_SOURCE_ARRIVED] =
		"SELECT DISTINCT m.id FROM agents a"
		" JOIN message_recipients r ON r.agent_id = a.id AND r.message_id > ?2"
		" JOIN messages m ON m.id = r.message_id AND m.project_id <> a.project_id"
		" WHERE a.project_id = ?1 ORDER BY m.id LIMIT ?3",
};

enum mr_code mr_team_source_ids(struct mr_ctx *cx, struct mr_db *db,
	enum mr_team_source_table table, int64_t project_id, int64_t after, int64_t limit,
	int64_t *out_ids, size_t *out_len)
{
	return collect(cx, db, SQL_IDS[table], MR_BIND(project_id, after, limit), out_ids, out_len);
}

static const char SQL_PATTERNS[] = "SELECT DISTINCT path_pattern FROM file_reservations"
				   " WHERE project_id = ?1 ORDER BY path_pattern" MR_ROWS_ALL;

enum mr_code mr_team_source_patterns(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_texts *out)
{
	return mr_rows_list(cx, db, SQL_PATTERNS, MR_BIND(project_id), mr_row_text, MR_LIST(out));
}
