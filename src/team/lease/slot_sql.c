/* team/lease/slot_sql.c */
#include "team/lease/slot_sql.h"

#define SLOT_COLUMNS                                                                               \
	"s.id, s.project_id, s.agent_id, a.name, s.slot_name, s.created_ts, s.expires_ts,"         \
	" s.released_ts FROM build_slots s JOIN agents a ON a.id = s.agent_id"

/* The statement is bound; at most one row. */
static enum mr_code read_slot(struct mr_ctx *cx, struct mr_stmt *stmt, bool *found,
	struct mr_team_slot_row *out)
{
	enum mr_code rc = mr_stmt_step(stmt, found, &cx->err);

	if (rc || !*found)
		return rc;
	*out = (struct mr_team_slot_row){
		.slot = { .id = mr_stmt_int(stmt, 0),
			.agent = mr_stmt_text(stmt, 3, cx->arena),
			.slot_name = mr_stmt_text(stmt, 4, cx->arena),
			.created_ts = mr_stmt_int(stmt, 5),
			.expires_ts = mr_stmt_int(stmt, 6),
			.released_ts = mr_stmt_int(stmt, 7) },
		.project_id = mr_stmt_int(stmt, 1),
		.agent_id = mr_stmt_int(stmt, 2),
	};
	return MR_OK;
}

static const char SQL_HOLDER[] =
	"SELECT " SLOT_COLUMNS
	" WHERE s.project_id = ?1 AND s.slot_name = ?2 AND s.released_ts IS NULL";

enum mr_code mr_team_slot_holder(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *slot_name, bool *found, struct mr_team_slot_row *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_HOLDER, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_text(stmt, 2, slot_name);
	return read_slot(cx, stmt, found, out);
}

static const char SQL_GET[] = "SELECT " SLOT_COLUMNS " WHERE s.id = ?1";

enum mr_code mr_team_slot_get(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_slot_row *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_GET, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	return read_slot(cx, stmt, found, out);
}

static const char SQL_INSERT[] =
	"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5)";

enum mr_code mr_team_slot_insert(struct mr_ctx *cx, struct mr_db *db, struct mr_team_slot_row *row)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, row->project_id);
	mr_stmt_bind_int(stmt, 2, row->agent_id);
	mr_stmt_bind_text(stmt, 3, row->slot.slot_name);
	mr_stmt_bind_int(stmt, 4, row->slot.created_ts);
	mr_stmt_bind_int(stmt, 5, row->slot.expires_ts);
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc)
		row->slot.id = mr_db_last_id(db);
	return rc;
}

static const char SQL_UPDATE[] =
	"UPDATE build_slots SET expires_ts = ?2, released_ts = nullif(?3, 0) WHERE id = ?1";

enum mr_code mr_team_slot_update(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot *slot)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_UPDATE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, slot->id);
	mr_stmt_bind_int(stmt, 2, slot->expires_ts);
	mr_stmt_bind_int(stmt, 3, slot->released_ts);
	return mr_stmt_run(stmt, &cx->err);
}
