/*
 * op/command.h - the tree of commands that the operation table implies.
 *
 * A path is a command's words with single blanks: "team inbox". The empty path is the program.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "op/op.h"

/* The operation whose command is exactly this path, or NULL. */
const struct mr_op *mr_command_find(const struct mr_op_table *table, const char *path);
/* The first operation whose command is this path or begins with it, or NULL. */
const struct mr_op *mr_command_first(const struct mr_op_table *table, const char *path);
/* Do longer commands start with this path? */
bool mr_command_is_group(const struct mr_op_table *table, const char *path);
/* The words that may follow a path, each once, in the table's order; those of hidden operations
 * only where there are no others. */
struct mr_texts mr_command_words(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path);
/* One line about a group of commands. */
const char *mr_command_about(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path);
/* A path and one more word. */
const char *mr_command_join(struct mr_arena *arena, const char *path, const char *word);
/* The parameter as an option: project_key is "--project-key". */
const char *mr_command_option(struct mr_arena *arena, const struct mr_param *param);
