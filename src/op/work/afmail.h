/* op/work/afmail.h - the workspace's operations as a program of their own: afmail. */
#pragma once

#include "base/arena.h"
#include "op/op.h"

/* Its table, in the arena: the commands of `mailroom work` without that word, in their own
 * contract, and the command that shows help. */
struct mr_op_table mr_afmail_table(struct mr_arena *arena, const struct mr_op *help);
