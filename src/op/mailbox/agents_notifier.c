/* op/mailbox/agents_notifier.c - operations: how an agent is told of its mail. */
#include "op/bind.h"
#include "op/contract.h"
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/render_notifier.h"
#include "op/mailbox/shape_notifier.h"
#include "op/nouns.h"

#include <string.h>

struct notifier_request {
	const char *agent;
	int64_t interval_seconds, command_timeout_seconds;
	unsigned mode, policy, action, channel;
	const char *appendix_text;
	struct mr_texts command;
	bool has_interval, has_mode, has_appendix, has_channel, has_command, has_timeout;
};

#define ASKED(member, ...) MR_PARAM(struct notifier_request, member, __VA_ARGS__)
#define GIVEN(member)      MR_FLAG(struct notifier_request, member)
#define AGENT_PARAM                                                                                \
	ASKED(agent, "agent", .flags = MR_POSITIONAL, .summary = "its name or id",                 \
		.fallback = "the agent of this tmux session")

static const struct mr_param agent_params[] = { AGENT_PARAM, { 0 } };

static const struct mr_param enable_params[] = {
	AGENT_PARAM,
	ASKED(interval_seconds, "interval_seconds", .min = 1, .max = MR_NOTIFIER_INTERVAL_MAX,
		.given = GIVEN(has_interval),
		.summary = "how often to look although nothing happened",
		.fallback = "as it is, or 60"),
	ASKED(mode, "mode", .choices = mr_notice_modes, .summary = "which mail a prompt is about",
		.fallback = "any_inbox"),
	ASKED(appendix_text, "appendix_text", .given = GIVEN(has_appendix),
		.summary = "stands in every prompt", .fallback = "as it is"),
	ASKED(policy, "context_error_policy", .choices = mr_notifier_context_policies,
		.summary = "kept for the Houmao runtime", .fallback = "continue_current"),
	ASKED(action, "pre_notification_context_action", .choices = mr_notifier_pre_actions,
		.summary = "kept for the Houmao runtime", .fallback = "none"),
	ASKED(channel, "channel", .choices = mr_notifier_channels, .given = GIVEN(has_channel),
		.summary = "tmux: type the prompt into the agent's pane; command: give it to a "
			   "program; none: only long polls and hooks tell it",
		.fallback = "as it is, or tmux"),
	ASKED(command, "command", .given = GIVEN(has_command),
		.summary = "a program that gets the prompt on its standard input, and its "
			   "arguments, each with a --command of its own"),
	ASKED(command_timeout_seconds, "command_timeout_seconds", .min = 1,
		.max = MR_NOTIFIER_COMMAND_SECONDS_MAX, .given = GIVEN(has_timeout),
		.summary = "when the program is stopped", .fallback = "as it is, or 30"),
	{ 0 },
};

enum { INTERVAL_S = 60 };

static enum mr_code find(struct mr_call *call, const struct notifier_request *asked,
	struct mr_mailbox_agent *out)
{
	struct mr_mailbox_place place;

	return mr_mail_session_agent(call, asked->agent, &place, out);
}

static enum mr_code tell(struct mr_call *call, const struct mr_mailbox_agent *agent,
	struct mr_shape_notifier *out)
{
	struct mr_notifier_settings settings;
	const char *unbound = agent->manifest.binding.transport != MR_MAILBOX_UNBOUND
		? NULL
		: "the agent's session has no mailbox; bind one with mailroom "
		  "agents bind";
	enum mr_code rc = mr_notifier_get(&call->cx, agent->manifest.dir, &settings);

	if (!rc)
		*out = mr_shape_notifier(call->cx.arena, &settings, unbound);
	return rc;
}

static enum mr_code status(struct mr_call *call, const struct notifier_request *asked,
	struct mr_shape_notifier *out)
{
	struct mr_mailbox_agent agent;
	enum mr_code rc = find(call, asked, &agent);

	return rc ? rc : tell(call, &agent, out);
}
MR_BIND_ALONE(telling, status, struct notifier_request, struct mr_shape_notifier);

