/* op/help.h - help for every level, from the operation table. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "op/op.h"

/* Help for a command, or for a group of commands; the empty path is the program itself. */
void mr_help_write(struct mr_buf *out, const struct mr_op_table *table, const char *path,
	bool colour);

/* --- the pieces, for whatever else describes a command --- */

/* "mailroom team send [options] PROJECT_KEY". */
const char *mr_help_usage(struct mr_arena *arena, const struct mr_op_table *table,
	const struct mr_op *op);
/* A parameter as it is typed: "AGENT_NAME", "--port N", "--[no-]wait". */
const char *mr_help_name(struct mr_arena *arena, const struct mr_param *param);
/* What stands for its value: PORT, safe|force|stash, JSON. */
const char *mr_help_value(struct mr_arena *arena, const struct mr_param *param);
/* What it is for, with its default and whether it is required. */
const char *mr_help_summary(struct mr_arena *arena, const struct mr_param *param);
