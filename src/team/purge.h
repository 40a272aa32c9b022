/*
 * team/purge.h - an agent is taken out of the database, and out of the files of the archive.
 *
 * The files show what is, the git history what was. So the messages of a purged agent and its own
 * directory go from the work tree (but for deleted.json, which says so), what it shared with
 * others is written anew without it, and the commits that showed it all stay.
 */
#pragma once

#include "team/agent.h"

/*
 * In `after` of a change: the words of its last messages must be there to be removed. Counts in
 * `deletion` what went; every archive it left traces in has rows queued.
 */
MR_CHECK enum mr_code mr_team_purge(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, struct mr_team_deletion *deletion);
