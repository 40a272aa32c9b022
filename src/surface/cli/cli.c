/*
 * surface/cli/cli.c - Runs one command from argv: loads settings, runs the operation, returns the
 * exit status.
 */
#include "surface/cli/cli.h"

#include "app/locations.h"
#include "app/metrics.h"
#include "app/pace.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/reach.h"
#include "base/utf8.h"
#include "net/otlp.h"
#include "op/call.h"
#include "op/command.h"
#include "op/dispatch.h"
#include "op/help.h"
#include "op/team/team_home.h"
#include "surface/cli/argv.h"
#include "surface/cli/outcome.h"
#include "surface/cli/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As much as a request may have; each operation knows its own limit. */
enum { INPUT_BYTES = 4 << 20 };

static int show_help(int fd, const struct mr_op_table *table, const struct mr_invocation *how)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, MR_OUTCOME_BYTES);
	if (how->contract->help)
		how->contract->help(&text, table, how);
	else
		mr_help_write(&text, table, how->path, mr_terminal_style(fd).colour);
	return mr_outcome_write(fd, &text);
}

static int show_version(const struct mr_invocation *how)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, MR_OUTCOME_BYTES);
	if (how->contract->version)
		how->contract->version(&text, how);
	else
		mr_buf_printf(&text, "%s " MR_VERSION "\n", how->program);
	mr_outcome_write(STDOUT_FILENO, &text);
	return 0;
}

/* The words name no command: show which there are. */
static int refuse_group(struct mr_arena *arena, const struct mr_op_table *table,
	struct mr_invocation *how)
{
	struct mr_err err;

	if (mr_outcome_stream(how) == STDERR_FILENO) {
		show_help(STDERR_FILENO, table, how);
		return 2;
	}
	how->is_usage = true;
	mr_err_set(&err, MR_EINVAL, "no command provided; try: %s%s%s --help", how->program,
		*how->path ? " " : "", how->path);
	return mr_outcome_fail(arena, how, &err);
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

/* The current directory, for directories that are given as "." or not at all. */
static enum mr_code take_here(struct mr_arena *arena, struct mr_argv *args, struct mr_err *err)
{
	size_t count = mr_param_count(args->op->params);
	const struct mr_value *given = args->args;
	struct mr_value *taken = mr_arena_memdup(arena, given, sizeof(*given));

	taken->map.pairs = mr_arena_array(arena, given->map.len + count, sizeof(struct mr_pair));
	for (size_t i = 0; i < given->map.len; i++)
		taken->map.pairs[i] = given->map.pairs[i];
	for (size_t i = 0; i < count; i++) {
		const struct mr_param *param = &args->op->params[i];
		struct mr_value here = { .kind = MR_TEXT };
		struct mr_pair *pair = taken->map.pairs;
		const struct mr_pair *end = pair + taken->map.len;
		enum mr_code rc;

		if (!(param->flags & MR_HERE))
			continue;
		while (pair < end && !mr_str_eq(pair->key, param->name))
			pair++;
		if (pair < end && !mr_str_eq(pair->value.text, "."))
			continue;
		rc = mr_locations_project(arena, ".", &here.text, err);
		if (rc)
			return rc;
		taken->map.len += pair == end;
		*pair = (struct mr_pair){ param->name, here };
	}
	args->args = taken;
	return MR_OK;
}

struct progress {
	const struct mr_invocation *how;
	struct mr_terminal_progress terminal;
};

/* For mr_ctx.progress. */
static void on_progress(void *arg, const char *what, size_t done, size_t total)
{
	struct progress *progress = arg;
	const struct mr_event event = { .kind = MR_EVENT_PROGRESS,
		.text = what,
		.done = done,
		.total = total };

	if (!mr_outcome_event(progress->how, &event) &&
		mr_outcome_stream(progress->how) == STDERR_FILENO)
		mr_terminal_progress(&progress->terminal, what, done, total);
}

/* For mr_call.line. */
static void on_line(void *arg, const struct mr_value *value, const char *sentence)
{
	struct progress *progress = arg;
	const struct mr_invocation *how = progress->how;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	if (!how->format->is_for_people) {
		if (value)
			mr_outcome_say(how, value);
		return;
	}
	if (!sentence)
		return;
	mr_terminal_progress_end(&progress->terminal);
	mr_buf_init(&text, MR_OUTCOME_BYTES);
	mr_render_text(&text, sentence);
	mr_buf_putc(&text, '\n');
	mr_outcome_write(STDOUT_FILENO, &text);
}

static int run_op(const struct mr_app *app, struct mr_arena *arena, const struct mr_argv *args,
	struct mr_invocation *how)
{
	struct mr_event event = { .kind = MR_EVENT_BEGIN };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_call call = mr_dispatch_call(app, arena);
	struct progress progress = { how, { .clock = app->clock } };
	enum mr_code rc;

