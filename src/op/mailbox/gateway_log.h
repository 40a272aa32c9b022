/*
 * op/mailbox/gateway_log.h - what a gateway notes about its work, in the session's directory (spec/
 * mailbox.md 17.5).
 *
 * Each operation that begins (at level debug) and each that has ended is an event, with its name,
 * the address, a failure's code, and of the request its flags, its message's ref and how many
 * entries its lists have: never with subjects, bodies, files' paths and labels, notices or tokens.
 *
 * `mailroom gateway` writes what it logs to standard error and to two files, events.jsonl and
 * logs/gateway.log; each begins anew when it is large, and the one before is kept as NAME.1. A
 * failure that comes again in the same minute, and differs from the last one in nothing but the
 * time, is not written again but counted: the next line that is has "suppressed".
 */
#pragma once

#include "base/log.h"
#include "op/mailbox/gateway_service.h"

enum { MR_GATEWAY_LOG_LINE = 8192, MR_GATEWAY_LOG_FACTS = 16 };

struct mr_gateway_log {
	const char *events_path, *text_path;
	char last[MR_GATEWAY_LOG_LINE]; /* the failure that was written last; "" for none */
	unsigned suppressed;            /* how often it came again */
};

/* The sink of the process's log (base/log.h), with its struct mr_gateway_log. */
void mr_gateway_log_write(void *arg, const char *line, size_t len);

/* What may be told of a request. Its texts live as long as the arguments, or in the arena. */
struct mr_gateway_facts {
	struct mr_log_field fields[MR_GATEWAY_LOG_FACTS];
	size_t len;
};
struct mr_gateway_facts mr_gateway_log_facts(struct mr_arena *arena, const struct mr_op *op,
	const char *address, const struct mr_args *in);

/* An operation begins. */
void mr_gateway_log_begun(const struct mr_gateway_facts *facts);
/* It has ended: `rc`, with the reason in `err`. */
void mr_gateway_log_ended(const struct mr_gateway_facts *facts, enum mr_code rc,
	const struct mr_err *err);
/* A body of so many bytes was refused. */
void mr_gateway_log_refused(const struct mr_op *op, size_t bytes, size_t problems);
