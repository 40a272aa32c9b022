/*
 * data/migrate.c - Brings a database schema to the latest version by numbered migrations, each in
 * its own transaction.
 */
#include "data/migrate.h"

#include <inttypes.h>

static const char SQL_CREATE[] = "CREATE TABLE IF NOT EXISTS schema_version ("
				 "version INTEGER PRIMARY KEY, "
				 "name TEXT NOT NULL, "
				 "applied_at BIGINT NOT NULL)";
static const char SQL_RECORD[] = "SELECT version, name FROM schema_version ORDER BY version";
static const char SQL_APPLIED[] =
	"INSERT INTO schema_version (version, name, applied_at) VALUES (?1, ?2, ?3)";

/* Compare one recorded step with the list. */
static enum mr_code check_step(struct mr_db *db, const struct mr_migration *list, size_t count,
	size_t done, int64_t version, const char *name, struct mr_err *err)
{
	const char *path = mr_db_path(db);

	if (version != (int64_t)done + 1)
		return mr_err_set(err, MR_ECONFLICT,
			"database %s: its record of schema versions has %" PRId64
			" where %zu should be; restore it from a backup",
			path, version, done + 1);
	if (done < count && !mr_str_eq(list[done].name, name))
		return mr_err_set(err, MR_ECONFLICT,
			"database %s: schema version %" PRId64
			" is \"%s\" there and \"%s\" here; it belongs to another program",
			path, version, name, list[done].name);
	return MR_OK;
}

/* How many steps were applied. The table is there. */
static enum mr_code read_rows(struct mr_db *db, const struct mr_migration *list, size_t count,
	size_t *out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_RECORD, &stmt, err);
	size_t done = 0;

	if (rc)
		return rc;
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, err);
		if (rc)
			return rc;
		if (!row)
			break;
		rc = check_step(db, list, count, done, mr_stmt_int(stmt, 0),
			mr_stmt_text(stmt, 1, arena), err);
		if (rc)
			return rc;
		done++;
	}
	if (done > count)
		return mr_err_set(err, MR_ECONFLICT,
			"database %s was made by a newer mailroom (its schema is version %zu, this "
			"program knows %zu); use that one",
			mr_db_path(db), done, count);
	*out = done;
	return MR_OK;
}

static enum mr_code read_record(struct mr_db *db, const struct mr_migration *list, size_t count,
	size_t *out, struct mr_err *err)
{
	bool exists = false;
	enum mr_code rc = mr_db_has_table(db, "schema_version", &exists, err);

	*out = 0;
	return rc || !exists ? rc : read_rows(db, list, count, out, err);
}

static enum mr_code apply(struct mr_db *db, const struct mr_migration *step,
	const struct mr_clock *clock, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = MR_OK;

	if (step->sql)
		rc = mr_db_exec(db, step->sql, err);
	if (!rc && step->run)
		rc = step->run(db, err);
	if (!rc && !mr_db_in_transaction(db))
		rc = mr_err_set(err, MR_EINTERNAL, "it ended its transaction");
	if (!rc)
		rc = mr_db_prepare(db, SQL_APPLIED, &stmt, err);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, step->version);
	mr_stmt_bind_text(stmt, 2, step->name);
	mr_stmt_bind_int(stmt, 3, mr_clock_wall_us(clock));
	return mr_stmt_run(stmt, err);
}

/* Apply the next step, or all in one transaction; `*done` counts those that are. */
static enum mr_code apply_next(struct mr_db *db, const struct mr_migration *list, size_t count,
	const struct mr_clock *clock, bool all, size_t *done, struct mr_err *err)
{
	enum mr_code rc = mr_db_begin(db, MR_DB_IMMEDIATE, err);

	if (!rc)
		rc = mr_db_run(db, SQL_CREATE, err);
	/* Now that nobody else writes: has somebody been here meanwhile? */
	if (!rc)
		rc = read_rows(db, list, count, done, err);
	for (size_t left = all ? count : 1; !rc && *done < count && left > 0; left--) {
		rc = apply(db, &list[*done], clock, err);
		if (rc)
			mr_err_wrap(err, "database %s: schema version %d (%s)", mr_db_path(db),
				list[*done].version, list[*done].name);
		else
			++*done;
	}
	if (!rc)
		rc = mr_db_commit(db, err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

static enum mr_code check_list(const struct mr_migration *list, size_t count, struct mr_err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].version != (int)i + 1 || !list[i].name)
			return mr_err_set(err, MR_EINTERNAL,
				"schema version %zu is missing or has no name", i + 1);
	}
	return MR_OK;
}

/*
 * Whether all steps can be done is found out on a copy, so that one that cannot leaves the database
 * to the program that made it.
 */
static enum mr_code try_on_copy(struct mr_db *db, const struct mr_migration *list, size_t count,
	const struct mr_clock *clock, size_t done, struct mr_err *err)
{
	struct mr_db *copy MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_db_copy_aside(db, &copy, err);
	size_t tried = done;
	struct mr_err why;

	if (rc)
		return mr_err_wrap(err,
			"the new schema is tried on a copy first, in the directory for temporary "
			"files (TMPDIR); the database is as it was");
	while (!rc && tried < count)
		rc = apply_next(copy, list, count, clock, false, &tried, err);
	if (!rc)
		return MR_OK;
	why = *err;
	return mr_err_set(err, rc,
		"%.300s; this was tried on a copy: the database is as it was (schema version %zu), "
		"and the mailroom that made it can go on with it",
		why.msg, done);
}

enum mr_code mr_migrate_up(struct mr_db *db, const struct mr_migration *list, size_t count,
	const struct mr_clock *clock, struct mr_err *err)
{
	bool all = mr_db_schema_is_transactional(db);
	size_t done = 0;
	enum mr_code rc = check_list(list, count, err);

	if (!rc)
		rc = read_record(db, list, count, &done, err);
	if (!rc && done > 0 && done < count && !all)
		rc = try_on_copy(db, list, count, clock, done, err);
	while (!rc && done < count)
		rc = apply_next(db, list, count, clock, all, &done, err);
	return rc;
}

enum mr_code mr_migrate_check(struct mr_db *db, const struct mr_migration *list, size_t count,
	struct mr_err *err)
{
	size_t done = 0;
	enum mr_code rc = check_list(list, count, err);

	if (!rc)
		rc = read_record(db, list, count, &done, err);
	if (!rc && done < count)
		rc = mr_err_set(err, MR_ECONFLICT,
			"database %s was made by an older mailroom (its schema is version %zu, "
			"this "
			"program needs %zu); open it for writing once",
			mr_db_path(db), done, count);
	return rc;
}
