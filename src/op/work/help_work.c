/* op/work/help_work.c - help of the workspace's commands in the forms of their contract. */
#include "op/work/help_work.h"

#include "op/command.h"
#include "op/help.h"
#include "text/afd.h"

#include <ctype.h>
#include <string.h>

enum { RULE_WIDTH = 60 };

/* --- which command --- */

/* How many words of a path the hint names. */
static size_t hint_words(const char *path)
{
	return mr_str_starts(path, "archive ") || mr_str_starts(path, "message attachment") ? 3 : 2;
}

const char *mr_help_work_hint(struct mr_arena *arena, const struct mr_invocation *how)
{
	const char *prefix = "work ";
	size_t before = mr_str_starts(how->path, prefix) ? strlen(prefix) : 0;
	size_t words = hint_words(how->path + before);
	const char *end = how->path + before;

	for (; *end && words; words--) {
		end += strspn(end, " ");
		end += strcspn(end, " ");
	}
	return mr_arena_printf(arena, "try: %s %.*s%s--help", how->program, (int)(end - how->path),
		how->path, *how->path ? " " : "");
}

static bool is_given(const struct mr_invocation *how, const char *option)
{
	for (size_t i = 0; i < how->given_count; i++) {
		if (mr_str_eq(how->given[i].option, option))
			return true;
	}
	return false;
}

/* "afmail case add", of "case add". */
static const char *full_path(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path)
{
	const char *program = mr_op_program(table);

	return *path ? mr_command_join(arena, program, path) : program;
}

static const char *about(struct mr_arena *arena, const struct mr_op_table *table, const char *path)
{
	const struct mr_op *op = mr_command_find(table, path);

	if (op)
		return op->summary;
	return *path ? mr_command_about(arena, table, path) : table->about;
}

/* --- a text --- */

static size_t depth_of(const char *path)
{
	size_t depth = *path != '\0';

	for (; *path; path++)
		depth += *path == ' ';
	return depth;
}

struct writing {
	struct mr_arena *arena;
	struct mr_buf *out;
	const struct mr_op_table *table;
	bool is_recursive, is_markdown;
};

static void write_one(const struct writing *w, const char *path)
{
	const char *full = full_path(w->arena, w->table, path);
	const char *summary = about(w->arena, w->table, path);

	if (w->is_markdown) {
		mr_buf_pad(w->out, '#', depth_of(path) + 1);
		mr_buf_printf(w->out, " %s - %s\n\n```text\n", full, summary ? summary : "");
		mr_help_write(w->out, w->table, path, false);
		mr_buf_puts(w->out, "```\n");
		return;
	}
	if (w->is_recursive) {
		mr_buf_putc(w->out, '\n');
		for (size_t i = 0; i < RULE_WIDTH; i++)
			mr_buf_puts(w->out, "═");
		mr_buf_printf(w->out, "\n%s — %s\n\n", full, summary ? summary : "");
	}
	mr_help_write(w->out, w->table, path, false);
}

/* A path and, when asked for, all that is below it. */
static void write_text(const struct writing *w, const char *path)
{
	struct mr_texts words = mr_command_words(w->arena, w->table, path);

	write_one(w, path);
	for (size_t i = 0; w->is_recursive && i < words.len; i++) {
		if (w->is_markdown)
			mr_buf_putc(w->out, '\n');
		/* No deeper than a command has words. NOLINTNEXTLINE(misc-no-recursion) */
		write_text(w, mr_command_join(w->arena, path, words.items[i]));
	}
}

/* --- an object --- */

