/* op/mailbox/gateway_notifier.c - operations of a gateway: the notifier's settings, and the long
 * poll that returns when there is mail. */
#include "op/mailbox/contract_gateway.h"
#include "op/mailbox/gateway_body.h"
#include "op/mailbox/gateway_parts.h"
#include "op/mailbox/gateway_service.h"
#include "op/mailbox/shape_notifier.h"
#include "op/nouns.h"

#define MIRROR "/houmao/agents/{agent_ref}/gateway/mail-notifier"

enum { WAIT_S = 30 };

/* The agent's session, and why it has no mailbox, or NULL. */
static enum mr_code find(struct mr_call *call, struct mr_mail_session *out, const char **unbound)
{
	enum mr_code rc = mr_contract_gateway_is_here(call);

	*out = (struct mr_mail_session){ .mail = MR_MAIL_INIT };
	*unbound = NULL;
	if (!rc)
		rc = mr_gateway_session(call, out);
	if (rc == MR_ECONFLICT && out->agent.manifest.dir &&
		out->binding.transport == MR_MAILBOX_UNBOUND) {
		*unbound = mr_arena_strdup(call->cx.arena, call->cx.err.msg);
		return MR_OK;
	}
	return rc;
}

/* What is set for an agent. */
struct found {
	const char *session; /* its directory */
	const char *unbound; /* why it has no mailbox, or NULL */
	struct mr_notifier_settings settings;
};

static enum mr_code find_settings(struct mr_call *call, struct found *out)
{
	struct mr_mail_session session;
	enum mr_code rc = find(call, &session, &out->unbound);

	out->session = session.agent.manifest.dir;
	return rc ? rc : mr_notifier_get(&call->cx, out->session, &out->settings);
}

static enum mr_code store_settings(struct mr_call *call, struct found *found,
	struct mr_shape_notifier *out)
{
	enum mr_code rc = mr_notifier_put(&call->cx, found->session, &found->settings);

	/* As they are stored. */
	if (!rc)
		rc = mr_notifier_get(&call->cx, found->session, &found->settings);
	if (!rc)
		*out = mr_shape_notifier(call->cx.arena, &found->settings, found->unbound);
	return rc;
}

static enum mr_code get(struct mr_call *call, const struct mr_nothing *asked,
	struct mr_shape_notifier *out)
{
	struct found found;
	enum mr_code rc = find_settings(call, &found);

	(void)asked;
	if (!rc)
		*out = mr_shape_notifier(call->cx.arena, &found.settings, found.unbound);
	return rc;
}
MR_BIND_ALONE(getting, get, struct mr_nothing, struct mr_shape_notifier);

const struct mr_op mr_op_gateway_notifier_get = {
	.name = "gateway_notifier_get",
	.route = "GET " MIRROR,
	.summary = "How an agent is told of its mail",
	.result = mr_shape_notifier_fields,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &getting,
};

/* --- put --- */

static const char *refuse_false(struct mr_arena *arena, const struct mr_value *value)
{
	(void)arena;
	return value->boolean ? NULL : "Input should be True";
}

static const char *refuse_compact(struct mr_arena *arena, const struct mr_value *value)
{
	(void)arena;
	return mr_str_eq(value->text, "compact")
		? "`compact` is not supported: only the agent's own program can do that"
		: NULL;
}

