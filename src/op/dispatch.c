/*
 * op/dispatch.c - Runs one operation: decodes its arguments, checks the caller's rights, calls the
 * handler, counts and logs the call.
 */
#include "op/dispatch.h"

#include "app/metrics.h"
#include "app/pace.h"
#include "app/principal.h"
#include "base/log.h"
#include "base/reach.h"
#include "op/args.h"
#include "op/bind.h"
#include "op/contract.h"
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
		.session = app->session,
		.agent_name = app->agent_name,
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

/* A server's caller is somewhere else: it names no files of this machine, and is not the person who
 * decides. */
static enum mr_code check_surface(struct mr_call *call, const struct mr_args *in)
{
	for (size_t i = 0; !call->invocation && i < mr_param_count(in->params); i++) {
		if (in->values[i] && in->params[i].flags & MR_CLI_ONLY)
			return mr_err_set(&call->cx.err, MR_EINVAL,
				"%s can be given on the command line only", in->params[i].name);
	}
	return MR_OK;
}

/* The bound call, with the part that was entered. */
static enum mr_code run_bound(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in, void *part, struct mr_out *out)
{
	void *request = mr_arena_alloc(call->cx.arena, op->bind->request_size);
	void *result = mr_arena_alloc(call->cx.arena, op->bind->result_size);
	enum mr_code rc;

	mr_bind_request(call->cx.arena, in, request);
	rc = op->bind->run(call, part, request, result);
	if (!rc && op->result && !call->is_silent)
		mr_bind_object(out, NULL, op->result, result);
	return rc;
}

static enum mr_code run_op(struct mr_call *call, const struct mr_op *op, const struct mr_args *in,
	void *part, struct mr_out *out)
{
	return op->bind ? run_bound(call, op, in, part, out) : op->run(call, in, out);
}

/* The operation's result as its contract has it; it is not run when it was before. */
static enum mr_code run_wrapped(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent, const struct mr_args *in, void *part, struct mr_out *out)
{
	const struct mr_contract *contract = op->contract;
	const struct mr_value *emitted = NULL;
	struct mr_out tree;
	enum mr_code rc = MR_OK;

	if (contract->recall)
		rc = contract->recall(call, op, sent, part, &emitted);
	if (!rc && !emitted) {
		mr_out_init_tree(&tree, call->cx.arena);
		rc = run_op(call, op, in, part, &tree);
		emitted = rc ? NULL : mr_out_tree(&tree);
		if (contract->remember)
			contract->remember(call, op, sent, part, rc, emitted);
	}
	if (!rc)
		contract->result(out, call, op, emitted);
	return rc;
}

static enum mr_code run(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent,
	void **part, struct mr_out *out)
{
	const struct mr_contract *contract = op->contract;
	struct mr_args in;
	enum mr_code rc = mr_args_decode(call->cx.arena, op->params,
		contract->take ? contract->take(call, op, sent) : sent, &in, &call->cx.err);

	if (!rc)
		rc = check_surface(call, &in);
	call->is_usage = rc != MR_OK;
	if (!rc)
		rc = check_needs(call, op);
	if (!rc && contract->enter)
		rc = contract->enter(call, op, &in, op->bind && !op->bind->is_alone ? part : NULL);
	if (rc)
		return rc;
	call->cx.is_over = call->is_over;
	call->cx.is_over_arg = call->is_over_arg;
	rc = contract->result ? run_wrapped(call, op, sent, &in, *part, out)
			      : run_op(call, op, &in, *part, out);
	call->is_usage = false; /* also after another operation that this one ran */
	return rc;
}

enum mr_code mr_dispatch(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent,
	struct mr_out *out)
{
	int64_t begun_us = mr_clock_mono_us(call->app->clock);
	void *part = NULL;
	enum mr_code rc = run(call, op, sent, &part, out);
	int64_t took_us = mr_clock_mono_us(call->app->clock) - begun_us;

	mr_metrics_count(call->app->metrics, MR_METRIC_TOOL_CALLS, op->name, rc ? "error" : "ok",
		1);
	mr_metrics_observe(call->app->metrics, MR_METRIC_TOOL_SECONDS, op->name,
		(double)took_us / 1e6);
	/* What waits for something takes as long as that does. */
	if (!(op->traits & MR_WAITS))
		mr_pace_add(call->app->pace, mr_clock_wall_us(call->app->clock), took_us, rc);
	mr_trace_operation(call, op, rc, took_us);
	if (op->contract->leave)
		op->contract->leave(call, op, part, rc);
	if (rc == MR_EINTERNAL || rc == MR_EIO)
		mr_log(MR_LOG_ERROR, "operation_failed", "%s: %s", op->name, call->cx.err.msg);
	return rc;
}
