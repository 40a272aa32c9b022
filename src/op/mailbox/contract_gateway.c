/* op/mailbox/contract_gateway.c - whose mail a request to a gateway is about, and what failures
 * look like. */
#include "op/mailbox/contract_gateway.h"

#include "base/reach.h"
#include "op/call.h"
#include "op/mailbox/gateway_body.h"
#include "op/mailbox/gateway_log.h"
#include "op/mailbox/gateway_parts.h"
#include "op/mailbox/gateway_service.h"
#include "op/mailbox/mail_session.h"

/* The request is right, but this gateway or this binding cannot serve it. */
static const char unusable[] = "binding_unusable";
static const char only_here[] = "loopback_only";

static const struct mr_value *take(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent)
{
	struct mr_value *rest;

	(void)op;
	if (!mr_value_get(sent, MR_GATEWAY_AGENT_REF))
		return sent;
	rest = mr_arena_memdup(call->cx.arena, sent, sizeof(*sent));
	rest->map.pairs = mr_arena_array(call->cx.arena, sent->map.len, sizeof(*rest->map.pairs));
	rest->map.len = 0;
	for (size_t i = 0; i < sent->map.len; i++) {
		const struct mr_pair *pair = &sent->map.pairs[i];

		if (!mr_str_eq(pair->key, MR_GATEWAY_AGENT_REF))
			rest->map.pairs[rest->map.len++] = *pair;
		else if (pair->value.kind == MR_TEXT)
			call->agent_ref = pair->value.text;
	}
	return rest;
}

/* Whatever is wrong with the manifest or its binding, except that it is busy or the disk fails. */
enum mr_code mr_contract_gateway_unusable(struct mr_call *call, enum mr_code rc)
{
	if (rc && rc != MR_EBUSY && rc != MR_EIO && rc != MR_ETIMEOUT)
		mr_err_word(&call->cx.err, unusable);
	call->cx.err.issues = NULL;
	return rc;
}

/*
 * An agent's own gateway attaches whatever its user can read, as the agent's command line does. A
 * server of many agents also lets in the agent's working directory.
 */
static void widen_reach(struct mr_call *call, const struct mr_mailbox_session *manifest)
{
	const char *place = mr_mailbox_session_text(manifest->value, "working_directory");
	struct mr_reach *wider;

	if (!call->agent_ref) {
		call->cx.reach = NULL;
		return;
	}
	if (!call->cx.reach || mr_str_is_empty(place))
		return;
	wider = mr_arena_memdup(call->cx.arena, call->cx.reach, sizeof(*wider));
	wider->roots.items = mr_arena_array(call->cx.arena, call->cx.reach->roots.len + 1,
		sizeof(*wider->roots.items));
	for (size_t i = 0; i < call->cx.reach->roots.len; i++)
		wider->roots.items[i] = call->cx.reach->roots.items[i];
	wider->roots.items[wider->roots.len++] = place;
	call->cx.reach = wider;
}

enum mr_code mr_contract_gateway_is_here(struct mr_call *call)
{
	if (call->agent_ref || mr_gateway_is_local(call->app->gateway))
		return MR_OK;
	mr_err_set(&call->cx.err, MR_ECONFLICT,
		"mail is only served by a gateway that listens on 127.0.0.1");
	return mr_err_word(&call->cx.err, only_here);
}

/* The part: operations see the session. */
struct entered {
	struct mr_mail_session session;
	struct mr_gateway_facts facts;
};

static enum mr_code enter(struct mr_call *call, const struct mr_op *op, const struct mr_args *in,
	void **part)
{
	struct mr_mail_session *session;
	struct entered *entered;
	enum mr_code rc;

	if (!part)
		return MR_OK;
	rc = mr_contract_gateway_is_here(call);
	if (rc)
		return rc;
	entered = mr_arena_alloc(call->cx.arena, sizeof(*entered));
	session = &entered->session;
	*session = (struct mr_mail_session){ .mail = MR_MAIL_INIT };
	mr_gateway_parts_lend(call->app->gateway_parts, &call->cx);
	rc = mr_gateway_session(call, session);
	entered->facts = mr_gateway_log_facts(call->cx.arena, op, session->binding.address, in);
	mr_gateway_log_begun(&entered->facts);
	widen_reach(call, &session->agent.manifest);
	if (!rc)
		rc = mr_mail_session_open(call, !(op->needs & MR_NEED_WRITE), session);
	if (rc) {
		mr_gateway_log_ended(&entered->facts, rc, &call->cx.err);
		mr_mail_session_close(session);
		return mr_contract_gateway_unusable(call, rc);
	}
	*part = session;
	return MR_OK;
}

static void leave(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc)
{
	(void)op;
	/* What the mailbox refuses the gateway is not what the server refuses its client. */
	if (part && rc == MR_EPERM)
		mr_err_word(&call->cx.err, mr_mail_failed);
	if (part) {
		struct entered *entered = part;

		mr_gateway_log_ended(&entered->facts, rc, &call->cx.err);
		mr_mail_session_close(&entered->session);
	}
}

static void error(struct mr_out *out, const struct mr_err *err)
{
	mr_out_map(out, NULL);
	if (err->word == mr_gateway_body_invalid)
		mr_out_value(out, "detail", err->detail);
	else
		mr_out_text(out, "detail", err->msg);
	mr_out_end(out);
}

static int http_status(const struct mr_err *err)
{
	if (err->word == only_here)
		return 503;
	if (err->issues || err->word == mr_gateway_body_invalid || err->word == unusable ||
		err->word == mr_mail_unsupported || err->word == mr_mail_repeated)
		return 422;
	if (err->word == mr_mail_failed)
		return 502;
	switch (err->code) {
	case MR_EAUTH:
		return 401;
	case MR_EPERM:
		return 403;
	case MR_ELIMIT:
		return 422;
	default:
		return 502;
	}
}

static enum mr_code read_body(struct mr_call *call, const struct mr_op *op,
	const char *content_type, struct mr_bytes body, const struct mr_value **out)
{
	enum mr_code rc = mr_gateway_body_read(call, op, content_type, body, out);
	const struct mr_value *problems = rc ? call->cx.err.detail : NULL;

	if (problems)
		mr_gateway_log_refused(op, body.len, problems->list.len);
	return rc;
}

const struct mr_contract mr_contract_gateway = {
	.read_body = read_body,
	.take = take,
	.enter = enter,
	.leave = leave,
	.error = error,
	.http_status = http_status,
};
