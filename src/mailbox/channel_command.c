/* mailbox/channel_command.c - a program gets the prompt on its standard input. */
#include "base/proc.h"
#include "base/utf8.h"
#include "mailbox/channel.h"

enum { OUTPUT_BYTES = 4096, SHOWN_BYTES = 200 };

static enum mr_code look(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const struct mr_notifier_settings *settings, const char **busy)
{
	(void)target;
	(void)busy;
	if (settings->command.len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "no command is set");
	return MR_OK;
}

/* The end of what it said on its standard error. */
static const char *complaint(struct mr_ctx *cx, const struct mr_proc_result *result)
{
	const char *text = (const char *)result->err.data;
	size_t len = result->err.len;

	if (!mr_utf8_is_valid(text, len, NULL))
		return "";
	mr_utf8_strip(&text, &len);
	if (len == 0)
		return "";
	return mr_arena_printf(cx->arena, ": %s",
		mr_notice_block_plain(cx->arena,
			mr_arena_strndup(cx->arena, text,
				mr_utf8_truncate(text, len, SHOWN_BYTES))));
}

static enum mr_code deliver(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const struct mr_notifier_settings *settings, const char *prompt, bool *perhaps)
{
	const struct mr_proc proc = {
		.argv = settings->command.items,
		.cwd = target->session,
		.input = mr_bytes_text(prompt),
		.timeout_ms = (int)(settings->command_timeout_seconds * 1000),
		.max_output = OUTPUT_BYTES,
	};
	const char *name = settings->command.items[0];
	struct mr_proc_result result;
	enum mr_code rc = mr_proc_run(cx->arena, &proc, &result, &cx->err);

	*perhaps = false;
	if (rc)
		return rc;
	*perhaps = result.timed_out;
	if (result.timed_out)
		return mr_err_set(&cx->err, MR_ETIMEOUT,
			"%.100s did not end within %lld seconds and was stopped", name,
			(long long)settings->command_timeout_seconds);
	if (result.signal)
		return mr_err_set(&cx->err, MR_EREMOTE, "%.100s was ended by signal %d", name,
			result.signal);
	if (result.exit_status != 0)
		return mr_err_set(&cx->err, MR_EREMOTE, "%.100s ended with status %d%s", name,
			result.exit_status, complaint(cx, &result));
	return MR_OK;
}

const struct mr_channel mr_channel_command = {
	.name = "command",
	.look = look,
	.deliver = deliver,
};
