/* team/project.h - projects: one per repository, found by its path, its slug or its last name. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

/*
 * The project of this key; created when it does not exist. `identity_mode` NULL is the configured
 * one; a mode that does not apply here (no repository, no remote) falls back to dir. A project of
 * exactly this path is found whatever the mode says, and `why` tells how the project was chosen.
 * Safe when many do it at once. INVALID_ARGUMENT: an empty key, one with NUL, one too long.
 */
MR_CHECK enum mr_code mr_team_project_ensure(struct mr_ctx *cx, struct mr_team *team,
	const char *human_key, const char *identity_mode, struct mr_team_project *out);
/* The same inside a change. */
MR_CHECK enum mr_code mr_team_project_ensure_in(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *wanted, struct mr_team_project *out);
/* What ensuring would store (slug without a collision's suffix), computed before a change begins.
 */
MR_CHECK enum mr_code mr_team_project_plan(struct mr_ctx *cx, struct mr_team *team,
	const char *human_key, const char *identity_mode, struct mr_team_project *out);

/*
 * By exact key, exact slug, slug of what was given, the repository around a path that the caller
 * may name (base/reach.h), last component of the key, in this order.
 * NOT_FOUND with data.suggestions; INVALID_ARGUMENT (argument `project_key`) with data.candidates
 * when the last component fits several.
 */
MR_CHECK enum mr_code mr_team_project_find(struct mr_ctx *cx, struct mr_db *db, const char *key,
	struct mr_team_project *out);
MR_CHECK enum mr_code mr_team_project_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_project *out);
/* All, oldest first, with their short names. */
MR_CHECK enum mr_code mr_team_project_list(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_projects *out);
