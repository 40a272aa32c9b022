/*
 * team/purge.h - deletes an agent from the database, and from the files of the archive.
 *
 * The files show the current state, the git history the past. So the messages of a purged agent and
 * its own directory go from the work tree (but for deleted.json, which says so), what it shared
 * with others is written anew without it, and the commits that showed it all stay.
 */
#pragma once

#include "team/agent.h"

/*
 * In `after` of a change: its latest messages must be in the search index to be removed from it.
 * Counts in `deletion` what was deleted; rows are queued for every archive that mentions the agent.
 */
MR_CHECK enum mr_code mr_team_purge(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, struct mr_team_deletion *deletion);
