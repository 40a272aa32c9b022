/*
 * surface/cli/cli.c - Runs one command from argv: loads settings, dispatches the operation, prints
 * its result or error, returns the exit status.
 */
#include "surface/cli/cli.h"

#include "app/metrics.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/reach.h"
#include "base/utf8.h"
#include "net/otlp.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/render.h"
#include "op/team/team_home.h"
#include "surface/cli/argv.h"
#include "surface/cli/command.h"
#include "surface/cli/help.h"
#include "surface/cli/terminal.h"
#include "text/out.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OUTPUT_BYTES = 256 << 20,
	INPUT_BYTES =
		4 << 20, /* as much as a request may have; each operation knows its own limit */
};

static int write_text(int fd, const struct mr_buf *text)
{
	return mr_terminal_write(fd, mr_buf_bytes(text)) ? 0 : 1;
}

/* "mailroom: what was wrong", harmless and once. */
static void complain(int fd, const char *command, const char *msg)
{
	struct mr_render style = mr_terminal_style(fd);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, OUTPUT_BYTES);
	mr_buf_printf(&text, "%smailroom%s%s:%s ", style.colour ? "\033[31m" : "",
		*command ? " " : "", command, style.colour ? "\033[0m" : "");
	mr_render_text(&text, msg);
	mr_buf_putc(&text, '\n');
	write_text(fd, &text);
}

static int show_help(int fd, const struct mr_op_table *table, const char *path)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, OUTPUT_BYTES);
	mr_help_write(&text, table, path, mr_terminal_style(fd).colour);
	return write_text(fd, &text);
}

/* $.to[0] as the user typed it: --to, or TO where it stands without its name. */
static const char *typed_name(struct mr_arena *arena, const struct mr_op *op, const char *path)
{
	size_t len = strcspn(path + 2, ".[");
	char *name = mr_arena_strndup(arena, path + 2, len);
	const struct mr_param *param = mr_param_find(op->params, name);

	if (!param || !(param->flags & MR_POSITIONAL))
		return mr_command_option(arena, &(struct mr_param){ .name = name });
	for (char *c = name; *c; c++)
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	return name;
}

/* All values are texts on a command line, so "not string" goes. */
static const char *typed_problem(struct mr_arena *arena, const struct mr_op *op,
	const struct mr_issue *issue)
{
	const struct mr_param *param = mr_param_find(op->params, issue->path + 2);
	struct mr_texts choices = { param ? (const char **)param->choices : NULL, 0 };

	if (issue->kind == MR_ISSUE_TYPE)
		return mr_arena_printf(arena, "must be %s %s",
			strchr("aeiou", issue->expected[0]) ? "an" : "a", issue->expected);
	if (issue->kind != MR_ISSUE_MISSING || !choices.items)
		return issue->msg;
	while (choices.items[choices.len])
		choices.len++;
	return mr_arena_printf(arena, "%s, one of: %s", issue->msg,
		mr_str_join(arena, &choices, ", "));
}

/* Field problems in the words of a command line; a missing argument adds a pointer to --help. */
static const char *typed_message(struct mr_arena *arena, const struct mr_op *op,
	const struct mr_err *err)
{
	const char *text = NULL;
	bool is_short = false;

	if (!err->issues || !op)
		return err->msg;
	for (size_t i = 0; i < err->issues->len; i++) {
		const struct mr_issue *issue = &err->issues->items[i];

		if (mr_str_eq(issue->path, "$"))
			return err->msg;
		is_short = is_short || issue->kind == MR_ISSUE_MISSING;
		text = mr_arena_printf(arena, "%s%s%s %s", text ? text : "", text ? "; " : "",
			typed_name(arena, op, issue->path), typed_problem(arena, op, issue));
	}
	if (is_short)
		text = mr_arena_printf(arena, "%s; see mailroom %s --help", text, op->command);
	return text ? text : err->msg;
}

