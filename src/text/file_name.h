/* text/file_name.h - names of files from outside, made safe to use in one directory. Pure. */
#pragma once

#include "base/arena.h"

enum { MR_FILE_NAME_BYTES = 255 };

/*
 * The name without white space around it. What some file system does not take becomes '_': the
 * characters / ? < > \ : * | " and control characters, dots and spaces at the end, and as a whole
 * names of dots and of Windows' devices ("con", "nul.txt"). So do characters that turn the
 * direction of text, which hide what a file is. Other characters are kept; the result has at most
 * MR_FILE_NAME_BYTES bytes. An empty name is `fallback`.
 */
const char *mr_file_name_safe(struct mr_arena *arena, const char *name, const char *fallback);
