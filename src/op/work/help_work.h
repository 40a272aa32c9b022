/*
 * op/work/help_work.h - help for commands of the workspace: a text, Markdown, or an object that
 * describes the command, and with --recursive all commands below it.
 */
#pragma once

#include "op/contract.h"

/* For mr_contract.help. */
void mr_help_work(struct mr_buf *out, const struct mr_op_table *table,
	const struct mr_invocation *how);
/* Where to read on after a command line that is wrong: "try: afmail case --help". */
const char *mr_help_work_hint(struct mr_arena *arena, const struct mr_invocation *how);
