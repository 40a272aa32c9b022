/* tests/fuzz/fuzz_argv.c - words at newlines as a command line: what is accepted decodes or says
 * why. */
#include "op/args.h"
#include "op/nouns.h"
#include "surface/cli/argv.h"
#include "surface/cli/commands.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { WORDS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct mr_op *const ops[] = {
		&mr_op_serve,
		&mr_op_config,
		&mr_op_health,
		&mr_op_readiness,
		&mr_op_schema,
		&mr_op_completion,
		&mr_op_help,
	};
	static const struct mr_op_table table = { ops, MR_LEN(ops) };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts lines = mr_str_split(arena,
		len ? mr_arena_strndup(arena, (const char *)data, len) : "", '\n');
	const char *argv[WORDS_MAX + 1] = { "mailroom" };
	int argc = 1;
	struct mr_argv got;
	struct mr_args in;
	struct mr_err err;

	while (argc <= (int)lines.len && argc < WORDS_MAX) {
		argv[argc] = lines.items[argc - 1];
		argc++;
	}
	if (mr_argv_parse(arena, &table, argc, argv, &got, &err)) {
		if (err.code != MR_EINVAL || !*err.msg || !got.path)
			abort();
		return 0;
	}
	if (got.op && mr_args_decode(arena, got.op->params, got.args, &in, &err) && !err.issues)
		abort();
	return 0;
}
