/*
 * surface/cli/cli.h - the command line: from argv to an operation, and its result to the screen.
 *
 * Exit status: 0 ok, 1 failure, 2 usage. Results go to standard output; messages to standard error
 * or where the operation's contract wants them, except that with --json an error is an object on
 * standard output too.
 */
#pragma once

#include "op/op.h"

/* Run one command; returns the exit status. `variables` are NAME=value, NULL-terminated. */
int mr_cli_run(const struct mr_op_table *table, int argc, const char *const *argv,
	const char *const *variables);
