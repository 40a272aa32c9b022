/*
 * op/help.c - Writes the help text of the program, of a group of commands, or of one
 * command.
 */
#include "op/help.h"

#include "base/arena.h"
#include "base/str.h"
#include "op/command.h"
#include "op/contract.h"

#include <ctype.h>
#include <string.h>

struct writing {
	struct mr_arena *arena;
	struct mr_buf *out;
	const struct mr_op_table *table;
	bool colour;
};

static void put_heading(struct writing *w, const char *text)
{
	mr_buf_printf(w->out, "\n%s%s%s\n", w->colour ? "\033[1m" : "", text,
		w->colour ? "\033[0m" : "");
}

static char *upper_name(struct mr_arena *arena, const char *name)
{
	char *upper = mr_arena_strdup(arena, name);

	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return upper;
}

static bool is_list(const struct mr_param *param)
{
	return param->type == MR_TYPE_TEXTS || param->type == MR_TYPE_INTS;
}

const char *mr_help_value(struct mr_arena *arena, const struct mr_param *param)
{
	struct mr_texts choices = { (const char **)param->choices, 0 };

	if (param->type == MR_TYPE_OBJECT)
		return "JSON";
	if (param->type == MR_TYPE_INT || param->type == MR_TYPE_INTS)
		return "N";
	if (!param->choices)
		return upper_name(arena, param->name);
	while (param->choices[choices.len])
		choices.len++;
	return mr_str_join(arena, &choices, "|");
}

const char *mr_help_usage(struct mr_arena *arena, const struct mr_op_table *table,
	const struct mr_op *op)
{
	const char *usage = mr_arena_printf(arena, "%s %s", mr_op_program(table), op->command);
	bool options = false;

	for (size_t i = 0; i < mr_param_count(op->params); i++)
		options = options || !(op->params[i].flags & MR_POSITIONAL);
	if (options)
		usage = mr_arena_printf(arena, "%s [options]", usage);
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		const struct mr_param *param = &op->params[i];
		bool required = param->flags & MR_REQUIRED;

		const char *open = !required ? "[" : table->is_spelled_out ? "<" : "";
		const char *close = !required ? "]" : table->is_spelled_out ? ">" : "";
		const char *more = is_list(param) ? "..." : "";

		if (param->flags & MR_POSITIONAL)
			usage = mr_arena_printf(arena, "%s %s%s%s%s%s", usage, open,
				upper_name(arena, param->name), required ? "" : more, close,
				required ? more : "");
	}
	return usage;
}

enum { LEAST_COLUMN = 14, COLUMN = 28, LINE_WIDTH = 80 };

/*
 * Words up to LINE_WIDTH columns, in lines that begin at `indent`; the first one is there already.
 * A line break that is written stays.
 */
static void put_wrapped(struct mr_buf *out, const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (column > indent && column + 1 + len > LINE_WIDTH) {
			mr_buf_putc(out, '\n');
			mr_buf_pad(out, ' ', indent);
			column = indent;
		}
		if (column > indent && len) {
			mr_buf_putc(out, ' ');
			column++;
		}
		mr_buf_add(out, text, len);
		column += len;
		text += len;
		if (*text == '\n') {
			mr_buf_putc(out, '\n');
			column = indent;
		}
		text += *text != '\0';
	}
	mr_buf_putc(out, '\n');
}

/* "  left      right"; a left side too long for its column takes a line of its own. */
static void put_row_at(struct writing *w, size_t column, const char *left, const char *right)
{
	size_t len = strlen(left) + 2;

	mr_buf_printf(w->out, "  %s", left);
	if (len + 2 > column) {
		mr_buf_putc(w->out, '\n');
		len = 0;
	}
	mr_buf_pad(w->out, ' ', column - len);
	put_wrapped(w->out, right, column);
}

static void put_row(struct writing *w, const char *left, const char *right)
{
	put_row_at(w, COLUMN, left, right);
}

