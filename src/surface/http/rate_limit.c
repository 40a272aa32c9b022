/* surface/http/rate_limit.c - Token buckets by key, for rate limits per client and per tool. */
#include "surface/http/rate_limit.h"

#include "base/oom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Tokens are counted in parts: a microsecond brings `per_minute` of them. */
#define PARTS INT64_C(60000000)

enum { KEY_BYTES = 255 };

struct bucket {
	struct bucket *next;             /* in its slot */
	struct bucket *newer, *older;    /* by when it was asked for */
	struct mr_http_rate_limit limit; /* as last asked with */
	int64_t parts;
	int64_t at_us;
	uint64_t hash;
	char key[];
};

struct mr_http_rate_limits {
	pthread_mutex_t lock;
	uint64_t seed;
	size_t max, len;
	size_t slots_len; /* a power of two */
	struct bucket **slots;
	struct bucket *newest, *oldest;
};

static void *must(void *p)
{
	if (!p)
		mr_oom(0);
	return p;
}

struct mr_http_rate_limits *mr_http_rate_limits_new(size_t max, uint64_t seed)
{
	struct mr_http_rate_limits *limits = must(calloc(1, sizeof(*limits)));

	pthread_mutex_init(&limits->lock, NULL);
	limits->seed = seed;
	limits->max = max;
	limits->slots_len = 16;
	limits->slots = must(calloc(limits->slots_len, sizeof(*limits->slots)));
	return limits;
}

void mr_http_rate_limits_free(struct mr_http_rate_limits *limits)
{
	if (!limits)
		return;
	while (limits->newest) {
		struct bucket *b = limits->newest;

		limits->newest = b->older;
		free(b);
	}
	pthread_mutex_destroy(&limits->lock);
	free(limits->slots);
	free(limits);
}

size_t mr_http_rate_limits_count(struct mr_http_rate_limits *limits)
{
	size_t len;

	pthread_mutex_lock(&limits->lock);
	len = limits->len;
	pthread_mutex_unlock(&limits->lock);
	return len;
}

static uint64_t hash_of(uint64_t seed, const char *key, size_t len)
{
	uint64_t h = seed ^ UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (unsigned char)key[i]) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	return h;
}

static struct bucket **slot_of(struct mr_http_rate_limits *limits, uint64_t hash)
{
	return &limits->slots[hash & (limits->slots_len - 1)];
}

static void unlink_age(struct mr_http_rate_limits *limits, struct bucket *b)
{
	*(b->newer ? &b->newer->older : &limits->newest) = b->older;
	*(b->older ? &b->older->newer : &limits->oldest) = b->newer;
}

static void link_newest(struct mr_http_rate_limits *limits, struct bucket *b)
{
	b->newer = NULL;
	b->older = limits->newest;
	*(b->older ? &b->older->newer : &limits->oldest) = b;
	limits->newest = b;
}

static void drop_oldest(struct mr_http_rate_limits *limits)
{
	struct bucket *b = limits->oldest;
	struct bucket **at = slot_of(limits, b->hash);

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	unlink_age(limits, b);
	free(b);
	limits->len--;
}

static void grow(struct mr_http_rate_limits *limits)
{
	struct bucket **old = limits->slots;
	size_t old_len = limits->slots_len;

	limits->slots_len *= 2;
	limits->slots = must(calloc(limits->slots_len, sizeof(*limits->slots)));
	for (size_t i = 0; i < old_len; i++) {
		for (struct bucket *b = old[i], *next; b; b = next) {
			struct bucket **slot = slot_of(limits, b->hash);

			next = b->next;
			b->next = *slot;
			*slot = b;
		}
	}
	free(old);
}

static int64_t capacity(const struct mr_http_rate_limit *limit)
{
	return limit->burst > 0 ? limit->burst : limit->per_minute;
}

