/* data/db_sqlite_check.h - the full check of an SQLite database. */
#pragma once

#include "data/db.h"

/* See mr_db_check(). */
enum mr_code mr_db_sqlite_check(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err);
