/* team/archive/archive_place_sql.c - Reads and writes which storage root keeps the archive. */
#include "team/archive/archive_place_sql.h"

#include "data/rows.h"

static const char SQL_KEPT[] =
	"SELECT place, name, is_whole, through FROM archive_places WHERE is_kept = 1";

enum mr_code mr_team_place_kept(struct mr_ctx *cx, struct mr_db *db, struct mr_team_place_row *out)
{
	return mr_rows_one(cx, db, SQL_KEPT, NULL,
		MR_INTO(&out->place, &out->name, &out->is_whole, &out->through), NULL);
}

/* Ids count up, and a row goes when it is archived. */
static const char SQL_FIRST[] = "SELECT count(*) = coalesce(max(id), 0) AND (count(*) > 0 OR"
				" NOT EXISTS (SELECT 1 FROM projects)) FROM archive_queue";

enum mr_code mr_team_place_is_first(struct mr_ctx *cx, struct mr_db *db, bool *out)
{
	return mr_rows_one(cx, db, SQL_FIRST, NULL, MR_INTO(out), NULL);
}

/* What is queued now goes into the next one's archive. One that was not whole has no more than
 * before. */
static const char SQL_LEAVE[] =
	"UPDATE archive_places SET is_kept = 0, through = CASE WHEN is_whole = 1 THEN"
	" coalesce((SELECT min(ref) - 1 FROM archive_queue WHERE kind IN ('message', 'inbox')),"
	" (SELECT max(id) FROM messages), 0) ELSE through END"
	" WHERE is_kept = 1";
static const char SQL_KEEP[] =
	"INSERT INTO archive_places (place, name, is_kept, is_whole, through, since_ts)"
	" VALUES (?1, ?2, 1, ?3, 0, ?4)"
	" ON CONFLICT (place) DO UPDATE SET name = excluded.name, is_kept = 1,"
	" is_whole = excluded.is_whole, since_ts = excluded.since_ts RETURNING through";

enum mr_code mr_team_place_keep(struct mr_ctx *cx, struct mr_db *db, const char *place,
	const char *name, bool is_whole, int64_t *through)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_LEAVE, NULL);

	return rc ? rc
		  : mr_rows_returning(cx, db, SQL_KEEP,
			    MR_BIND(place, name, is_whole, mr_clock_wall_us(cx->clock)),
			    MR_INTO(through), NULL);
}

static const char SQL_WHOLE[] =
	"UPDATE archive_places SET is_whole = 1 WHERE place = ?1 AND is_kept = 1";

enum mr_code mr_team_place_set_whole(struct mr_ctx *cx, struct mr_db *db, const char *place)
{
	return mr_rows_run(cx, db, SQL_WHOLE, MR_BIND(place));
}

static const char SQL_REMOVALS[] =
	"INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, tool, data,"
	" created_ts) SELECT project_id, kind, ref, name, agent, subject, tool, data, created_ts"
	" FROM archive_removals ORDER BY id" MR_ROWS_ALL;

enum mr_code mr_team_place_queue_removals(struct mr_ctx *cx, struct mr_db *db)
{
	return mr_rows_run(cx, db, SQL_REMOVALS, NULL);
}
