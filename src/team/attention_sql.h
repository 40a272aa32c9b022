/* team/attention_sql.h - the lists of attention.h, in the database; `readers` as in rights.h. */
#pragma once

#include "data/db.h"
#include "team/attention.h"

/* Agents of the overseer's name that have unread mail, with the slug of each one's project. */
struct mr_team_overseers {
	struct mr_team_overseer_row {
		int64_t id;
		const char *project;
	} * items;
	size_t len;
};
MR_CHECK enum mr_code mr_team_attention_overseers(struct mr_ctx *cx, struct mr_db *db,
	const char *readers, struct mr_team_overseers *out);
MR_CHECK enum mr_code mr_team_attention_requests(struct mr_ctx *cx, struct mr_db *db,
	const char *readers, int64_t now, struct mr_team_links *out);
/* Acknowledgements asked for before `before`. */
MR_CHECK enum mr_code mr_team_attention_owed(struct mr_ctx *cx, struct mr_db *db,
	const char *readers, int64_t before, struct mr_team_attention *out);
/* Leases that hold at `now`, of agents that were active before `before` last. */
MR_CHECK enum mr_code mr_team_attention_left(struct mr_ctx *cx, struct mr_db *db, int64_t now,
	int64_t before, struct mr_team_attention *out);
MR_CHECK enum mr_code mr_team_attention_working(struct mr_ctx *cx, struct mr_db *db,
	const char *readers, int64_t now, struct mr_team_attention *out);
MR_CHECK enum mr_code mr_team_attention_projects(struct mr_ctx *cx, struct mr_db *db, int64_t *out);
