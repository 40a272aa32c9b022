/* op/dispatch.c */
#include "op/dispatch.h"

#include "base/log.h"
#include "op/args.h"
#include "op/envelope.h"
#include "op/metrics.h"

static enum mr_code check_needs(struct mr_ctx *cx, const struct mr_op *op)
{
	const char *question;

	if (op->needs & MR_NEED_WRITE && !cx->may_write)
		return mr_err_set(&cx->err, MR_EPERM, "%s changes something, and you may only read",
			op->name);
	if (!(op->needs & MR_NEED_CONFIRM) || cx->confirmed)
		return MR_OK;
	question = mr_arena_printf(cx->arena, "%s. Go on?", op->summary);
	if (cx->confirm && cx->confirm(cx->confirm_arg, question))
		return MR_OK;
	return mr_err_set(&cx->err, MR_ENOTCONFIRMED, "%s was not confirmed; nothing was done",
		op->name);
}

static enum mr_code run(struct mr_ctx *cx, const struct mr_op *op, const struct mr_value *sent,
	struct mr_out *out)
{
	struct mr_args in;
	enum mr_code rc = mr_args_decode(cx->arena, op->params, sent, &in, &cx->err);

	if (rc)
		return rc;
	rc = check_needs(cx, op);
	if (rc)
		return rc;
	op->envelope->begin_result(out);
	rc = op->run(cx, &in, out);
	if (rc)
		return rc;
	op->envelope->end_result(out);
	return MR_OK;
}

enum mr_code mr_dispatch(struct mr_ctx *cx, const struct mr_op *op, const struct mr_value *sent,
	struct mr_out *out)
{
	int64_t begun_us = mr_clock_mono_us(cx->app->clock);
	enum mr_code rc = run(cx, op, sent, out);
	int64_t took_us = mr_clock_mono_us(cx->app->clock) - begun_us;

	mr_metrics_count(cx->app->metrics, MR_METRIC_TOOL_CALLS, op->name, rc ? "error" : "ok", 1);
	mr_metrics_observe(cx->app->metrics, MR_METRIC_TOOL_SECONDS, op->name,
		(double)took_us / 1e6);
	if (rc == MR_EINTERNAL || rc == MR_EIO)
		mr_log(MR_LOG_ERROR, "operation_failed", "%s: %s", op->name, cx->err.msg);
	return rc;
}