static const char *upper(struct mr_arena *arena, const char *name)
{
	char *text = mr_arena_strdup(arena, name);

	for (char *c = text; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return text;
}

static void emit_nullable(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
	else
		mr_out_null(out, key);
}

struct argument {
	const char *id, *long_name, *help, *action, *value_name, *fallback;
	char letter;
	bool is_positional, is_required;
};

static void emit_argument(struct mr_out *out, const struct argument *a)
{
	char letter[2] = { a->letter, '\0' };

	mr_out_map(out, NULL);
	mr_out_text(out, "id", a->id);
	mr_out_text(out, "kind", a->is_positional ? "argument" : "option");
	emit_nullable(out, "long", a->long_name);
	emit_nullable(out, "short", a->letter ? letter : NULL);
	emit_nullable(out, "help", a->help);
	mr_out_null(out, "long_help");
	mr_out_bool(out, "required", a->is_required);
	mr_out_text(out, "action", a->action);
	mr_out_list(out, "value_names");
	if (a->value_name)
		mr_out_text(out, NULL, a->value_name);
	mr_out_end(out);
	mr_out_list(out, "default_values");
	if (a->fallback)
		mr_out_text(out, NULL, a->fallback);
	mr_out_end(out);
	mr_out_end(out);
}

static void emit_param(struct mr_arena *arena, struct mr_out *out, const struct mr_param *param)
{
	bool is_list = param->type == MR_TYPE_TEXTS || param->type == MR_TYPE_INTS;
	bool is_flag = param->type == MR_TYPE_BOOL;
	bool is_positional = param->flags & MR_POSITIONAL;
	/* That more of a required argument may follow is not the contract's. */
	bool is_one = is_positional && param->flags & MR_REQUIRED;
	struct mr_value fallback;
	struct argument a = {
		.id = param->name,
		.long_name = is_positional ? NULL : mr_command_option(arena, param) + 2,
		.help = param->summary,
		.action = is_flag            ? "SetTrue"
			: is_list && !is_one ? "Append"
					     : "Set",
		.value_name = is_flag ? NULL : upper(arena, param->name),
		.fallback = mr_param_default(param, &fallback) && !is_flag ? param->fallback : NULL,
		.is_positional = is_positional,
		.is_required = param->flags & MR_REQUIRED,
	};

	emit_argument(out, &a);
}

/* Members of the object about a command or a group; the map stays open. */
static void emit_head(struct mr_arena *arena, struct mr_out *out, const struct mr_op_table *table,
	const char *path)
{
	const char *full = full_path(arena, table, path);
	const char *last = strrchr(full, ' ');
	const char *rest = full;

	mr_out_text(out, "name", last ? last + 1 : full);
	mr_out_text(out, "command_path", full);
	mr_out_list(out, "path");
	while (*rest) {
		size_t len = strcspn(rest, " ");

		mr_out_text(out, NULL, mr_arena_strndup(arena, rest, len));
		rest += len + (rest[len] != '\0');
	}
	mr_out_end(out);
	emit_nullable(out, "about", about(arena, table, path));
}

static const char *usage_of(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *all;
	const char *start;

	mr_buf_init(&text, 1 << 20);
	mr_help_write(&text, table, path, false);
	all = mr_buf_text(&text);
	start = strstr(all, "Usage: ");
	if (!start)
		return NULL;
	start += strlen("Usage: ");
	return mr_arena_strndup(arena, start, strcspn(start, "\n"));
}

struct describing {
	struct mr_arena *arena;
	struct mr_out *out;
	const struct mr_op_table *table;
	bool is_recursive;
};

static void emit_arguments(const struct describing *d, const char *path)
{
	static const struct argument help = { .id = "help",
		.long_name = "help",
		.help = "show help for the command",
		.action = "Help",
		.letter = 'h' };
	const struct mr_op *op = mr_command_find(d->table, path);

	mr_out_list(d->out, "arguments");
	for (size_t i = 0; op && i < mr_param_count(op->params); i++)
		emit_param(d->arena, d->out, &op->params[i]);
	emit_argument(d->out, &help);
	mr_out_end(d->out);
}

/* One command: whole, or as a child that is only named. */
static void emit_command(const struct describing *d, const char *path, bool is_whole)
{
	struct mr_texts words = { NULL, 0 };
	const struct mr_op *op = mr_command_find(d->table, path);

	emit_head(d->arena, d->out, d->table, path);
	emit_nullable(d->out, "long_about", is_whole && op ? op->help : NULL);
	emit_nullable(d->out, "usage", is_whole ? usage_of(d->arena, d->table, path) : NULL);
	if (is_whole) {
		emit_arguments(d, path);
		words = mr_command_words(d->arena, d->table, path);
	} else {
		mr_out_list(d->out, "arguments");
		mr_out_end(d->out);
	}
	mr_out_list(d->out, "subcommands");
	for (size_t i = 0; i < words.len; i++) {
		mr_out_map(d->out, NULL);
		/* NOLINTNEXTLINE(misc-no-recursion) */
		emit_command(d, mr_command_join(d->arena, path, words.items[i]), d->is_recursive);
		mr_out_end(d->out);
	}
	mr_out_end(d->out);
}

static const struct mr_value *describe(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path, bool is_recursive)
{
	struct mr_out out;
	struct describing d = { arena, &out, table, is_recursive };

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "code", "help");
	mr_out_text(&out, "scope", is_recursive ? "recursive" : "one_level");
	emit_command(&d, path, true);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

void mr_help_work(struct mr_buf *out, const struct mr_op_table *table,
	const struct mr_invocation *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *format = how->is_format_given ? how->format->name : "plain";
	struct writing w = { arena, out, table, is_given(how, "--recursive"),
		mr_str_eq(format, "markdown") };

	if (mr_str_eq(format, "json"))
		mr_afd_write(arena, out, describe(arena, table, how->path, w.is_recursive),
			MR_AFD_JSON);
	else if (mr_str_eq(format, "yaml"))
		mr_afd_write_raw_yaml(arena, out,
			describe(arena, table, how->path, w.is_recursive));
	else
		write_text(&w, how->path);
}
