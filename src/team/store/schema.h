/* team/store/schema.h - the tables of a team's database, and its full-text index. */
#pragma once

#include "data/db.h"
#include "data/migrate.h"

extern const struct mr_migration mr_team_migrations[];
extern const size_t mr_team_migration_count;
/* Over messages(subject, body_md), subject twice the weight. */
extern const struct mr_db_search mr_team_search_index;