/* How they are merged with what is set is mr_notifier_settings_read()'s. */
static const struct mr_param put_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	{ .name = "enabled",
		.type = MR_TYPE_BOOL,
		.refuse = refuse_false,
		.fallback = "true",
		.summary = "true" },
	{ .name = "interval_seconds",
		.type = MR_TYPE_INT,
		.flags = MR_REQUIRED,
		.min = 1,
		.max = MR_NOTIFIER_INTERVAL_MAX,
		.summary = "how often to look although nothing happened" },
	{ .name = "mode",
		.type = MR_TYPE_TEXT,
		.choices = mr_notice_modes,
		.fallback = "any_inbox",
		.summary = "which mail the prompt is about" },
	{ .name = "appendix_text",
		.type = MR_TYPE_TEXT,
		.summary = "stands in every prompt; left out: as it is" },
	{ .name = "context_error_policy",
		.type = MR_TYPE_TEXT,
		.choices = mr_notifier_context_policies,
		.fallback = "continue_current",
		.summary = "kept for the Houmao runtime" },
	{ .name = "pre_notification_context_action",
		.type = MR_TYPE_TEXT,
		.choices = mr_notifier_pre_actions,
		.refuse = refuse_compact,
		.fallback = "none",
		.summary = "none" },
	{ .name = "notify_block_render",
		.type = MR_TYPE_TEXT,
		.flags = MR_OR_NULL,
		.choices = mr_notifier_renders,
		.summary =
			"show senders' notices; this and the next: left out or null, as they are" },
	{ .name = "notify_block_auth_mode",
		.type = MR_TYPE_TEXT,
		.flags = MR_OR_NULL,
		.choices = mr_notice_auth_modes,
		.summary = "only those of verified senders" },
	{ .name = "notify_block_auth_verifier",
		.type = MR_TYPE_TEXT,
		.flags = MR_OR_NULL,
		.choices = mr_notice_verifiers,
		.summary = "how senders are verified" },
	{ .name = "notify_block_shared_tokens",
		.type = MR_TYPE_TEXTS,
		.flags = MR_OR_NULL,
		.summary = "tokens of senders; a digest that was shown stands for its token" },
	{ .name = "notify_block_per_message_chars",
		.type = MR_TYPE_INT,
		.flags = MR_OR_NULL,
		.min = 0,
		.max = MR_NOTIFIER_CHARS_MAX,
		.summary = "of one notice" },
	{ .name = "notify_block_total_chars",
		.type = MR_TYPE_INT,
		.flags = MR_OR_NULL,
		.min = 0,
		.max = MR_NOTIFIER_CHARS_MAX,
		.summary = "of all notices of a prompt" },
	{ 0 },
};

static enum mr_code put(struct mr_call *call, const struct mr_nothing *asked,
	struct mr_shape_notifier *out)
{
	static const struct mr_value nothing = { .kind = MR_MAP };
	struct mr_issues issues;
	struct mr_cursor at = mr_cursor_root(call->body ? call->body : &nothing, &issues);
	struct found found;
	enum mr_code rc = find_settings(call, &found);

	(void)asked;
	mr_issues_init(&issues, call->cx.arena);
	if (!rc && found.unbound) {
		rc = mr_err_set(&call->cx.err, MR_ECONFLICT, "%s", found.unbound);
		return mr_contract_gateway_unusable(call, rc);
	}
	if (rc)
		return rc;
	if (!mr_notifier_settings_read(call->cx.arena, &at, &found.settings, &found.settings))
		return mr_gateway_body_refuse(call, NULL,
			mr_arena_printf(call->cx.arena, "%s: %s", issues.items[0].path,
				issues.items[0].msg));
	return store_settings(call, &found, out);
}
MR_BIND_ALONE(putting, put, struct mr_nothing, struct mr_shape_notifier);

const struct mr_op mr_op_gateway_notifier_put = {
	.name = "gateway_notifier_put",
	.route = "PUT " MIRROR,
	.summary = "Tell an agent of its mail, and how",
	.params = put_params,
	.result = mr_shape_notifier_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &putting,
};

static enum mr_code switch_off(struct mr_call *call, const struct mr_nothing *asked,
	struct mr_shape_notifier *out)
{
	struct found found;
	enum mr_code rc = find_settings(call, &found);

	(void)asked;
	if (rc)
		return rc;
	found.settings.enabled = false;
	found.settings.interval_seconds = 0;
	return store_settings(call, &found, out);
}
MR_BIND_ALONE(deleting, switch_off, struct mr_nothing, struct mr_shape_notifier);

const struct mr_op mr_op_gateway_notifier_delete = {
	.name = "gateway_notifier_delete",
	.route = "DELETE " MIRROR,
	.summary = "No longer tell an agent of its mail",
	.result = mr_shape_notifier_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &deleting,
};

/* --- next --- */

struct next_request {
	int64_t wait;
};

