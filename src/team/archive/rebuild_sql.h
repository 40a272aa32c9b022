/* team/archive/rebuild_sql.h - inserts restored rows, with their former ids where these are
 * free. */
#pragma once

#include "team/archive/archive_record.h"
#include "team/store/root.h"

/* All inside a change; `id` is set to the one it got. MR_EEXISTS: another has the same name. */
MR_CHECK enum mr_code mr_team_restore_project(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_project *project);
MR_CHECK enum mr_code mr_team_restore_agent(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_agent *agent);
MR_CHECK enum mr_code mr_team_restore_lease(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_reservation *lease, const char *prefix);
/* Of two links of the same pair the later one stays; `*added`: there was none before. */
MR_CHECK enum mr_code mr_team_restore_link(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_link_record *link, bool *added);
MR_CHECK enum mr_code mr_team_restore_slot(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot_record *slot);
