/*
 * surface/cli/outcome.c - Writes the result or the failure of a command, and lines about events, as
 * its contract wants them.
 */
#include "surface/cli/outcome.h"

#include "op/command.h"
#include "op/dispatch.h"
#include "surface/cli/terminal.h"

#include <string.h>
#include <unistd.h>

int mr_outcome_write(int fd, const struct mr_buf *text)
{
	return mr_terminal_write(fd, mr_buf_bytes(text)) ? 0 : 1;
}

int mr_outcome_stream(const struct mr_invocation *how)
{
	return how->contract->failures == MR_STREAM_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
}

void mr_outcome_say(const struct mr_invocation *how, const struct mr_value *value)
{
	struct mr_render style = mr_terminal_style(STDOUT_FILENO);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;

	mr_buf_init(&text, MR_OUTCOME_BYTES);
	if (how->format->write) {
		how->format->write(&text, NULL, value, &style);
	} else {
		mr_json_init(&json, &text, how->format->json_style);
		mr_json_value(&json, value);
		mr_buf_putc(&text, '\n');
	}
	mr_outcome_write(STDOUT_FILENO, &text);
}

bool mr_outcome_event(const struct mr_invocation *how, const struct mr_event *event)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_value *told;
	struct mr_out out;

	if (!how->contract->event)
		return false;
	arena = mr_arena_new();
	mr_out_init_tree(&out, arena);
	how->contract->event(&out, how, event);
	told = mr_out_tree(&out);
	for (size_t i = 0; told && told->kind == MR_LIST && i < told->list.len; i++)
		mr_outcome_say(how, &told->list.items[i]);
	if (told && told->kind == MR_MAP)
		mr_outcome_say(how, told);
	return told || !how->format->is_for_people;
}

/* "mailroom: what was wrong", harmless and once. */
static void complain(int fd, const char *program, const char *command, const char *msg)
{
	struct mr_render style = mr_terminal_style(fd);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, MR_OUTCOME_BYTES);
	mr_buf_printf(&text, "%s%s%s%s:%s ", style.colour ? "\033[31m" : "", program,
		*command ? " " : "", command, style.colour ? "\033[0m" : "");
	mr_render_text(&text, msg);
	mr_buf_putc(&text, '\n');
	mr_outcome_write(fd, &text);
}

void mr_outcome_warn(struct mr_arena *arena, const struct mr_invocation *how, const char *text)
{
	const struct mr_event event = { .kind = MR_EVENT_WARNING, .text = text };

	if (!mr_outcome_event(how, &event))
		complain(mr_outcome_stream(how), how->program, "",
			mr_arena_printf(arena, "warning: %s", text));
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
static const char *typed_message(struct mr_arena *arena, const struct mr_invocation *how,
	const struct mr_err *err)
{
	const struct mr_op *op = how->op;
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
		text = mr_arena_printf(arena, "%s; see %s %s --help", text, how->program,
			op->command);
	return text ? text : err->msg;
}

/* Let the contract print an error in its own form, on several lines; false when it has none. */
static bool tell(int fd, const struct mr_contract *contract, const struct mr_err *err)
{
	struct mr_render style = mr_terminal_style(fd);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, MR_OUTCOME_BYTES);
	if (!contract->tell || !contract->tell(&text, err, &style))
		return false;
	mr_outcome_write(fd, &text);
	return true;
}

int mr_outcome_fail(struct mr_arena *arena, const struct mr_invocation *how,
	const struct mr_err *err)
{
	const struct mr_contract *contract = how->contract;
	int fd = mr_outcome_stream(how);
	struct mr_invocation failed = *how;
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	if (how->format->is_for_people) {
		if (!tell(fd, contract, err))
			complain(fd, how->program, how->path, typed_message(arena, how, err));
	} else if (contract->failure) {
		failed.message = typed_message(arena, how, err);
		contract->failure(&out, &failed, err);
	} else {
		mr_contract_error(contract, &out, err);
	}
	if (mr_out_tree(&out))
		mr_outcome_say(how, mr_out_tree(&out));
	return mr_contract_exit_status(contract, err);
}

static enum mr_code run_json(struct mr_call *call, const struct mr_value *args, struct mr_buf *text)
{
	const struct mr_invocation *how = call->invocation;
	struct mr_out out;
	enum mr_code rc;

	mr_out_init_json(&out, text, how->format->json_style);
	rc = mr_dispatch(call, how->op, args, &out);
	if (rc)
		return rc;
	if (text->len)
		mr_buf_putc(text, '\n');
	return MR_OK;
}

static enum mr_code run_formatted(struct mr_call *call, const struct mr_value *args,
	struct mr_buf *text)
{
	const struct mr_invocation *how = call->invocation;
	struct mr_render style = mr_terminal_style(STDOUT_FILENO);
	struct mr_out out;
	enum mr_code rc;

	mr_out_init_tree(&out, call->cx.arena);
	rc = mr_dispatch(call, how->op, args, &out);
	if (rc)
		return rc;
	if (style.width && !how->is_absolute)
		style.now_us = mr_clock_wall_us(call->app->clock);
	if (mr_out_tree(&out))
		how->format->write(text, how->op, mr_out_tree(&out), &style);
	return MR_OK;
}

enum mr_code mr_outcome_run(struct mr_call *call, const struct mr_value *args, struct mr_buf *text)
{
	enum mr_code rc = call->invocation->format->write ? run_formatted(call, args, text)
							  : run_json(call, args, text);

	return rc ? rc : mr_buf_check(text, "the result", &call->cx.err);
}
