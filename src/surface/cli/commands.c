/*
 * surface/cli/commands.c - The operations `completion`, `manual` and `help`, which write to the
 * terminal directly.
 */
#include "surface/cli/commands.h"

#include "base/fs.h"
#include "base/str.h"
#include "op/args.h"
#include "op/call.h"
#include "op/command.h"
#include "op/contract.h"
#include "op/help.h"
#include "surface/cli/completion.h"
#include "surface/cli/manual.h"
#include "surface/cli/terminal.h"
#include "text/out.h"

#include <unistd.h>

enum { SCREEN_BYTES = 1 << 20 };

static enum mr_code write_screen(struct mr_call *call, struct mr_buf *text)
{
	enum mr_code rc = mr_buf_check(text, "the text", &call->cx.err);

	if (!rc)
		mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(text));
	return rc;
}

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const struct mr_param completion_params[] = {
	{ .name = "shell",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "which shell",
		.choices = shells },
	{ 0 },
};

static enum mr_code completion(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *name = mr_args_text(in, "shell");
	enum mr_shell shell = mr_str_eq(name, "bash") ? MR_SHELL_BASH
		: mr_str_eq(name, "zsh")              ? MR_SHELL_ZSH
						      : MR_SHELL_FISH;

	(void)out;
	mr_buf_init(&text, SCREEN_BYTES);
	mr_completion_write(&text, call->app->table, shell);
	return write_screen(call, &text);
}

const struct mr_op mr_op_completion = {
	.name = "completion",
	.command = "completion",
	.summary = "Print a completion script for your shell",
	.help = "  bash: source <(mailroom completion bash) "
		"  zsh:  source <(mailroom completion zsh) "
		"  fish: mailroom completion fish | source",
	.params = completion_params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = completion,
};

static const struct mr_param manual_params[] = {
	{ .name = "page",
		.type = MR_TYPE_TEXT,
		.flags = MR_POSITIONAL,
		.summary = "which page, as mailroom-team or team",
		.fallback = "mailroom" },
	{ .name = "into",
		.type = MR_TYPE_TEXT,
		.summary = "write all pages into this directory, which exists" },
	{ 0 },
};

static enum mr_code write_pages(struct mr_call *call, const char *directory)
{
	const struct mr_op_table *table = call->app->table;
	struct mr_texts pages = mr_manual_pages(call->cx.arena, table);
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, directory, &dir, &call->cx.err);

	for (size_t i = 0; !rc && i < pages.len; i++) {
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&text, SCREEN_BYTES);
		mr_manual_write(&text, table, pages.items[i]);
		rc = mr_buf_check(&text, pages.items[i], &call->cx.err);
		if (!rc)
			rc = mr_fs_write_as(dir,
				mr_arena_printf(call->cx.arena, "%s.1", pages.items[i]),
				mr_buf_bytes(&text), MR_FS_REPLACE, MR_FS_SYNC_NOTHING, 0644,
				&call->cx.err);
	}
	return rc;
}

static enum mr_code manual(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *program = mr_op_program(call->app->table);
	const char *given = mr_args_text(in, "page");
	const char *page = given ? given : program;
	const char *longer = mr_arena_printf(call->cx.arena, "%s-%s", program, page);

	(void)out;
	if (mr_args_text(in, "into"))
		return write_pages(call, mr_args_text(in, "into"));
	mr_buf_init(&text, SCREEN_BYTES);
	if (!mr_manual_write(&text, call->app->table, longer) &&
		!mr_manual_write(&text, call->app->table, page))
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"there is no manual page '%s'; mailroom manual lists all at its end", page);
	return write_screen(call, &text);
}

const struct mr_op mr_op_manual = {
	.name = "manual",
	.command = "manual",
	.summary = "Print a manual page in the language of man(7)",
	.help = "Where the pages are not installed: mailroom manual team > team.1; man ./team.1",
	.params = manual_params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = manual,
};

static const struct mr_param help_params[] = {
	{ .name = "words",
		.type = MR_TYPE_TEXTS,
		.flags = MR_POSITIONAL,
		.summary = "the command" },
	{ 0 },
};

static enum mr_code help(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_texts words = mr_args_texts(call->cx.arena, in, "words");
	const char *path = mr_str_join(call->cx.arena, &words, " ");
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	(void)out;
	mr_buf_init(&text, SCREEN_BYTES);
	if (!mr_command_find(call->app->table, path) &&
		!mr_command_is_group(call->app->table, path))
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"there is no command '%s'; see mailroom help", path);
	mr_help_write(&text, call->app->table, path, mr_terminal_style(STDOUT_FILENO).colour);
	return write_screen(call, &text);
}

const struct mr_op mr_op_help = {
	.name = "help",
	.command = "help",
	.summary = "Show help for a command",
	.params = help_params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = help,
};
