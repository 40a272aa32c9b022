/*
 * surface/cli/command.c - Derives the tree of commands and option names from the operation table.
 */
#include "surface/cli/command.h"

#include <string.h>

const struct mr_op *mr_command_find(const struct mr_op_table *table, const char *path)
{
	for (size_t i = 0; i < table->len; i++) {
		if (mr_str_eq(table->ops[i]->command, path))
			return table->ops[i];
	}
	return NULL;
}

/* What follows `path` in a longer command, or NULL. */
static const char *tail_of(const struct mr_op *op, const char *path)
{
	size_t len = strlen(path);

	if (!op->command || strncmp(op->command, path, len) != 0)
		return NULL;
	if (len == 0)
		return op->command;
	return op->command[len] == ' ' ? op->command + len + 1 : NULL;
}

bool mr_command_is_group(const struct mr_op_table *table, const char *path)
{
	for (size_t i = 0; i < table->len; i++) {
		if (tail_of(table->ops[i], path))
			return true;
	}
	return false;
}

struct mr_texts mr_command_words(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path)
{
	struct mr_texts words = { NULL, 0 };

	words.items = mr_arena_array(arena, table->len + 1, sizeof(*words.items));
	for (size_t i = 0; i < table->len; i++) {
		const char *tail = tail_of(table->ops[i], path);
		const char *word;

		if (!tail)
			continue;
		word = mr_arena_strndup(arena, tail, strcspn(tail, " "));
		if (!mr_texts_has(&words, word))
			words.items[words.len++] = word;
	}
	return words;
}

const char *mr_command_join(struct mr_arena *arena, const char *path, const char *word)
{
	return mr_arena_printf(arena, "%s%s%s", path, *path ? " " : "", word);
}

const char *mr_command_option(struct mr_arena *arena, const struct mr_param *param)
{
	char *option = mr_arena_printf(arena, "--%s", param->name);

	for (char *c = option; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return option;
}
