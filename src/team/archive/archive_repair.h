/*
 * team/archive/archive_repair.h - restores files of the work trees that a power loss tore, from the
 * commits.
 *
 * mr_history_repair_some() decides which files may be torn, and what is written again. Each call
 * looks at one project, or at MR_HISTORY_REPAIR_FILES files of a large one, which takes a fraction
 * of a second when the directories are cached; so a server can do it between its rounds, once after
 * its start, and 200,000 files are ten calls.
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>

struct mr_team_archive_repairs;

/* `clock` must outlive it. */
struct mr_team_archive_repairs *mr_team_archive_repairs_new(const char *storage_root,
	const struct mr_clock *clock);
/* NULL is fine. */
void mr_team_archive_repairs_free(struct mr_team_archive_repairs *mending);
/* A failure is logged, and the project skipped. */
void mr_team_archive_repairs_some(struct mr_team_archive_repairs *mending, bool *more);