/* Let the contract print an error in its own form, on several lines; false when it has none. */
static bool tell(int fd, const struct mr_contract *contract, const struct mr_err *err)
{
	struct mr_render style = mr_terminal_style(fd);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, OUTPUT_BYTES);
	if (!contract->tell || !contract->tell(&text, err, &style))
		return false;
	write_text(fd, &text);
	return true;
}

static int fail(struct mr_arena *arena, const struct mr_argv *args, const struct mr_err *err)
{
	const struct mr_contract *contract = args->op ? args->op->contract : &mr_contract_plain;
	int fd = contract->failures == MR_STREAM_STDOUT ? STDOUT_FILENO : STDERR_FILENO;

	if (args->json || contract->format == MR_FORMAT_JSON) {
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_out out;

		mr_buf_init(&text, OUTPUT_BYTES);
		mr_out_init_json(&out, &text, contract->json_style);
		contract->error(&out, err);
		mr_buf_putc(&text, '\n');
		write_text(STDOUT_FILENO, &text);
	} else if (!tell(fd, contract, err)) {
		complain(fd, args->path, typed_message(arena, args->op, err));
	}
	return mr_contract_exit_status(contract, err);
}

static enum mr_code run_json(struct mr_call *call, const struct mr_argv *args, struct mr_buf *text)
{
	struct mr_out out;
	enum mr_code rc;

	mr_out_init_json(&out, text, args->op->contract->json_style);
	rc = mr_dispatch(call, args->op, args->args, &out);
	if (rc)
		return rc;
	if (text->len)
		mr_buf_putc(text, '\n');
	return mr_buf_check(text, "the result", &call->cx.err);
}

static enum mr_code run_for_people(struct mr_call *call, const struct mr_argv *args,
	struct mr_buf *text)
{
	struct mr_render style = mr_terminal_style(STDOUT_FILENO);
	struct mr_out out;
	enum mr_code rc;

	mr_out_init_tree(&out, call->cx.arena);
	rc = mr_dispatch(call, args->op, args->args, &out);
	if (rc)
		return rc;
	if (style.width)
		style.now_us = mr_clock_wall_us(call->app->clock);
	if (mr_out_tree(&out))
		(args->op->render ? args->op->render : mr_render_value)(text, mr_out_tree(&out),
			&style);
	return mr_buf_check(text, "the result", &call->cx.err);
}

/* A text of standard input. The kernel takes no more than 128 KiB of one on the command line. */
static enum mr_code read_input(struct mr_arena *arena, const char *option, struct mr_value *out,
	struct mr_err *err)
{
	struct mr_bytes bytes;
	enum mr_code rc = mr_fs_read_fd(arena, STDIN_FILENO, INPUT_BYTES, &bytes, err);
	size_t bad = 0;

	if (rc == MR_ELIMIT)
		return mr_err_set(err, rc, "%s: standard input has more than %d bytes", option,
			INPUT_BYTES);
	if (rc)
		return mr_err_wrap(err, "%s: standard input", option);
	if (bytes.len && memchr(bytes.data, '\0', bytes.len))
		return mr_err_set(err, MR_EINVAL, "%s: standard input has a NUL in it: is it text?",
			option);
	if (!mr_utf8_is_valid((const char *)bytes.data, bytes.len, &bad))
		return mr_err_set(err, MR_EINVAL,
			"%s: standard input is not UTF-8: see byte %zu of it", option, bad + 1);
	*out = (struct mr_value){ .kind = MR_TEXT, .text = (const char *)bytes.data };
	return MR_OK;
}

/* Arguments that are given as "-" and may be long. */
static enum mr_code take_input(struct mr_arena *arena, struct mr_argv *args, struct mr_err *err)
{
	const struct mr_value *given = args->args;
	struct mr_value *taken = NULL;