	call.invocation = how;
	call.agent_name = mr_settings_text(app->settings, "guard.agent");
	call.cx.progress = on_progress;
	call.cx.progress_arg = &progress;
	call.cx.reach = NULL; /* the user of a command line has these rights without us */
	call.line = on_line;
	call.line_arg = &progress;
	call.may_write = true;
	call.is_admin = true;
	call.confirmed = args->yes;
	if (mr_outcome_stream(how) == STDERR_FILENO)
		call.confirm = mr_terminal_confirm;
	if (call.confirm && mr_terminal_can_ask())
		call.ask = mr_terminal_ask;
	mr_buf_init(&text, MR_OUTCOME_BYTES);
	mr_outcome_event(how, &event);
	rc = mr_outcome_run(&call, args->args, &text);
	mr_terminal_progress_end(&progress.terminal);
	event = (struct mr_event){ .kind = MR_EVENT_END, .err = rc ? &call.cx.err : NULL };
	how->is_usage = call.is_usage;
	mr_outcome_event(how, &event);
	if (rc)
		return mr_outcome_fail(arena, how, &call.cx.err);
	return mr_outcome_write(STDOUT_FILENO, &text) ? 1 : call.exit_status;
}

static enum mr_code load_settings(struct mr_arena *arena, const struct mr_argv *args,
	const struct mr_invocation *how, const char *const *variables,
	const struct mr_settings **out, struct mr_err *err)
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
		mr_outcome_warn(arena, how, mr_settings_warnings(*out)->items[i]);
	return rc;
}

int mr_cli_run(const struct mr_op_table *table, int argc, const char *const *argv,
	const char *const *variables)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = NULL;
	struct mr_pace *pace MR_CLEANUP(mr_pace_freep) = NULL;
	struct mr_team_home *team MR_CLEANUP(mr_team_home_freep) = NULL;
	struct mr_otlp *traces MR_CLEANUP(mr_otlp_freep) = NULL;
	struct mr_app app = {
		.table = table,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	struct mr_reach reach = { .home = getenv("HOME") };
	struct mr_invocation how;
	struct mr_argv args;
	struct mr_err err;
	enum mr_code rc;

	app.started_us = mr_clock_mono_us(app.clock);
	rc = mr_argv_parse(arena, table, argc, argv, &args, &err);
	how = (struct mr_invocation){
		.argc = argc,
		.argv = argv,
		.program = mr_op_program(table),
		.path = args.path,
		.op = args.op,
		.contract = args.contract,
		.format = args.format,
		.is_format_given = args.format_name != NULL,
		.is_absolute = args.absolute,
		.is_help = args.help,
		.is_version = args.version,
		.given = args.given,
		.given_count = args.given_count,
		.clock = app.clock,
		.begun_us = app.started_us,
	};
	if (!rc && how.contract->check)
		rc = how.contract->check(&how, &err);
	how.is_usage = rc != MR_OK;
	if (rc)
		return mr_outcome_fail(arena, &how, &err);
	if (args.version)
		return show_version(&how);
	if (args.help)
		return show_help(STDOUT_FILENO, table, &how);
	if (!args.op)
		return refuse_group(arena, table, &how);
	if (load_settings(arena, &args, &how, variables, &app.settings, &err) ||
		take_input(arena, &args, &err) || take_here(arena, &args, &err))
		return mr_outcome_fail(arena, &how, &err);
	reach.roots = *mr_settings_texts(app.settings, "team.project_roots");
	app.reach = &reach;
	app.metrics = metrics = mr_metrics_new();
	app.pace = pace = mr_pace_new();
	app.team = team = mr_team_home_new();
	app.traces = traces = mr_otlp_new();
	return run_op(&app, arena, &args, &how);
}
