/* tests/unit/team/dump.h - a team's database as text, looked over and made anew. */
#pragma once

#include "team/archive/archive.h"
#include "team/archive/rebuild.h"
#include "world.h"

enum { DUMP_TABLES = 8, DUMP_MESSAGES = 2 };

/* All rows of a table that an archive can bring back, one a line. */
const char *dump_table(struct world *world, size_t table);
/* Something of a project is to be archived. */
void dump_queue(struct world *world, enum mr_team_archive_kind kind, int64_t project_id,
	int64_t ref, const char *name);
/* Database and archive tell the same. */
void dump_check_well(struct world *world);
/* Make the database anew from the archive. */
struct mr_team_rebuilt dump_rebuild(struct world *world);
