/* op/mailbox/mail_notices.c - operations: the ledger of an agent's wake-ups, and hooks of coding
 * agents. */
#include "mailbox/gateway.h"
#include "op/bind.h"
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/render_notifier.h"
#include "op/mailbox/shape_notifier.h"
#include "op/nouns.h"

static enum mr_code target_of(struct mr_call *call, const struct mr_mail_session *session,
	struct mr_notifier_target *out)
{
	struct mr_mailbox_gateway gateway;
	bool has_gateway;

	if (!session->agent.ref)
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"wake-ups are those of an agent: name it with --agent-name");
	has_gateway = mr_mailbox_gateway_find(&call->cx, &session->agent.manifest, &gateway);
	return mr_notifier_target_of(&call->cx, &session->agent.manifest,
		has_gateway ? gateway.base_url : NULL, "/v1", out);
}

/* --- notices --- */

struct notices_request {
	int64_t limit;
};

static const struct mr_param notices_params[] = {
	MR_PARAM(struct notices_request, limit, "limit", .min = 1, .max = 1000, .fallback = "50",
		.summary = "the newest so many"),
	{ 0 },
};

struct noticed {
	int schema_version;
	const char *address;
	struct mr_ledger_notices notices;
};

static const struct mr_field noticed_fields[] = {
	MR_FIELD(struct noticed, schema_version, "schema_version"),
	MR_FIELD(struct noticed, address, "address"),
	MR_FIELD_LIST(struct noticed, notices, struct mr_ledger_notice,
		mr_shape_ledger_notice_fields, "notices"),
	{ 0 },
};

static enum mr_code list_notices(struct mr_call *call, const struct mr_mail_session *session,
	const struct notices_request *asked, struct noticed *out)
{
	struct mr_notifier_target target;
	enum mr_code rc = target_of(call, session, &target);

	if (!rc)
		rc = mr_notifier_acknowledge(&call->cx, &target);
	if (rc)
		return rc;
	out->schema_version = 1;
	out->address = target.binding.address;
	return mr_notifier_notices(&call->cx, target.session, asked->limit, &out->notices);
}
MR_BIND_CALL(listing, list_notices, struct mr_mail_session, struct notices_request, struct noticed);

const struct mr_op mr_op_mail_notices = {
	.name = "mail_notices",
	.command = "mail notices",
	.summary = "List when an agent was told of its mail, and how that went",
	.params = notices_params,
	.result = noticed_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &listing,
	.render = mr_render_notices,
};

/* --- hooks --- */

static const char *const events[] = { "session-start", "post-tool-use", "stop", NULL };
static const char *const programs[] = { "claude", "codex", "gemini", NULL };

enum { STOP = 2, GEMINI = 2 };

struct hook_request {
	unsigned event, program;
	bool has_program;
};

static const struct mr_param hook_params[] = {
	MR_PARAM(struct hook_request, event, "event", .flags = MR_REQUIRED | MR_POSITIONAL,
		.choices = events, .summary = "which hook it is"),
	MR_PARAM(struct hook_request, program, "program", .choices = programs,
		.given = MR_FLAG(struct hook_request, has_program), .summary = "whose hook it is",
		.fallback = "the agent's program"),
	{ 0 },
};

struct context {
	const char *event, *text;
};

struct hooked {
	const struct context *context; /* for a hook that adds to the conversation; or NULL */
	const char *decision, *reason; /* for one that goes on with it; or NULL */
};

static const struct mr_field context_fields[] = {
	MR_FIELD(struct context, event, "hookEventName"),
	MR_FIELD(struct context, text, "additionalContext"),
	{ 0 },
};

static const struct mr_field hooked_fields[] = {
	MR_FIELD(struct hooked, decision, "decision", .flags = MR_OPTIONAL,
		.summary = "block: do not stop yet"),
	MR_FIELD(struct hooked, reason, "reason", .flags = MR_OPTIONAL),
	MR_FIELD_STRUCT(struct hooked, context, struct context, context_fields,
		"hookSpecificOutput", .flags = MR_OPTIONAL),
	{ 0 },
};

static enum mr_code run_hook(struct mr_call *call, const struct mr_mail_session *session,
	const struct hook_request *asked, struct hooked *out)
{
	static const char *const names[] = { "SessionStart", "PostToolUse", "Stop" };
	bool is_gemini = asked->has_program
		? asked->program == GEMINI
		: mr_str_eq(session->agent.manifest.tool, programs[GEMINI]);
	struct mr_notifier_target target;
	struct mr_notifier_told told;
	struct context *context;
	enum mr_code rc = target_of(call, session, &target);

	if (!rc)
		rc = mr_notifier_take(&call->cx, &target, "hook", &told);
	if (rc)
		return rc;
	if (!told.notice) {
		call->is_silent = true;
		return MR_OK;
	}
	if (asked->event == STOP) {
		out->decision = "block";
		out->reason = told.prompt;
		return MR_OK;
	}
	context = mr_arena_alloc(call->cx.arena, sizeof(*context));
	context->event = is_gemini && asked->event == 1 ? "AfterTool" : names[asked->event];
	context->text = told.prompt;
	out->context = context;
	return MR_OK;
}
MR_BIND_CALL(hooking, run_hook, struct mr_mail_session, struct hook_request, struct hooked);

const struct mr_op mr_op_mail_hook = {
	.name = "mail_hook",
	.command = "mail hook",
	.summary = "Tell a coding agent of its mail from one of its hooks",
	.help = "Prints the JSON that hooks of Claude Code, Codex and Gemini CLI return, and nothing "
		"when there is no mail that the agent was not told of.",
	.params = hook_params,
	.result = hooked_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &hooking,
	.render = mr_render_hook,
};
