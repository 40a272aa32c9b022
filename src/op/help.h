/* op/help.h - help for every level, from the operation table. */
#pragma once

#include "base/buf.h"
#include "op/op.h"

/* Help for a command, or for a group of commands; the empty path is the program itself. */
void mr_help_write(struct mr_buf *out, const struct mr_op_table *table, const char *path,
	bool colour);
