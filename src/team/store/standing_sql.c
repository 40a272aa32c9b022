/* team/store/standing_sql.c - Reads which schema a database has, and whether it is moved. */
#include "team/store/standing.h"

#include "team/store/schema.h"

#include <inttypes.h>

/* One that was filled, and is in use now, is like any other. */
static const char SQL_STANDING[] =
	"SELECT v.version, m.role, m.other, m.ended_ts"
	" FROM (SELECT max(version) AS version FROM schema_version) v"
	" LEFT JOIN database_moves m ON m.role = 'from' OR m.ended_ts IS NULL LIMIT 1";

enum mr_code mr_team_standing_read(struct mr_db *db, struct mr_arena *arena,
	struct mr_team_standing *out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_STANDING, &stmt, err);
	const char *role;
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, err);
	if (rc)
		return rc;
	role = mr_stmt_peek(stmt, 1);
	*out = (struct mr_team_standing){
		.version = mr_stmt_int(stmt, 0),
		.is_left = role && mr_str_eq(role, "from"),
		.is_filled = role && mr_str_eq(role, "to"),
		.has_ended = !mr_stmt_is_null(stmt, 3),
	};
	/* Asked in every transaction: nothing is copied when nothing is to be said. */
	if (role)
		out->other = mr_stmt_text(stmt, 2, arena);
	return MR_OK;
}

enum mr_code mr_team_standing_check(struct mr_db *db, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_standing standing;
	enum mr_code rc = mr_team_standing_read(db, arena, &standing, err);
	int64_t known = (int64_t)mr_team_migration_count;

	if (rc)
		return rc;
	if (standing.version > known)
		return mr_err_set(err, MR_ECONFLICT,
			"a newer mailroom has changed database %s (its schema is version %" PRId64
			", this program knows %" PRId64
			"): this one only reads it; stop it, and start the newer one",
			mr_db_path(db), standing.version, known);
	if (standing.is_filled)
		return mr_err_set(err, MR_EBUSY,
			"database %s is being filled from %s: wait until `mailroom team migrate` "
			"has "
			"ended, or run it again",
			mr_db_path(db), standing.other);
	if (!standing.is_left)
		return MR_OK;
	if (!standing.has_ended)
		return mr_err_set(err, MR_EBUSY,
			"database %s is being moved to %s, and can only be read meanwhile: try "
			"again when `mailroom team migrate` has ended, with the new one",
			mr_db_path(db), standing.other);
	return mr_err_set(err, MR_ECONFLICT,
		"database %s was moved to %s, and can only be read: use that one "
		"(DATABASE_URL), or make this one the team's again with "
		"`mailroom team migrate --cancel`",
		mr_db_path(db), standing.other);
}
