/* app/settings_copy.h - the user's own settings file, as a backup has it. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

/* $XDG_CONFIG_HOME/mailroom/mailroom.yaml, or that in ~/.config; NULL: neither is known. */
const char *mr_settings_own_path(struct mr_arena *arena);
/*
 * Its path and text. Unless `with_secrets`, settings that are secret (app/settings_table.c) are
 * left out; a file that has none keeps its bytes. Without data when there is no such file.
 */
MR_CHECK enum mr_code mr_settings_copy(struct mr_arena *arena, bool with_secrets,
	const char **out_path, struct mr_bytes *out, struct mr_err *err);
