/* team/archive/archive_source_sql.c */
#include "team/archive/archive_source_sql.h"

#include "team/limits.h"
#include "team/message_sql.h"

#include <string.h>

/* A list in the arena that doubles as it grows; `len` is where the next goes. */
static void *room_for(struct mr_arena *arena, void *items, size_t len, size_t size)
{
	void *grown;

	/* 8, 16, 32, ... are full when they are reached. */
	if (len && (len < 8 || (len & (len - 1)) != 0))
		return items;
	grown = mr_arena_array(arena, len ? 2 * len : 8, size);
	if (len)
		memcpy(grown, items, len * size);
	return grown;
}

static const char SQL_LEASES[] =
	"SELECT f.id, f.agent_id, a.name, f.exclusive, f.reason, f.origin, f.created_ts,"
	" f.expires_ts, f.released_ts FROM file_reservations f JOIN agents a ON a.id = f.agent_id"
	" WHERE f.project_id = ?1 AND f.path_pattern = ?2 AND (f.released_ts IS NULL OR f.id ="
	"  (SELECT max(n.id) FROM file_reservations n WHERE n.project_id = ?1 AND"
	"   n.path_pattern = ?2)) ORDER BY f.id";

enum mr_code mr_team_source_leases(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *pattern, struct mr_team_reservations *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_reservations found = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_LEASES, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_text(stmt, 2, pattern);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		found.items = room_for(cx->arena, found.items, found.len, sizeof(*found.items));
		found.items[found.len++] = (struct mr_team_reservation){
			.id = mr_stmt_int(stmt, 0),
			.project_id = project_id,
			.agent_id = mr_stmt_int(stmt, 1),
			.agent = mr_stmt_text(stmt, 2, cx->arena),
			.path_pattern = pattern,
			.exclusive = mr_stmt_int(stmt, 3),
			.reason = mr_stmt_text(stmt, 4, cx->arena),
			.origin = mr_stmt_text(stmt, 5, cx->arena),
			.created_ts = mr_stmt_int(stmt, 6),
			.expires_ts = mr_stmt_int(stmt, 7),
			.released_ts = mr_stmt_int(stmt, 8),
		};
	}
	if (!rc)
		*out = found;
	return rc;
}

#define LINK                                                                                       \
	"SELECT l.id, l.a_project_id, l.a_agent_id, l.b_project_id, l.b_agent_id, ap.slug,"        \
	" aa.name, bp.slug, ba.name, l.status, l.reason, l.created_ts, l.updated_ts,"              \
	" l.expires_ts, l.notified_ts, l.unasked FROM agent_links l"                               \
	" JOIN agents aa ON aa.id = l.a_agent_id JOIN projects ap ON ap.id = aa.project_id"        \
	" JOIN agents ba ON ba.id = l.b_agent_id JOIN projects bp ON bp.id = ba.project_id"

static const char SQL_LINKS[] =
	LINK " WHERE l.a_agent_id = ?1 UNION " LINK " WHERE l.b_agent_id = ?1 ORDER BY 1";

enum mr_code mr_team_source_links(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_link_records *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_link_records found = { 0 };
	struct mr_arena *arena = cx->arena;
	enum mr_code rc = mr_db_prepare(db, SQL_LINKS, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		struct mr_team_link link = {
			.id = mr_stmt_int(stmt, 0),
			.a_project_id = mr_stmt_int(stmt, 1),
			.a_agent_id = mr_stmt_int(stmt, 2),
			.b_project_id = mr_stmt_int(stmt, 3),
			.b_agent_id = mr_stmt_int(stmt, 4),
			.a_project = mr_stmt_text(stmt, 5, arena),
			.a_agent = mr_stmt_text(stmt, 6, arena),
			.b_project = mr_stmt_text(stmt, 7, arena),
			.b_agent = mr_stmt_text(stmt, 8, arena),
			.reason = mr_stmt_text(stmt, 10, arena),
			.created_ts = mr_stmt_int(stmt, 11),
			.updated_ts = mr_stmt_int(stmt, 12),
			.expires_ts = mr_stmt_int(stmt, 13),
		};

		mr_team_link_status_of(mr_stmt_text(stmt, 9, arena), &link.status);
		found.items = room_for(arena, found.items, found.len, sizeof(*found.items));
		found.items[found.len++] = (struct mr_team_link_record){ .link = link,
			.notified_ts = mr_stmt_int(stmt, 14),
			.unasked = mr_stmt_int(stmt, 15) };
	}
	if (!rc)
		*out = found;
	return rc;
}

