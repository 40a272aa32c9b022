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
/* Run SQL that changes something. */
void world_exec(struct world *world, const char *sql);
/* How many rows there are: of a table, "messages", or of some in it, "messages WHERE id > 1". */
int64_t world_count(struct world *world, const char *what);
/* The first column of the first row; 0 or NULL when there is no row. */
int64_t world_int(struct world *world, const char *sql);
const char *world_text(struct world *world, const char *sql);
/* The first column of all rows, with `between` between them; NULL when there is no row. */
const char *world_list(struct world *world, const char *sql, const char *between);
/* The steps in which the engine will run a statement. */
struct mr_texts world_plan(struct world *world, const char *sql);
/* The full-text index of messages: which have a word ("7,1", the newest first; NULL when none has),
 * add a message, make it anew from the table, and make sure that it agrees with the table. */
const char *world_found(struct world *world, const char *word);
void world_index(struct world *world, int64_t message_id);
void world_reindex(struct world *world);
void world_check_index(struct world *world);
/* The clock goes on. */
void world_later(struct world *world, int64_t seconds);
/* The error has this type and code, and its text holds this. */
void world_check_fail(struct world *world, enum mr_code rc, const char *type, const char *text);
