/* data/db_sqlite_check.c - checks the structure of an SQLite file and its foreign keys. */
#include "data/db_sqlite_check.h"

enum { PROBLEMS_MAX = 100 };

enum mr_code mr_db_sqlite_check(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err)
{
	struct mr_texts found = {
		.items = mr_arena_array(arena, PROBLEMS_MAX + 1, sizeof(*found.items)),
	};
	struct mr_stmt *structure MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *keys MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err damage;
	bool row = true;
	enum mr_code rc = mr_db_prepare(db, "PRAGMA integrity_check(100)", &structure, err);

	while (!rc && row && found.len < PROBLEMS_MAX) {
		const char *text = "ok";

		rc = mr_stmt_step(structure, &row, &damage);
		if (!rc && row)
			text = mr_stmt_text(structure, 0, arena);
		/* Some damage even the check cannot get past. */
		if (rc == MR_EFORMAT) {
			text = mr_arena_strdup(arena, damage.msg);
			row = false;
			rc = MR_OK;
		}
		if (rc)
			*err = damage;
		if (!mr_str_eq(text, "ok"))
			found.items[found.len++] = text;
	}
	/* Keys cannot be followed through damaged pages. */
	row = !rc && found.len == 0;
	if (row)
		rc = mr_db_prepare(db, "PRAGMA foreign_key_check", &keys, err);
	while (!rc && row && found.len < PROBLEMS_MAX) {
		rc = mr_stmt_step(keys, &row, err);
		if (!rc && row)
			found.items[found.len++] = mr_arena_printf(arena,
				"row %lld of %s names a row of %s that is not there",
				(long long)mr_stmt_int(keys, 1), mr_stmt_text(keys, 0, arena),
				mr_stmt_text(keys, 2, arena));
	}
	if (rc)
		return rc;
	*out = found;
	return MR_OK;
}