#define SLOT                                                                                       \
	"SELECT s.id, s.project_id, s.agent_id, a.name, s.slot_name, s.created_ts, s.expires_ts,"  \
	" s.released_ts FROM build_slots s JOIN agents a ON a.id = s.agent_id"

static struct mr_team_slot_record read_slot(struct mr_arena *arena, struct mr_stmt *stmt)
{
	return (struct mr_team_slot_record){
		.id = mr_stmt_int(stmt, 0),
		.project_id = mr_stmt_int(stmt, 1),
		.agent_id = mr_stmt_int(stmt, 2),
		.agent = mr_stmt_text(stmt, 3, arena),
		.slot_name = mr_stmt_text(stmt, 4, arena),
		.created_ts = mr_stmt_int(stmt, 5),
		.expires_ts = mr_stmt_int(stmt, 6),
		.released_ts = mr_stmt_int(stmt, 7),
	};
}

static const char SQL_SLOT[] = SLOT " WHERE s.id = ?1";

enum mr_code mr_team_source_slot(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_slot_record *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_SLOT, &stmt, &cx->err);

	*found = false;
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (!rc && *found)
		*out = read_slot(cx->arena, stmt);
	return rc;
}

static const char SQL_SLOTS[] =
	SLOT " WHERE s.id IN (SELECT max(n.id) FROM build_slots n WHERE n.project_id = ?1"
	     "  GROUP BY n.slot_name, n.agent_id) ORDER BY s.id";

enum mr_code mr_team_source_slots(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_slot_records *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_slot_records found = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_SLOTS, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		found.items = room_for(cx->arena, found.items, found.len, sizeof(*found.items));
		found.items[found.len++] = read_slot(cx->arena, stmt);
	}
	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_THREAD[] =
	"SELECT " MR_TEAM_MESSAGE_COLUMNS ", substr(m.body_md, 1, ?5) FROM messages m"
	" WHERE m.project_id = ?1 AND m.thread_id = ?2 AND m.thread_seq BETWEEN ?3 AND ?4"
	" ORDER BY m.thread_seq";

enum mr_code mr_team_source_thread(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *thread_id, int64_t from_seq, int64_t to_seq, struct mr_team_messages *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_messages found = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_THREAD, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_text(stmt, 2, thread_id);
	mr_stmt_bind_int(stmt, 3, from_seq);
	mr_stmt_bind_int(stmt, 4, to_seq);
	mr_stmt_bind_int(stmt, 5, MR_TEAM_DIGEST_CHARS + 1);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		found.items = room_for(cx->arena, found.items, found.len, sizeof(*found.items));
		mr_team_message_read(stmt, 0, MR_TEAM_MESSAGE_COLUMN_COUNT, cx->arena,
			&found.items[found.len++]);
	}
	if (!rc)
		*out = found;
	return rc;
}

/* Numbers of a query's first column, at most `limit`. */
static enum mr_code collect(struct mr_ctx *cx, struct mr_stmt *stmt, size_t limit, int64_t *out_ids,
	size_t *out_len)
{
	bool row = true;
	enum mr_code rc = MR_OK;

	*out_len = 0;
	while (*out_len < limit && !(rc = mr_stmt_step(stmt, &row, &cx->err)) && row)
		out_ids[(*out_len)++] = mr_stmt_int(stmt, 0);
	return rc;
}

static const char SQL_DENIERS[] =
	"SELECT r.agent_id FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
	" WHERE r.message_id = ?1 AND a.attachments_policy = 'deny'";

enum mr_code mr_team_source_deniers(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t *out_ids, size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_DENIERS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, message_id);
	return collect(cx, stmt, MR_TEAM_RECIPIENTS, out_ids, out_len);
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_IDS[table], &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, after);
	mr_stmt_bind_int(stmt, 3, limit);
	return collect(cx, stmt, (size_t)limit, out_ids, out_len);
}

static const char SQL_PATTERNS[] = "SELECT DISTINCT path_pattern FROM file_reservations"
				   " WHERE project_id = ?1 ORDER BY path_pattern";

enum mr_code mr_team_source_patterns(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_texts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_texts found = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_PATTERNS, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		found.items = room_for(cx->arena, found.items, found.len, sizeof(*found.items));
		found.items[found.len++] = mr_stmt_text(stmt, 0, cx->arena);
	}
	if (!rc)
		*out = found;
	return rc;
}
