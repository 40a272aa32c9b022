/* op/team/team_instruct.c - operation: a person writes to agents, as the overseer. */
#include "app/principal.h"
#include "op/agent_auth.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/instruct.h"

static const char *const alias_body[] = { "body", NULL };
static const char *const alias_to[] = { "recipients", "recipient_names", NULL };
static const char *const alias_reply[] = { "message_id", NULL };

static const struct mr_param params[] = {
	MR_TEAM_PROJECT(struct mr_team_instruction),
	MR_PARAM(struct mr_team_instruction, to, "to",
		.summary =
			"agents, as send_message takes them: Name, @all; of an answer, who wrote "
			"the message",
		.aliases = alias_to),
	MR_PARAM(struct mr_team_instruction, subject, "subject",
		.summary = "one line; an answer has the message's"),
	MR_PARAM(struct mr_team_instruction, body_md, "body_md", .flags = MR_REQUIRED | MR_BODY,
		.summary = "the text, Markdown", .aliases = alias_body),
	MR_PARAM(struct mr_team_instruction, comes_first, "first",
		.summary = "ask them to do it before they go on with anything else",
		.fallback = "false"),
	MR_PARAM(struct mr_team_instruction, reply_to, "reply_to",
		.summary = "the id of the message that this answers", .aliases = alias_reply),
	MR_PARAM(struct mr_team_instruction, reply_all, "reply_all",
		.summary = "of an answer: also to everybody in the message's to and cc",
		.fallback = "false"),
	MR_PARAM(struct mr_team_instruction, thread_id, "thread_id", .flags = MR_LENIENT,
		.summary = "the conversation it belongs to"),
	MR_PARAM(struct mr_team_instruction, importance, "importance",
		.choices = mr_shape_team_importances, .summary = "how much it matters",
		.fallback = "high, and of an answer normal"),
	MR_PARAM(struct mr_team_instruction, ack_required, "ack_required",
		.summary = "who is in `to` is asked to acknowledge it", .fallback = "false"),
	MR_PARAM(struct mr_team_instruction, preview, "preview",
		.summary = "show how it would be, and send nothing", .fallback = "false"),
	{ 0 },
};

/* Agents do what the overseer says, so nobody may speak for that person who may not act for all. */
static enum mr_code check_caller(struct mr_call *call)
{
	const struct mr_principal *p = call->principal;

	if (!p || p->acts_for_all ||
		(!p->is_bound && mr_agent_auth_mode(call->app) != MR_AGENT_AUTH_REQUIRE))
		return MR_OK;
	return mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED,
		"only an administrator may write as the overseer here, because agents must prove "
		"who they are");
}

static enum mr_code instruct(struct mr_call *call, struct mr_team *team,
	struct mr_team_instruction *asked, struct mr_team_sent *out)
{
	enum mr_code rc = check_caller(call);

	asked->rights = &call->rights;
	asked->verified = !call->principal || call->principal->acts_for_all;
	return rc ? rc : mr_team_instruct(&call->cx, team, asked, out);
}
MR_TEAM_BIND_CALL(instruction, instruct, struct mr_team_instruction, struct mr_team_sent);

static const struct mr_field fields[] = {
	MR_MEMBERS_SAME(struct mr_team_sent, mr_shape_team_payload_fields),
	MR_MEMBERS_SAME(struct mr_team_sent, mr_shape_team_report_fields),
	{ 0 },
};

const struct mr_op mr_op_team_instruct = {
	.name = "send_as_overseer",
	.command = "team say",
	.summary = "Write to agents as the person who oversees them, HumanOverseer",
	.help = "No contact policy stops it. Agents answer to HumanOverseer; list_messages "
		"--only unread shows what came.",
	.params = params,
	.result = fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &instruction,
	.render = mr_render_sent,
};
