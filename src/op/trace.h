/* op/trace.h - operations as spans of an OpenTelemetry trace. */
#pragma once

#include "op/call.h"
#include "op/op.h"

/* For a server: when otel.endpoint is set, traces are sent there from now on. Before its other
 * threads start. */
MR_CHECK enum mr_code mr_trace_begin(struct mr_call *call);
/* An operation is over. Never waits. */
void mr_trace_operation(const struct mr_call *call, const struct mr_op *op, enum mr_code rc,
	int64_t took_us);
