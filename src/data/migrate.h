/*
 * data/migrate.h - a schema that grows by numbered steps, each applied once.
 *
 * The table schema_version(version, name, applied_at) records what was done; applied_at is in
 * microseconds since 1970. A step is never changed after it was released: a mistake is mended by
 * the next one.
 */
#pragma once

#include "base/clock.h"
#include "data/db.h"

struct mr_migration {
	int version;      /* 1, 2, 3, ... without gaps */
	const char *name; /* recorded; must stay as it is */
	const char *sql;  /* statements, or NULL */
	/* Runs after `sql`, or NULL. May not end the transaction. */
	enum mr_code (*run)(struct mr_db *db, struct mr_err *err);
};

/*
 * Bring the database to the last of `list`, each step in a transaction of its own. Any number of
 * processes may try at once: one does each step, the others wait (busy timeout) and see it done.
 * Nothing is written, or locked, when nothing is to be done.
 *
 * A database that has a schema already is copied first (mr_db_copy_aside()), and all steps are
 * tried on the copy: when one fails there, nothing was written, and the message says so.
 *
 * MR_ECONFLICT when the database was made by a newer mailroom, or its record does not match `list`;
 * MR_EINTERNAL when `list` itself has gaps.
 * A step that fails leaves the database at the step before.
 */
MR_CHECK enum mr_code mr_migrate_up(struct mr_db *db, const struct mr_migration *list, size_t count,
	const struct mr_clock *clock, struct mr_err *err);

/* For readers: MR_OK only when the database stands exactly at the last of `list`; writes nothing.
 */
MR_CHECK enum mr_code mr_migrate_check(struct mr_db *db, const struct mr_migration *list,
	size_t count, struct mr_err *err);
