/* team/archive/rebuild_refill.h - queueing for the archive what the database says now. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

/* Queue all that the archive of a project should have; of its messages, which never change, those
 * with an id above `after`. Adds the number of rows to `*queued`. */
MR_CHECK enum mr_code mr_team_refill_project(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, int64_t after, int64_t *queued);
