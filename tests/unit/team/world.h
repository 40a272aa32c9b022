/* tests/unit/team/world.h - a team's storage with projects and agents, and time held still. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

#define WORLD_NOW_US (INT64_C(1773202500) * 1000000) /* 2026-03-11T04:15:00Z */

struct world {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_team_config config; /* change it, then world_reopen() */
	struct mr_team *team;
};

/* In test_dir(), which becomes the working directory; the storage is "root" in it. */
void world_open(struct world *world);
void world_reopen(struct world *world);
void world_close(struct world *world);

/* Rows, made directly: a project of this key, an agent (program codex, model gpt, policy open). */
struct mr_team_project world_project(struct world *world, const char *human_key);
struct mr_team_agent world_agent(struct world *world, const struct mr_team_project *project,
	const char *name);
/* Run SQL that changes something; ask for one number or text. */
void world_exec(struct world *world, const char *sql);
int64_t world_int(struct world *world, const char *sql);
const char *world_text(struct world *world, const char *sql);
/* The clock goes on. */
void world_later(struct world *world, int64_t seconds);
/* The error has this type and code, and its text holds this. */
void world_check_fail(struct world *world, enum mr_code rc, const char *type, const char *text);
