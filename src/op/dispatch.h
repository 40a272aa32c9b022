/* op/dispatch.h - run an operation for a surface: decode, check what it needs, run, count, log. */
#pragma once

#include "op/call.h"
#include "op/op.h"
#include "text/out.h"

/* A call on behalf of `app`, with nothing allowed yet; of this machine's directories it may name
 * those of app->reach. */
struct mr_call mr_dispatch_call(const struct mr_app *app, struct mr_arena *arena);

/*
 * Run `op` with the arguments that were `sent` (NULL or a map) and emit its result, in its
 * contract's wrapping, into `out`. On failure the reason is in call->cx.err and `out` holds nothing
 * of use: start afresh and let mr_contract_error() speak.
 */
MR_CHECK enum mr_code mr_dispatch(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent, struct mr_out *out);

/*
 * For handlers that destroy something: go on only with a person's yes, given before (--yes) or now.
 * `question` says what will happen. Otherwise MR_ENOTCONFIRMED.
 */
MR_CHECK enum mr_code mr_dispatch_confirm(struct mr_call *call, const char *question);
