/* op/work/around_work.h - what is around a command of the workspace: directories, variables, and
 * how people type commands. */
#pragma once

#include "base/ctx.h"
#include "workspace/skill_agent.h"

/* A text for people in which commands of afmail stand in backticks, with the words that `mailroom`
 * has for them. */
const char *mr_around_spell(struct mr_arena *arena, const char *text);
/* The working directory. */
MR_CHECK enum mr_code mr_around_directory(struct mr_ctx *cx, const char **out);
/* What is around the command: the working directory, and where agents keep their skills. */
MR_CHECK enum mr_code mr_around_agents(struct mr_ctx *cx, struct mr_work_surroundings *out);