/* Add the tokens of the time since the last call, however long it was or if the clock went back. */
static void refill(struct bucket *b, int64_t now_us)
{
	int64_t full = capacity(&b->limit) * PARTS;
	int64_t elapsed = now_us - b->at_us;

	if (elapsed > 0) {
		if (elapsed > full / b->limit.per_minute)
			b->parts = full;
		else
			b->parts += elapsed * b->limit.per_minute;
		b->at_us = now_us;
	}
	if (b->parts > full)
		b->parts = full;
}

/* The bucket of this key with the tokens it has now; a new one is full. */
static struct bucket *find(struct mr_http_rate_limits *limits, int64_t now_us,
	const struct mr_http_wish *wish)
{
	size_t len = strnlen(wish->key, KEY_BYTES);
	uint64_t hash = hash_of(limits->seed, wish->key, len);
	struct bucket *b = *slot_of(limits, hash);

	while (b && !(b->hash == hash && strncmp(b->key, wish->key, len) == 0 && !b->key[len]))
		b = b->next;
	if (b) {
		unlink_age(limits, b);
	} else {
		if (limits->len == limits->max)
			drop_oldest(limits);
		if (limits->len == limits->slots_len)
			grow(limits);
		b = must(calloc(1, sizeof(*b) + len + 1));
		memcpy(b->key, wish->key, len);
		b->hash = hash;
		b->at_us = now_us;
		b->parts = capacity(&wish->limit) * PARTS;
		b->next = *slot_of(limits, hash);
		*slot_of(limits, hash) = b;
		limits->len++;
	}
	link_newest(limits, b);
	b->limit = wish->limit;
	refill(b, now_us);
	return b;
}

/* Until so many parts have come back, rounded up. */
static int64_t seconds_for(const struct bucket *b, int64_t parts)
{
	int64_t a_second = b->limit.per_minute * 1000000;

	return parts > 0 ? (parts + a_second - 1) / a_second : 0;
}

static void report(const struct bucket *b, struct mr_http_quota *out)
{
	int64_t remaining = b->parts / PARTS;

	if (out->is_limited && out->remaining <= remaining)
		return;
	out->is_limited = true;
	out->remaining = remaining;
	out->limit = capacity(&b->limit);
	out->full_in_s = seconds_for(b, out->limit * PARTS - b->parts);
}

static void refuse(const struct bucket *b, struct mr_http_quota *out)
{
	out->is_limited = false;
	report(b, out);
	out->retry_in_s = seconds_for(b, PARTS - b->parts);
}

bool mr_http_rate_limits_take(struct mr_http_rate_limits *limits, int64_t now_us,
	const struct mr_http_wish *wishes, size_t count, struct mr_http_quota *out)
{
	bool fits = true;
	size_t taken = 0;

	*out = (struct mr_http_quota){ 0 };
	pthread_mutex_lock(&limits->lock);
	for (; taken < count && fits; taken++) {
		struct bucket *b;

		if (wishes[taken].limit.per_minute <= 0)
			continue;
		b = find(limits, now_us, &wishes[taken]);
		fits = b->parts >= PARTS;
		if (!fits) {
			refuse(b, out);
			break;
		}
		b->parts -= PARTS;
		report(b, out);
	}
	/* All or none: what was taken for the others goes back. */
	for (size_t i = 0; !fits && i < taken; i++) {
		if (wishes[i].limit.per_minute > 0)
			find(limits, now_us, &wishes[i])->parts += PARTS;
	}
	pthread_mutex_unlock(&limits->lock);
	return fits;
}

bool mr_http_rate_limits_peek(struct mr_http_rate_limits *limits, int64_t now_us,
	const struct mr_http_wish *wish, struct mr_http_quota *out)
{
	bool fits = true;

	*out = (struct mr_http_quota){ 0 };
	if (wish->limit.per_minute <= 0)
		return true;
	pthread_mutex_lock(&limits->lock);
	{
		struct bucket *b = find(limits, now_us, wish);

		fits = b->parts >= PARTS;
		if (fits)
			report(b, out);
		else
			refuse(b, out);
	}
	pthread_mutex_unlock(&limits->lock);
	return fits;
}
