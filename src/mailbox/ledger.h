/*
 * mailbox/ledger.h - which wake-ups there were: notices, as the ledger of a session has them.
 *
 * A notice is one wake-up about one or several messages. It is `queued`, then on its way
 * (`sending`), then `delivered`, and at last `acknowledged`, when all of its messages were read or
 * archived; or `failed` (with `retry_us` it will be tried again), or `withdrawn`: its messages were
 * read before it could be delivered. A message is in one open notice at most, and how often it was
 * announced is kept until it is forgotten.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum mr_ledger_state {
	MR_LEDGER_QUEUED,
	MR_LEDGER_SENDING,
	MR_LEDGER_DELIVERED,
	MR_LEDGER_ACKNOWLEDGED,
	MR_LEDGER_FAILED,
	MR_LEDGER_WITHDRAWN,
};
extern const char *const mr_ledger_states[]; /* NULL-terminated */

struct mr_ledger_notice {
	int64_t id;
	const char *state;   /* a word of mr_ledger_states */
	const char *channel; /* "tmux", "command", "long_poll", "hook" */
	int64_t messages;    /* that it is about */
	int64_t attempts;
	int64_t queued_us, delivered_us, settled_us; /* 0: not yet */
	int64_t retry_us;                            /* when a failed one is tried again; or 0 */
	const char *detail;                          /* why; or NULL */
	const char *subject;                         /* of its first message; or NULL */
};
struct mr_ledger_notices {
	struct mr_ledger_notice *items;
	size_t len;
};

/* What waits, for the doctor. */
struct mr_ledger_backlog {
	int64_t messages;  /* that wait for a delivery that failed at least once */
	int64_t oldest_us; /* since when */
	const char *channel, *detail;
};