const struct mr_op mr_op_agents_notifier_status = {
	.name = "agents_gateway_mail_notifier_status",
	.command = "agents gateway mail-notifier status",
	.summary = "Show how an agent is told of its mail",
	.params = agent_params,
	.result = mr_shape_notifier_full_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_agent,
	.bind = &telling,
	.render = mr_render_notifier,
};

static enum mr_code change(struct mr_call *call, const struct notifier_request *asked,
	struct mr_notifier_settings *s)
{
	s->enabled = true;
	if (asked->has_interval || !s->interval_seconds)
		s->interval_seconds = asked->has_interval ? asked->interval_seconds : INTERVAL_S;
	s->mode = (enum mr_notice_mode)asked->mode;
	s->context_error_policy = (enum mr_notifier_context_policy)asked->policy;
	if (asked->action == MR_NOTIFIER_COMPACT)
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"--pre-notification-context-action compact is not supported: only the "
			"agent's own program can do that");
	if (asked->has_appendix)
		s->appendix_text = asked->appendix_text;
	if (strlen(s->appendix_text) > MR_NOTIFIER_APPENDIX_BYTES)
		return mr_err_set(&call->cx.err, MR_ELIMIT,
			"--appendix-text has more than %d bytes", MR_NOTIFIER_APPENDIX_BYTES);
	if (asked->has_command)
		s->command = asked->command;
	if (asked->has_timeout)
		s->command_timeout_seconds = asked->command_timeout_seconds;
	if (asked->has_channel)
		s->channel = (enum mr_notifier_channel)asked->channel;
	else if (asked->has_command)
		s->channel = MR_NOTIFIER_COMMAND;
	if (s->channel == MR_NOTIFIER_COMMAND && s->command.len == 0)
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"--channel command needs a program: give --command");
	return MR_OK;
}

static enum mr_code enable(struct mr_call *call, const struct notifier_request *asked,
	struct mr_shape_notifier *out)
{
	struct mr_mailbox_agent agent;
	struct mr_notifier_settings settings;
	enum mr_code rc = find(call, asked, &agent);

	if (!rc)
		rc = mr_notifier_get(&call->cx, agent.manifest.dir, &settings);
	if (!rc)
		rc = change(call, asked, &settings);
	if (!rc)
		rc = mr_notifier_put(&call->cx, agent.manifest.dir, &settings);
	return rc ? rc : tell(call, &agent, out);
}
MR_BIND_ALONE(enabling, enable, struct notifier_request, struct mr_shape_notifier);

const struct mr_op mr_op_agents_notifier_enable = {
	.name = "agents_gateway_mail_notifier_enable",
	.command = "agents gateway mail-notifier enable",
	.summary = "Tell an agent of its mail",
	.help = "A prompt is delivered while mailroom serve or the agent's gateway runs, when mail "
		"has come and the agent rests.",
	.params = enable_params,
	.result = mr_shape_notifier_full_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_agent,
	.bind = &enabling,
	.render = mr_render_notifier,
};

static enum mr_code disable(struct mr_call *call, const struct notifier_request *asked,
	struct mr_shape_notifier *out)
{
	struct mr_mailbox_agent agent;
	struct mr_notifier_settings settings;
	enum mr_code rc = find(call, asked, &agent);

	if (!rc)
		rc = mr_notifier_get(&call->cx, agent.manifest.dir, &settings);
	if (rc)
		return rc;
	settings.enabled = false;
	settings.interval_seconds = 0;
	rc = mr_notifier_put(&call->cx, agent.manifest.dir, &settings);
	return rc ? rc : tell(call, &agent, out);
}
MR_BIND_ALONE(disabling, disable, struct notifier_request, struct mr_shape_notifier);

const struct mr_op mr_op_agents_notifier_disable = {
	.name = "agents_gateway_mail_notifier_disable",
	.command = "agents gateway mail-notifier disable",
	.summary = "No longer tell an agent of its mail",
	.params = agent_params,
	.result = mr_shape_notifier_full_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_agent,
	.bind = &disabling,
	.render = mr_render_notifier,
};
