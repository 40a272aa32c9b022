/* team/find.h - projects and agents by a few letters of what they are called, for people who want
 * to open one. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_found {
	const char *project, *project_key; /* slug and key */
	const char *agent, *task; /* of an agent: its name and what it does; NULL: a project */
};
struct mr_team_founds {
	struct mr_team_found *items;
	size_t len;
};
/*
 * Projects whose key or slug, and active agents whose name or task, hold `text` in any case: first
 * projects, then agents, of each the most recently active first, at most `limit` of each. An empty
 * text finds all.
 */
MR_CHECK enum mr_code mr_team_find(struct mr_ctx *cx, struct mr_team *team, const char *text,
	int64_t limit, struct mr_team_founds *out);
