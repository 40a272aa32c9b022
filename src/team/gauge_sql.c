/* team/gauge_sql.c - The SQL that counts messages, active leases and queued archive rows. */
#include "team/gauge_sql.h"

#include "data/rows.h"

static const char SQL_COUNTS[] =
	"SELECT (SELECT count(*) FROM file_reservations WHERE released_ts IS NULL AND"
	" expires_ts > ?1), (SELECT count(*) FROM archive_queue)";

static const char SQL_LAST[] = "SELECT max(id) FROM messages";

/* Counted in the index of each project, without reading the messages. */
static const char SQL_TALLY[] =
	"SELECT slug, count FROM (SELECT id, slug, (SELECT count(*) FROM messages"
	"  WHERE project_id = projects.id AND id > ?1 AND id <= ?2) AS count FROM projects) t"
	" WHERE count > 0 ORDER BY id" MR_ROWS_ALL;

enum mr_code mr_team_gauge_counts(struct mr_ctx *cx, struct mr_db *db, struct mr_team_gauges *out)
{
	*out = (struct mr_team_gauges){ 0 };
	return mr_rows_one(cx, db, SQL_COUNTS, MR_BIND(mr_clock_wall_us(cx->clock)),
		MR_INTO(&out->reservations, &out->archive_pending), NULL);
}

static enum mr_code read_tally(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_tally *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->slug, &it->messages));
	return MR_OK;
}

enum mr_code mr_team_gauge_tally(struct mr_ctx *cx, struct mr_db *db, int64_t *seen,
	struct mr_team_tallies *out)
{
	int64_t last = 0;
	enum mr_code rc = mr_rows_one(cx, db, SQL_LAST, NULL, MR_INTO(&last), NULL);

	*out = (struct mr_team_tallies){ NULL, 0 };
	if (rc || last <= *seen)
		return rc;
	rc = mr_rows_list(cx, db, SQL_TALLY, MR_BIND(*seen, last), read_tally, MR_LIST(out));
	if (!rc)
		*seen = last;
	return rc;
}
