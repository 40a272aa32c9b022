/* text/skill_file.h - SKILL.md of a skill for agents: front matter with a name and a description.
 * Pure. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* The text with LF at the ends of lines, cut at a NUL. */
char *mr_skill_file_text(struct mr_arena *arena, struct mr_bytes file);
/* Where the body of such a text begins: after the line that closes the front matter; 0 without
 * front matter. */
size_t mr_skill_file_body(const char *text);
/* What keeps an agent from loading the skill of this name, or NULL. */
const char *mr_skill_file_problem(struct mr_arena *arena, struct mr_bytes file, const char *name);
