/* team/lease/slot_sql.c - Reads and writes the rows of build slots. */
#include "team/lease/slot_sql.h"

#include "data/rows.h"

#define SLOT_COLUMNS                                                                               \
	"s.id, s.project_id, s.agent_id, a.name, s.slot_name, s.created_ts, s.expires_ts,"         \
	" s.released_ts FROM build_slots s JOIN agents a ON a.id = s.agent_id"

static enum mr_code read_slot(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_slot_row *it = to;
	struct mr_team_slot *slot = &it->slot;

	*it = (struct mr_team_slot_row){ 0 };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&slot->id, &it->project_id, &it->agent_id, &slot->agent, &slot->slot_name,
			&slot->created_ts, &slot->expires_ts, &slot->released_ts));
	return MR_OK;
}

static const char SQL_HOLDER[] =
	"SELECT " SLOT_COLUMNS
	" WHERE s.project_id = ?1 AND s.slot_name = ?2 AND s.released_ts IS NULL";

enum mr_code mr_team_slot_holder(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *slot_name, bool *found, struct mr_team_slot_row *out)
{
	return mr_rows_first(cx, db, SQL_HOLDER, MR_BIND(project_id, slot_name), read_slot, out,
		found);
}

static const char SQL_GET[] = "SELECT " SLOT_COLUMNS " WHERE s.id = ?1";

enum mr_code mr_team_slot_get(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_slot_row *out)
{
	return mr_rows_first(cx, db, SQL_GET, MR_BIND(id), read_slot, out, found);
}

static const char SQL_INSERT[] =
	"INSERT INTO build_slots (project_id, agent_id, slot_name, created_ts, expires_ts)"
	" VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id";

enum mr_code mr_team_slot_insert(struct mr_ctx *cx, struct mr_db *db, struct mr_team_slot_row *row)
{
	return mr_rows_returning(cx, db, SQL_INSERT,
		MR_BIND(row->project_id, row->agent_id, row->slot.slot_name, row->slot.created_ts,
			row->slot.expires_ts),
		MR_INTO(&row->slot.id), NULL);
}

static const char SQL_UPDATE[] =
	"UPDATE build_slots SET expires_ts = ?2, released_ts = nullif(CAST(?3 AS BIGINT), 0) WHERE id = ?1";

enum mr_code mr_team_slot_update(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot *slot)
{
	return mr_rows_run(cx, db, SQL_UPDATE,
		MR_BIND(slot->id, slot->expires_ts, slot->released_ts));
}
