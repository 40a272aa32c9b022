/* team/archive/archive_sql.h - the queue of the archive, in the database. */
#pragma once

#include "team/archive/archive_queue.h"

struct mr_team_archive_row {
	int64_t id;
	struct mr_team_archive_item item;
};
struct mr_team_archive_rows {
	struct mr_team_archive_row *items;
	size_t len;
};

/* The oldest rows of a project, at most `limit`. */
MR_CHECK enum mr_code mr_team_archive_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t limit, struct mr_team_archive_rows *out);
/* Projects that have rows. */
MR_CHECK enum mr_code mr_team_archive_projects(struct mr_ctx *cx, struct mr_db *db,
	int64_t **out_ids, size_t *out_len);
/* When the oldest row of all was queued, 0 when there is none. */
MR_CHECK enum mr_code mr_team_archive_oldest(struct mr_ctx *cx, struct mr_db *db, int64_t *out);
/* Inside a change: these rows are done. */
MR_CHECK enum mr_code mr_team_archive_done(struct mr_ctx *cx, struct mr_db *db, const int64_t *ids,
	size_t count);