const char *mr_help_summary(struct mr_arena *arena, const struct mr_param *param)
{
	const char *summary = param->summary;

	if (param->flags & MR_BODY)
		summary = mr_arena_printf(arena, "%s; - reads standard input", summary);
	if (param->flags & MR_HERE)
		summary = mr_arena_printf(arena, "%s; . or nothing is the current directory",
			summary);
	else if (param->flags & MR_REQUIRED)
		summary = mr_arena_printf(arena, "%s (required)", summary);
	if (is_list(param) && !(param->flags & MR_POSITIONAL))
		summary = mr_arena_printf(arena, "%s; may be repeated", summary);
	/* False, the usual default of a flag, is not shown. */
	if (param->fallback &&
		!(param->type == MR_TYPE_BOOL && mr_str_eq(param->fallback, "false")))
		summary = mr_arena_printf(arena, "%s (default %s)", summary, param->fallback);
	return summary;
}

const char *mr_help_name(struct mr_arena *arena, const struct mr_param *param)
{
	const char *option = mr_command_option(arena, param);

	if (param->flags & MR_POSITIONAL)
		return upper_name(arena, param->name);
	if (param->type != MR_TYPE_BOOL)
		return mr_arena_printf(arena, "%s %s", option, mr_help_value(arena, param));
	return mr_str_eq(param->fallback, "true") ? mr_arena_printf(arena, "--[no-]%s", option + 2)
						  : option;
}

static void put_params(struct writing *w, const struct mr_op *op, bool positional)
{
	bool heading = false;

	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		const struct mr_param *param = &op->params[i];

		if (!!(param->flags & MR_POSITIONAL) != positional)
			continue;
		if (!heading)
			put_heading(w, positional ? "Arguments" : "Options");
		heading = true;
		put_row(w, mr_help_name(w->arena, param), mr_help_summary(w->arena, param));
		if (positional && param->choices)
			put_row(w, "",
				mr_arena_printf(w->arena, "one of %s",
					mr_help_value(w->arena, param)));
	}
}

static void put_globals(struct writing *w, const char *path)
{
	put_heading(w, "Global options");
	for (const struct mr_global_option *g = mr_contract_globals(mr_contract_at(w->table, path));
		g->option; g++)
		put_row(w,
			mr_arena_printf(w->arena, "%s%s%s", g->option, g->value_name ? " " : "",
				g->value_name ? g->value_name : ""),
			g->summary);
}

/* A command as the list of them shows it: its last word, or all of it. */
static const char *listed_name(struct writing *w, const char *path, const char *word)
{
	const char *whole = mr_command_join(w->arena, path, word);

	return w->table->is_spelled_out ? mr_command_join(w->arena, mr_op_program(w->table), whole)
					: word;
}

static void put_commands(struct writing *w, const char *path)
{
	struct mr_texts words = mr_command_words(w->arena, w->table, path);
	size_t column = LEAST_COLUMN;

	for (size_t i = 0; i < words.len; i++) {
		size_t needed = strlen(listed_name(w, path, words.items[i])) + 4;

		column = needed > column && needed <= COLUMN ? needed : column;
	}
	put_heading(w, "Commands");
	for (size_t i = 0; i < words.len; i++) {
		const char *longer = mr_command_join(w->arena, path, words.items[i]);
		const struct mr_op *op = mr_command_find(w->table, longer);

		put_row_at(w, column, listed_name(w, path, words.items[i]),
			op ? op->summary : mr_command_about(w->arena, w->table, longer));
	}
}

static void put_op(struct writing *w, const struct mr_op *op)
{
	mr_buf_printf(w->out, "Usage: %s\n\n%s.\n", mr_help_usage(w->arena, w->table, op),
		op->summary);
	if (op->help) {
		mr_buf_putc(w->out, '\n');
		put_wrapped(w->out, op->help, 0);
	}
	put_params(w, op, true);
	put_params(w, op, false);
}

void mr_help_write(struct mr_buf *out, const struct mr_op_table *table, const char *path,
	bool colour)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct writing w = { arena, out, table, colour };
	const struct mr_op *op = mr_command_find(table, path);
	bool group = mr_command_is_group(table, path);
	const char *program = mr_op_program(table);

	if (op) {
		put_op(&w, op);
	} else {
		mr_buf_printf(out, "Usage: %s%s%s COMMAND\n", program, *path ? " " : "", path);
		mr_buf_printf(out, "\n%s.\n",
			*path                  ? mr_command_about(arena, table, path)
				: table->about ? table->about
					       : "Mail for AI agents, in plain files");
	}
	if (group)
		put_commands(&w, path);
	put_globals(&w, path);
	if (group)
		mr_buf_printf(out, "\nMore about a command: %s%s%s COMMAND --help\n", program,
			*path ? " " : "", path);
}
