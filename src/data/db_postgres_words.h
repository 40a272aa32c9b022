/* data/db_postgres_words.h - statements as PostgreSQL spells them. Pure. */
#pragma once

#include "base/arena.h"

/*
 * `sql` is in the words of data/db.h; what stands between quotes stays as it is. Parameters become
 * $1, $2, ...; numbers without a fraction are BIGINT, and those with one DOUBLE PRECISION.
 */
const char *mr_db_postgres_spell(struct mr_arena *arena, const char *sql);
/* A set as it is bound ("[1,2]") as PostgreSQL writes arrays. */
const char *mr_db_postgres_array(struct mr_arena *arena, const char *list);
