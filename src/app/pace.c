/* app/pace.c - Counts the operations of the last hour by the minute, with their times. */
#include "app/pace.h"

#include "base/oom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, POWERS = 30, BUCKETS = PARTS * POWERS };

static const int64_t MINUTE_US = INT64_C(60) * 1000000;

struct minute {
	int64_t number; /* since 1970 */
	uint32_t calls, failed;
	uint32_t buckets[BUCKETS];
};
struct mr_pace {
	pthread_mutex_t mutex;
	struct minute minutes[MR_PACE_MINUTES]; /* each at its number, modulo their count */
};

struct mr_pace *mr_pace_new(void)
{
	struct mr_pace *pace = calloc(1, sizeof(*pace));

	if (!pace)
		mr_oom(sizeof(*pace));
	pthread_mutex_init(&pace->mutex, NULL);
	return pace;
}

void mr_pace_freep(struct mr_pace **pace)
{
	if (*pace)
		pthread_mutex_destroy(&(*pace)->mutex);
	free(*pace);
	*pace = NULL;
}

/* A power of two has four buckets. */
static size_t bucket_of(int64_t us)
{
	uint64_t value = us > PARTS ? (uint64_t)us : PARTS;
	unsigned power = 63 - (unsigned)__builtin_clzll(value);
	size_t at = (size_t)(power - 2) * PARTS + ((value >> (power - 2)) & (PARTS - 1));

	return at < BUCKETS ? at : BUCKETS - 1;
}

/* The longest time that is in it. */
static int64_t end_of(size_t bucket)
{
	unsigned power = (unsigned)(bucket / PARTS);

	return (int64_t)(((uint64_t)(PARTS + bucket % PARTS + 1) << power) - 1);
}

static struct minute *minute_at(struct mr_pace *pace, int64_t number)
{
	return &pace->minutes[(uint64_t)number % MR_PACE_MINUTES];
}

void mr_pace_add(struct mr_pace *pace, int64_t now_us, int64_t took_us, bool failed)
{
	int64_t number = now_us / MINUTE_US;
	struct minute *minute;

	if (!pace)
		return;
	pthread_mutex_lock(&pace->mutex);
	minute = minute_at(pace, number);
	if (minute->number != number)
		*minute = (struct minute){ .number = number };
	minute->calls++;
	minute->failed += failed;
	minute->buckets[bucket_of(took_us)]++;
	pthread_mutex_unlock(&pace->mutex);
}

/* The time that this many of a minute's operations did not exceed. */
static int64_t quantile(const struct minute *minute, uint64_t count)
{
	uint64_t seen = 0;
	size_t at = 0;

	while (at < BUCKETS && (seen += minute->buckets[at]) < count)
		at++;
	return end_of(at);
}

void mr_pace_read(struct mr_pace *pace, int64_t now_us, struct mr_pace_minute out[MR_PACE_MINUTES])
{
	int64_t first = now_us / MINUTE_US - MR_PACE_MINUTES + 1;

	for (int64_t i = 0; i < MR_PACE_MINUTES; i++)
		out[i] = (struct mr_pace_minute){ .begun_us = (first + i) * MINUTE_US };
	if (!pace)
		return;
	pthread_mutex_lock(&pace->mutex);
	for (int64_t i = 0; i < MR_PACE_MINUTES; i++) {
		const struct minute *minute = minute_at(pace, first + i);

		if (minute->number != first + i || !minute->calls)
			continue;
		out[i].calls = minute->calls;
		out[i].failed = minute->failed;
		out[i].median_us = quantile(minute, (minute->calls + 1) / 2);
		out[i].most_us = quantile(minute, ((uint64_t)minute->calls * 19 + 19) / 20);
	}
	pthread_mutex_unlock(&pace->mutex);
}