	for (size_t i = 0; given && given->kind == MR_MAP && i < given->map.len; i++) {
		const struct mr_pair *pair = &given->map.pairs[i];
		const struct mr_param *param = mr_param_find(args->op->params, pair->key);
		const char *option;
		enum mr_code rc;

		if (!param || !(param->flags & MR_BODY) || pair->value.kind != MR_TEXT ||
			strcmp(pair->value.text, "-") != 0)
			continue;
		option = mr_command_option(arena, param);
		if (taken)
			return mr_err_set(err, MR_EINVAL,
				"%s: standard input can be read once only", option);
		taken = mr_arena_memdup(arena, given, sizeof(*given));
		taken->map.pairs = mr_arena_memdup(arena, given->map.pairs,
			given->map.len * sizeof(*given->map.pairs));
		rc = read_input(arena, option, &taken->map.pairs[i].value, err);
		if (rc)
			return rc;
		args->args = taken;
	}
	return MR_OK;
}

static int run_op(const struct mr_app *app, struct mr_arena *arena, const struct mr_argv *args)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_call call = mr_dispatch_call(app, arena);
	struct mr_terminal_progress progress = { .clock = app->clock };
	enum mr_code rc;

	call.cx.progress = mr_terminal_progress;
	call.cx.progress_arg = &progress;
	call.cx.reach = NULL; /* the user of a command line has these rights without us */
	call.may_write = true;
	call.is_admin = true;
	call.confirmed = args->yes;
	call.confirm = mr_terminal_confirm;
	mr_buf_init(&text, OUTPUT_BYTES);
	if (args->json || args->op->contract->format == MR_FORMAT_JSON)
		rc = run_json(&call, args, &text);
	else
		rc = run_for_people(&call, args, &text);
	mr_terminal_progress_end(&progress);
	if (rc)
		return fail(arena, args, &call.cx.err);
	return write_text(STDOUT_FILENO, &text) ? 1 : call.exit_status;
}

static enum mr_code load_settings(struct mr_arena *arena, const struct mr_argv *args,
	const char *const *variables, const struct mr_settings **out, struct mr_err *err)
{
	struct mr_settings_sources sources = {
		.assignments = &args->assignments,
		.config_file = args->config_file,
		.env_file = args->env_file,
		.variables = variables,
		.cwd = AT_FDCWD,
		.lenient_dotenv = args->op->traits & MR_ABROAD,
	};

	enum mr_code rc = mr_settings_load(arena, &sources, out, err);

	for (size_t i = 0; !rc && i < mr_settings_warnings(*out)->len; i++)
		complain(STDERR_FILENO, "",
			mr_arena_printf(arena, "warning: %s",
				mr_settings_warnings(*out)->items[i]));
	return rc;
}

int mr_cli_run(const struct mr_op_table *table, int argc, const char *const *argv,
	const char *const *variables)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = NULL;
	struct mr_team_home *team MR_CLEANUP(mr_team_home_freep) = NULL;
	struct mr_otlp *traces MR_CLEANUP(mr_otlp_freep) = NULL;
	struct mr_app app = {
		.table = table,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	struct mr_reach reach = { .home = getenv("HOME") };
	struct mr_argv args;
	struct mr_err err;

	app.started_us = mr_clock_mono_us(app.clock);
	if (mr_argv_parse(arena, table, argc, argv, &args, &err))
		return fail(arena, &args, &err);
	if (args.version) {
		mr_terminal_write(STDOUT_FILENO, mr_bytes_text("mailroom " MR_VERSION "\n"));
		return 0;
	}
	if (args.help)
		return show_help(STDOUT_FILENO, table, args.path);
	if (!args.op) {
		show_help(STDERR_FILENO, table, args.path);
		return 2;
	}
	if (load_settings(arena, &args, variables, &app.settings, &err) ||
		take_input(arena, &args, &err))
		return fail(arena, &args, &err);
	reach.roots = *mr_settings_texts(app.settings, "team.project_roots");
	app.reach = &reach;
	app.metrics = metrics = mr_metrics_new();
	app.team = team = mr_team_home_new();
	app.traces = traces = mr_otlp_new();
	return run_op(&app, arena, &args);
}
