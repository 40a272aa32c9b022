/* surface/cli/completion.h - completion scripts for bash, zsh and fish, from the operation table.
 */
#pragma once

#include "base/buf.h"
#include "op/op.h"

enum mr_shell { MR_SHELL_BASH, MR_SHELL_ZSH, MR_SHELL_FISH };

void mr_completion_write(struct mr_buf *out, const struct mr_op_table *table, enum mr_shell shell);
