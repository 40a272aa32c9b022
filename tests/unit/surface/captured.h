/* tests/unit/surface/captured.h - a command run in this process, and what it wrote. */
#pragma once

#include "base/arena.h"
#include "op/op.h"

struct captured {
	int status;
	const char *out, *err; /* what went to standard output and standard error */
};

/* Run "mailroom" with the words of `line`, which are separated by single blanks. */
struct captured capture(struct mr_arena *arena, const struct mr_op_table *table, const char *line);
