/* text/afd_private.h - pieces of Agent-First Data output, for the files that make it up. */
#pragma once

#include "text/afd.h"
#include "text/json.h"

#include <stdlib.h>

/*
 * What a suffix makes of a member: its key without the suffix, and its value as text. False when
 * the key has no suffix or the value is of another kind.
 */
bool mr_afd_suffix(struct mr_arena *arena, const char *key, const struct mr_value *value,
	const char **out_key, const char **out_text);
/* A number; a whole one without a point. */
const char *mr_afd_number(struct mr_arena *arena, const struct mr_value *value);
