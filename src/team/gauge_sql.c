/* team/gauge_sql.c */
#include "team/gauge_sql.h"

#include <string.h>

static const char SQL_COUNTS[] =
	"SELECT (SELECT count(*) FROM file_reservations WHERE released_ts IS NULL AND"
	" expires_ts > ?1), (SELECT count(*) FROM archive_queue)";

static const char SQL_LAST[] = "SELECT max(id) FROM messages";

/* By the index of each project: what messages say is not read. */
static const char SQL_TALLY[] =
	"SELECT slug, (SELECT count(*) FROM messages WHERE project_id = projects.id AND id > ?1"
	" AND id <= ?2) FROM projects ORDER BY id";

enum mr_code mr_team_gauge_counts(struct mr_ctx *cx, struct mr_db *db, struct mr_team_gauges *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_COUNTS, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, mr_clock_wall_us(cx->clock));
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	*out = (struct mr_team_gauges){
		.reservations = mr_stmt_int(stmt, 0),
		.archive_pending = mr_stmt_int(stmt, 1),
	};
	return MR_OK;
}

static enum mr_code find_last(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_LAST, &stmt, &cx->err);
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = mr_stmt_int(stmt, 0);
	return rc;
}

static void add(struct mr_arena *arena, struct mr_team_tallies *tallies, size_t *room,
	struct mr_team_tally tally)
{
	if (tallies->len == *room) {
		struct mr_team_tally *more =
			mr_arena_array(arena, *room ? *room * 2 : 64, sizeof(*more));

		if (tallies->len)
			memcpy(more, tallies->items, tallies->len * sizeof(*more));
		tallies->items = more;
		*room = *room ? *room * 2 : 64;
	}
	tallies->items[tallies->len++] = tally;
}

enum mr_code mr_team_gauge_tally(struct mr_ctx *cx, struct mr_db *db, int64_t *seen,
	struct mr_team_tallies *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_tallies tallies = { NULL, 0 };
	size_t room = 0;
	int64_t last = 0;
	bool row = false;
	enum mr_code rc = find_last(cx, db, &last);

	*out = tallies;
	if (rc || last <= *seen)
		return rc;
	rc = mr_db_prepare(db, SQL_TALLY, &stmt, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, *seen);
	mr_stmt_bind_int(stmt, 2, last);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		int64_t count = mr_stmt_int(stmt, 1);

		if (count > 0)
			add(cx->arena, &tallies, &room,
				(struct mr_team_tally){ mr_stmt_text(stmt, 0, cx->arena), count });
	}
	if (rc)
		return rc;
	*seen = last;
	*out = tallies;
	return MR_OK;
}
