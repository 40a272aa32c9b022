/* op/dispatch.c */
#include "op/dispatch.h"

#include "base/log.h"
#include "op/args.h"
#include "op/envelope.h"
#include "op/metrics.h"

struct mr_call mr_dispatch_call(const struct mr_app *app, struct mr_arena *arena)
{
	return (struct mr_call){
		.cx = { .arena = arena, .clock = app->clock, .rand = app->rand },
		.app = app,
	};
}

static enum mr_code check_needs(struct mr_call *call, const struct mr_op *op)
{
	const char *question;

	if (op->needs & MR_NEED_WRITE && !call->may_write)
		return mr_err_set(&call->cx.err, MR_EPERM,
			"%s changes something, and you may only read", op->name);
	if (!(op->needs & MR_NEED_CONFIRM) || call->confirmed)
		return MR_OK;
	question = mr_arena_printf(call->cx.arena, "%s. Go on?", op->summary);
	if (call->confirm && call->confirm(call->confirm_arg, question))
		return MR_OK;
	return mr_err_set(&call->cx.err, MR_ENOTCONFIRMED, "%s was not confirmed; nothing was done",
		op->name);
}

static enum mr_code run(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent,
	struct mr_out *out)
{
	struct mr_args in;
	enum mr_code rc = mr_args_decode(call->cx.arena, op->params, sent, &in, &call->cx.err);

	if (rc)
		return rc;
	rc = check_needs(call, op);
	if (rc)
		return rc;
	op->envelope->begin_result(out);
	rc = op->run(call, &in, out);
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
	if (rc == MR_EINTERNAL || rc == MR_EIO)
		mr_log(MR_LOG_ERROR, "operation_failed", "%s: %s", op->name, call->cx.err.msg);
	return rc;
}
