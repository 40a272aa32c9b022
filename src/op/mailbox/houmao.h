/*
 * op/mailbox/houmao.h - the program houmao-mgr, and the older names of mail commands.
 *
 * The reference has its mail verbs below `agents`: `agents mail …`, `agents self mail …` and
 * `agents single --agent-name NAME mail …`, and in the same places `mailbox status`, `register` and
 * `unregister`. Mailroom takes them too, under both of its names.
 */
#pragma once

#include "op/op.h"

struct mr_arena;

/* Copies of the mail operations, and of those about an agent's mailbox, under those names, hidden;
 * `*len` says how many. */
const struct mr_op *const *mr_houmao_aliases(struct mr_arena *arena, size_t *len);

/* The table of houmao-mgr; `help` is the command help, and `style` what HOUMAO_CLI_PRINT_STYLE
 * says, or NULL. */
struct mr_op_table mr_houmao_table(struct mr_arena *arena, const struct mr_op *help,
	const char *style);
