/* op/dispatch.c */
#include "op/dispatch.h"

#include "app/metrics.h"
#include "app/principal.h"
#include "base/log.h"
#include "base/reach.h"
#include "op/agent_auth.h"
#include "op/args.h"
#include "op/bind.h"
#include "op/envelope.h"
#include "op/trace.h"

struct mr_call mr_dispatch_call(const struct mr_app *app, struct mr_arena *arena)
{
	static const struct mr_reach nowhere;

	return (struct mr_call){
		.cx = { .arena = arena,
			.clock = app->clock,
			.rand = app->rand,
			.reach = app->reach ? app->reach : &nowhere },
		.app = app,
	};
}

enum mr_code mr_dispatch_confirm(struct mr_call *call, const char *question)
{
	if (call->confirmed || (call->confirm && call->confirm(call->confirm_arg, question)))
		return MR_OK;
	return mr_err_set(&call->cx.err, MR_ENOTCONFIRMED, "not confirmed, nothing was done: %s",
		question);
}

static enum mr_code check_needs(struct mr_call *call, const struct mr_op *op)
{
	if (op->needs & MR_NEED_ADMIN && !call->is_admin)
		return mr_err_set(&call->cx.err, MR_EPERM, "%s is for administrators", op->name);
	if (op->needs & MR_NEED_WRITE && !call->may_write &&
		!(call->principal && mr_texts_has(&call->principal->readonly_tools, op->name)))
		return mr_err_set(&call->cx.err, MR_EPERM,
			"%s changes something, and you may only read", op->name);
	return MR_OK;
}

/* The operation's own work: its bound call, or its handler. */
static enum mr_code work(struct mr_call *call, const struct mr_op *op, const struct mr_args *in,
	struct mr_out *out)
{
	const struct mr_binding *bind = op->bind;
	void *request, *result;
	void *part = NULL;
	enum mr_code rc = MR_OK;

	if (!bind)
		return op->run(call, in, out);
	if (op->envelope->enter)
		rc = op->envelope->enter(call, op, in, &part);
	if (rc)
		return rc;
	request = mr_arena_alloc(call->cx.arena, bind->request_size);
	result = mr_arena_alloc(call->cx.arena, bind->result_size);
	mr_bind_request(call->cx.arena, in, request);
	rc = bind->run(call, part, request, result);
	if (!rc)
		mr_bind_object(out, NULL, op->result, result);
	return rc;
}

static enum mr_code run(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent,
	struct mr_out *out)
{
	struct mr_args in;
	enum mr_code rc = mr_args_decode(call->cx.arena, op->params,
		mr_agent_auth_take_token(call, op, sent), &in, &call->cx.err);

	if (!rc)
		rc = check_needs(call, op);
	if (!rc)
		rc = mr_agent_auth_check(call, op, &in);
	if (rc)
		return rc;
	call->cx.is_over = call->is_over;
	call->cx.is_over_arg = call->is_over_arg;
	op->envelope->begin_result(out);
	rc = work(call, op, &in, out);
	if (rc)
		return rc;
	op->envelope->end_result(out);
	return MR_OK;
}

enum mr_code mr_dispatch(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent,
	struct mr_out *out)
{
	int64_t begun_us = mr_clock_mono_us(call->app->clock);
	enum mr_code rc = run(call, op, sent, out);
	int64_t took_us = mr_clock_mono_us(call->app->clock) - begun_us;

	mr_metrics_count(call->app->metrics, MR_METRIC_TOOL_CALLS, op->name, rc ? "error" : "ok",
		1);
	mr_metrics_observe(call->app->metrics, MR_METRIC_TOOL_SECONDS, op->name,
		(double)took_us / 1e6);
	mr_trace_operation(call, op, rc, took_us);
	if (rc && op->envelope->blame)
		op->envelope->blame(&call->cx, op->name);
	if (rc == MR_EINTERNAL || rc == MR_EIO)
		mr_log(MR_LOG_ERROR, "operation_failed", "%s: %s", op->name, call->cx.err.msg);
	return rc;
}
