/*
 * team/group.h - several agents under one address: @all, @active, @program:codex, and groups that
 * have a name.
 *
 * A group is resolved when a message is sent: who joins later gets later mail only.
 */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_group {
	int64_t id;
	const char *name; /* without its @ */
	struct mr_texts members;
	int64_t created_ts;
};
struct mr_team_groups {
	struct mr_team_group *items;
	size_t len;
};

/*
 * Who is meant by `name`, which stood behind an @, in this project: active agents without the
 * system's own and without `but_id`, who sends. `*found` is false when it names no group at all.
 * `*out` may be empty.
 */
MR_CHECK enum mr_code mr_team_group_resolve(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, const struct mr_team_project *project, const char *name, int64_t but_id,
	bool *found, struct mr_team_agents *out);

struct mr_team_group_edit {
	const char *project_key;
	const char *agent_name; /* who sets it: any agent of the project may */
	const char *name;
	struct mr_texts members; /* instead of those it had; none: the group is deleted */
};
/* INVALID_ARGUMENT: a name that is none, or that an agent has; too many members or groups.
 * NOT_FOUND: a member. */
MR_CHECK enum mr_code mr_team_group_set(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_group_edit *edit, struct mr_team_group *out);
/* The groups of a project that have a name, in the order of their names. */
MR_CHECK enum mr_code mr_team_group_list(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, struct mr_team_groups *out);
