/*
 * op/work/event_work.h - lines about what a command of the workspace does: --log LIST, --verbose.
 *
 * The categories are startup, request, progress and retry. A line is an object with the code
 * "log"; without the options there are none.
 */
#pragma once

#include "op/contract.h"

/* Are the categories of --log known? Else MR_EINVAL. */
MR_CHECK enum mr_code mr_event_work_check(const struct mr_invocation *how, struct mr_err *err);
/* For mr_contract.event. */
void mr_event_work(struct mr_out *out, const struct mr_invocation *how,
	const struct mr_event *event);
/* "trace": how long the command has run. */
void mr_event_work_trace(struct mr_out *out, const struct mr_invocation *how);
