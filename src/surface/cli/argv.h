/*
 * surface/cli/argv.h - a command line taken apart. Pure.
 *
 * mailroom [global options] COMMAND… [options] [arguments]. Global options may stand anywhere
 * before
 * "--". Options are --name VALUE or --name=VALUE; a flag is --name or --no-name; a list's option
 * may be repeated. Underscores and hyphens in names are the same. An alias of one letter is an
 * option of its own: -o VALUE.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "op/contract.h"
#include "op/op.h"
#include "text/value.h"

struct mr_argv {
	bool help, version, yes, absolute;
	const char *format_name;            /* that was asked for, or NULL */
	const struct mr_contract *contract; /* of the command, or of the group of commands */
	const struct mr_format *format;     /* of the contract */
	struct mr_given *given;             /* the contract's own options */
	size_t given_count;
	const char *config_file;
	const char *env_file;
	struct mr_texts assignments; /* of --set */
	const char *path;            /* the command's words as far as they are known */
	const struct mr_op *op;      /* NULL when the path is only a group */
	const struct mr_value *args; /* a map for mr_args_decode(); all values are texts */
};

/*
 * MR_EINVAL says what is wrong, in the words the user typed, with the nearest right word where
 * there is one. With --help anything after it is forgiven; `*out` always tells at least path,
 * format and flags.
 */
MR_CHECK enum mr_code mr_argv_parse(struct mr_arena *arena, const struct mr_op_table *table,
	int argc, const char *const *argv, struct mr_argv *out, struct mr_err *err);