static const struct mr_param next_params[] = {
	MR_PARAM(struct next_request, wait, "wait", .min = 0, .max = MR_NOTIFIER_WAIT_MAX_S,
		.fallback = "30", .summary = "seconds to wait for mail"),
	{ 0 },
};

/* Of a manifest what a notifier needs, without the rest of it. */
static struct mr_mailbox_session lean(struct mr_arena *arena, const struct mr_mailbox_session *from)
{
	const struct mr_value *plan = mr_value_get(from->value, "launch_plan");
	const struct mr_value none = { .kind = MR_MAP };
	struct mr_mailbox_session to = {
		.path = mr_arena_strdup(arena, from->path),
		.dir = mr_arena_strdup(arena, from->dir),
		.agent_name = mr_arena_strdup(arena, from->agent_name),
		.agent_id = mr_arena_strdup(arena, from->agent_id),
		.tmux_session = mr_arena_strdup(arena, from->tmux_session),
		.session_id = mr_arena_strdup(arena, from->session_id),
		.tool = mr_arena_strdup(arena, from->tool),
		.binding = mr_mailbox_binding_copy(arena, &from->binding),
	};
	struct mr_value value = { .kind = MR_TEXT,
		.text = mr_arena_strdup(arena,
			mr_mailbox_session_text(mr_value_get(plan, "home_selector"),
				"home_path")) };

	if (!value.text)
		value.kind = MR_NULL;
	value = mr_mailbox_session_with(arena, &none, "home_path", value);
	value = mr_mailbox_session_with(arena, &none, "home_selector", value);
	value = mr_mailbox_session_with(arena, &none, "launch_plan", value);
	to.value = mr_arena_memdup(arena, &value, sizeof(value));
	return to;
}

/* The same for a call that waits: what finding the agent takes in memory is given back first. */
static enum mr_code find_lean(struct mr_call *call, struct mr_mailbox_session *out)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_arena *own = call->cx.arena;
	struct mr_mail_session session;
	const char *unbound;
	enum mr_code rc;

	call->cx.arena = arena;
	rc = find(call, &session, &unbound);
	if (!rc && unbound) {
		rc = mr_err_set(&call->cx.err, MR_ECONFLICT, "%s", unbound);
		rc = mr_contract_gateway_unusable(call, rc);
	}
	call->cx.arena = own;
	call->cx.err.issues = NULL;
	if (!rc)
		*out = lean(own, &session.agent.manifest);
	return rc;
}

struct finding {
	struct mr_call *call;
	struct mr_mailbox_session *out;
	enum mr_code rc;
};

static void run_finding(void *arg)
{
	struct finding *finding = arg;

	finding->rc = find_lean(finding->call, finding->out);
}

static enum mr_code next(struct mr_call *call, const struct next_request *asked,
	struct mr_shape_notice *out)
{
	struct mr_notifier_hub *hub = mr_gateway_parts_notifiers(call->app->gateway_parts);
	struct mr_mailbox_session session;
	struct mr_notifier_told told;
	struct finding finding = { call, &session, MR_OK };
	const char *url, *api;
	enum mr_code rc;

	if (!hub)
		return mr_err_set(&call->cx.err, MR_ECONFLICT, "this server has no notifier");
	mr_gateway_parts_lend(call->app->gateway_parts, &call->cx);
	mr_notifier_hub_run(hub, run_finding, &finding);
	if (finding.rc)
		return finding.rc;
	url = mr_gateway_parts_url(call, &session, &api);
	rc = mr_notifier_hub_wait(&call->cx, hub, &session, url, api, (int)asked->wait * 1000,
		&told);
	if (!rc)
		*out = mr_shape_notice(call->cx.arena, &told);
	return rc;
}
MR_BIND_ALONE(waiting, next, struct next_request, struct mr_shape_notice);

const struct mr_op mr_op_gateway_notifier_next = {
	.name = "gateway_notifier_next",
	.route = "GET " MIRROR "/next",
	.summary = "Wait for mail that the agent was not told of yet",
	.params = next_params,
	.result = mr_shape_notice_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_WAITS | MR_QUOTES,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &waiting,
};
