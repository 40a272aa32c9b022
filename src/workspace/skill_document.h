/* workspace/skill_document.h - the text of a skill file: made and recognised. Pure. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/* The built-in skill as it is installed: with a comment after its front matter that says who wrote
 * it. */
struct mr_bytes mr_work_skill_document(struct mr_arena *arena);
/* Did this program, of whatever version, write the file, or does it say the same? Only such a file
 * is overwritten or removed without being told to. */
bool mr_work_skill_is_managed(struct mr_arena *arena, struct mr_bytes file);
/* Does it say what the built-in skill says? */
bool mr_work_skill_is_current(struct mr_arena *arena, struct mr_bytes file);
