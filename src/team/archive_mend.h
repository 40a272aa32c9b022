/*
 * team/archive_mend.h - the files of all archives as their commits have them, after a power loss.
 *
 * Which files a power loss may have torn, and what is written again, says mr_history_mend_some().
 * Each call looks at one project, or at MR_HISTORY_MEND_FILES files of a large one, which takes a
 * fraction of a second when the directories are cached; so a server can do it between its rounds,
 * once after its start, and 200,000 files are ten calls.
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>

struct mr_team_mending;

/* `clock` must outlive it. */
struct mr_team_mending *mr_team_mending_new(const char *storage_root, const struct mr_clock *clock);
/* NULL is fine. */
void mr_team_mending_free(struct mr_team_mending *mending);
/* What fails is logged, and the project passed by. */
void mr_team_mending_some(struct mr_team_mending *mending, bool *more);
