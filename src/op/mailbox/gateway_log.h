/*
 * op/mailbox/gateway_log.h - what a gateway notes about its work, in the session's directory (spec/
 * mailbox.md 17.5).
 *
 * Each operation that has ended is an event, with its name, the address and a failure's code: never
 * with bodies, paths of files or tokens. `mailroom gateway` writes what it logs to standard error
 * and to two files, events.jsonl and logs/gateway.log; each begins anew when it is large, and the
 * one before is kept as NAME.1.
 */
#pragma once

#include "op/mailbox/gateway_service.h"

struct mr_gateway_log {
	const char *events_path, *text_path;
};

/* The sink of the process's log (base/log.h), with its struct mr_gateway_log. */
void mr_gateway_log_write(void *arg, const char *line, size_t len);

/* An operation has ended: `rc`, with the reason in call->cx.err. */
void mr_gateway_log_operation(const struct mr_call *call, const struct mr_op *op,
	const char *address, enum mr_code rc);
/* A body was refused. */
void mr_gateway_log_refused(const struct mr_op *op, size_t problems);
