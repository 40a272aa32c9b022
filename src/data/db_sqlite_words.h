/* data/db_sqlite_words.h - the words of data/db.h that every engine spells differently, in SQLite's
 * spelling. */
#pragma once

#include "base/arena.h"

/* `sql` itself when it has none of these words. */
const char *mr_db_sqlite_spell(struct mr_arena *arena, const char *sql);
