/* op/work/afmail.c - the operations of the workspace as the program afmail has them. */
#include "op/work/afmail.h"

#include "op/nouns.h"
#include "op/work/contract_work.h"

#include <string.h>

#define WITHIN "work "

struct mr_op_table mr_afmail_table(struct mr_arena *arena, const struct mr_op *help)
{
	const struct mr_op **ops = mr_arena_array(arena, mr_nouns.len + 1, sizeof(*ops));
	struct mr_op_table table = {
		.ops = ops,
		.contract = &mr_contract_afmail,
		.program = "afmail",
		.about = "Agent-First Mail: a person's e-mail as files that an agent works",
		.within = WITHIN,
		.is_spelled_out = true,
	};

	for (size_t i = 0; i < mr_nouns.len; i++) {
		struct mr_op *op;

		if (!mr_nouns.ops[i]->command || !mr_str_starts(mr_nouns.ops[i]->command, WITHIN))
			continue;
		/* Ours, for people: afmail knows the word as a group of commands alone. */
		if (mr_nouns.ops[i] == &mr_op_work_triage)
			continue;
		op = mr_arena_memdup(arena, mr_nouns.ops[i], sizeof(*op));
		op->command += strlen(WITHIN);
		op->contract = &mr_contract_afmail;
		ops[table.len++] = op;
	}
	ops[table.len++] = help;
	return table;
}
