/*
 * surface/http/budget.h - one limit for the memory of all requests in flight.
 *
 * A request takes its share before its body is read, for what the body will cost until it is
 * answered: the bytes, the values they are parsed into, the answer. What does not fit is answered
 * 503 and its body is dropped as it arrives. Bodies that are not small leave an eighth of the
 * budget to those that are, so that a few large ones do not stop everything else.
 *
 * Safe from any thread; what one request holds (`*held`) is one thread's at a time.
 */
#pragma once

#include "base/str.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	/* Memory at the peak for each byte of a body: see tests/blackbox/http_budget.py. */
	MR_HTTP_BUDGET_FACTOR = 6,
	/* A body up to here is small. */
	MR_HTTP_BUDGET_SMALL_BYTES = 64 << 10,
	/* The largest that is the default. */
	MR_HTTP_BUDGET_DEFAULT_MAX = 256 << 20,
	/* The smallest that can be set. */
	MR_HTTP_BUDGET_MIN = 1 << 20,
};

struct mr_http_budget {
	uint64_t max;
	_Atomic(uint64_t) used;
};

/* The default on a machine with so much memory: an eighth, at least 8 MiB, at most 256 MiB. */
uint64_t mr_http_budget_default(uint64_t memory_bytes);

/* May a request without a body begin? */
bool mr_http_budget_has_room(const struct mr_http_budget *budget);

/*
 * Take the share of a body that has grown to `len` bytes and add it to `*held`; false when it does
 * not fit. A body that is too large for the whole budget fits when it is alone.
 */
bool mr_http_budget_take_body(struct mr_http_budget *budget, uint64_t *held, uint64_t len);
/* The share of the values that a body of JSON will be parsed into. */
bool mr_http_budget_take_values(struct mr_http_budget *budget, uint64_t *held,
	struct mr_bytes body);
/* The share of an answer, which is there already: it may go past the maximum. */
void mr_http_budget_add(struct mr_http_budget *budget, uint64_t *held, uint64_t bytes);
/* Give back all that is held. */
void mr_http_budget_give(struct mr_http_budget *budget, uint64_t *held);
