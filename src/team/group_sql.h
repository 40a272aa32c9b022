/* team/group_sql.h - named groups, in the database. */
#pragma once

#include "team/group.h"

/* Its id and when it was made; not an error when there is none: then both are 0. */
MR_CHECK enum mr_code mr_team_group_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, int64_t *out_id, int64_t *out_created_ts);
/* Names of its members that are active, in their order. */
MR_CHECK enum mr_code mr_team_group_names(struct mr_ctx *cx, struct mr_db *db, int64_t group_id,
	struct mr_texts *out);
MR_CHECK enum mr_code mr_team_group_has(struct mr_ctx *cx, struct mr_db *db, int64_t group_id,
	int64_t agent_id, bool *out);
MR_CHECK enum mr_code mr_team_group_count(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *out);
/* Inside a change. */
MR_CHECK enum mr_code mr_team_group_insert(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, int64_t *out_id);
MR_CHECK enum mr_code mr_team_group_add(struct mr_ctx *cx, struct mr_db *db, int64_t group_id,
	int64_t agent_id);
/* Without its members, or with the group itself. */
MR_CHECK enum mr_code mr_team_group_empty(struct mr_ctx *cx, struct mr_db *db, int64_t group_id);
MR_CHECK enum mr_code mr_team_group_delete(struct mr_ctx *cx, struct mr_db *db, int64_t group_id);
/* Without their members, by name. */
MR_CHECK enum mr_code mr_team_group_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_groups *out);
