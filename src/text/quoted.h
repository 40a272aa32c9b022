/* text/quoted.h - the part of a mail's text that only repeats what was written before. Pure. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

struct mr_quoted {
	const char *visible; /* the text without its quoted end; white space at its end is cut */
	bool has_quoted;     /* something was cut off */
	const char *at;      /* "On <at>, <from> wrote:"; "" when there is no such line */
	const char *from;
};

/*
 * The quoted end begins at the first line "On ... wrote:", or, when there is none, where every line
 * to the end is empty or begins with '>'. `text` has LF as its line ends.
 */
void mr_quoted_split(struct mr_arena *arena, const char *text, struct mr_quoted *out);
