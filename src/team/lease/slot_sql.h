/* team/lease/slot_sql.h - build slots in the database. */
#pragma once

#include "data/db.h"
#include "team/lease/slot.h"

struct mr_team_slot_row {
	struct mr_team_slot slot;
	int64_t project_id, agent_id;
};

/* Who holds this name now, expired or not; `*found` tells. */
MR_CHECK enum mr_code mr_team_slot_holder(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *slot_name, bool *found, struct mr_team_slot_row *out);
MR_CHECK enum mr_code mr_team_slot_get(struct mr_ctx *cx, struct mr_db *db, int64_t id, bool *found,
	struct mr_team_slot_row *out);
/* MR_EEXISTS when somebody holds it. `row->slot.id` is set. */
MR_CHECK enum mr_code mr_team_slot_insert(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_slot_row *row);
/* expires_ts and released_ts. */
MR_CHECK enum mr_code mr_team_slot_update(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot *slot);
