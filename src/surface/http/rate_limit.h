/*
 * surface/http/rate_limit.h - rate limits: token buckets by key.
 *
 * A bucket holds `burst` tokens and gets `per_minute` a minute back. Time is passed in. At most
 * `max` buckets are kept: the least recently used one is dropped first. Safe from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_HTTP_BUCKETS = 64 * 1024 };

struct mr_http_rate_limit {
	int64_t per_minute; /* 0: no limit; at most 10^9 */
	int64_t burst;      /* 0: as many as per minute; at most 10^9 */
};

struct mr_http_rate_limits;

/* `seed` makes the places of keys hard to guess. */
struct mr_http_rate_limits *mr_http_rate_limits_new(size_t max, uint64_t seed);
/* NULL is fine. */
void mr_http_rate_limits_free(struct mr_http_rate_limits *limits);
size_t mr_http_rate_limits_count(struct mr_http_rate_limits *limits);

/* One token wanted from one bucket. Of a key longer than 255 bytes the beginning counts. */
struct mr_http_wish {
	const char *key;
	struct mr_http_rate_limit limit;
};

/* The state of the bucket that is nearest to empty. */
struct mr_http_quota {
	bool is_limited;    /* false: none of the wishes has a limit, and nothing else is set */
	int64_t limit;      /* tokens of a full bucket */
	int64_t remaining;  /* whole tokens */
	int64_t full_in_s;  /* until it is full again, rounded up */
	int64_t retry_in_s; /* until there is a token for what was refused; 0 when nothing was */
};

/* Take all the tokens that are wished for, or none: false. */
bool mr_http_rate_limits_take(struct mr_http_rate_limits *limits, int64_t now_us,
	const struct mr_http_wish *wishes, size_t count, struct mr_http_quota *out);
/* The same question without taking. */
bool mr_http_rate_limits_peek(struct mr_http_rate_limits *limits, int64_t now_us,
	const struct mr_http_wish *wish, struct mr_http_quota *out);
