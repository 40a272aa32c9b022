/* team/project_sql.h - projects, in the database. */
#pragma once

#include "team/project.h"

/* Folded as keys are compared: lower case, no '/' twice or at the end. */
const char *mr_team_project_fold(struct mr_arena *arena, const char *key);
/* The slug of a key's last component; "" when nothing is left. */
const char *mr_team_project_tail(struct mr_arena *arena, const char *key);

/* Columns of `projects`, called `p`, and what reads their rows (data/rows.h) into struct
 * mr_team_project. */
#define MR_TEAM_PROJECT_COLUMNS(p)                                                                 \
	p ".id, " p ".slug, " p ".human_key, " p ".identity_mode, " p ".created_at"
enum mr_code mr_team_project_read(struct mr_ctx *cx, struct mr_stmt *row, void *to);

/* The project of this id, with its short_name. */
MR_CHECK enum mr_code mr_team_project_called(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_project *out);
/* Not an error when there is none: `*found`. A key may be the project's own or another path of the
 * same repository. */
MR_CHECK enum mr_code mr_team_project_by_key(struct mr_ctx *cx, struct mr_db *db, const char *key,
	bool *found, struct mr_team_project *out);
MR_CHECK enum mr_code mr_team_project_by_slug(struct mr_ctx *cx, struct mr_db *db, const char *slug,
	bool *found, struct mr_team_project *out);
/* Those whose key ends so, at most `limit`. */
MR_CHECK enum mr_code mr_team_project_by_tail(struct mr_ctx *cx, struct mr_db *db, const char *tail,
	int64_t limit, struct mr_team_projects *out);
/* Inside a change; MR_EEXISTS when slug or key is taken. */
MR_CHECK enum mr_code mr_team_project_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *row, struct mr_team_project *out);
/* Another path of a project's repository leads to it from now on. */
MR_CHECK enum mr_code mr_team_project_add_key(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *key);
/* Slugs and last components, for suggestions; the newest some thousands. */
MR_CHECK enum mr_code mr_team_project_words(struct mr_ctx *cx, struct mr_db *db,
	struct mr_texts *out);
