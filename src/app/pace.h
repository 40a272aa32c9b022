/*
 * app/pace.h - how many operations this process ran in each of the last sixty minutes, and how
 * long they took.
 *
 * Safe from any thread. A time is known to a quarter of its power of two, 19 per cent at most too
 * high. Memory does not grow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MR_PACE_MINUTES = 60 };

struct mr_pace;

struct mr_pace *mr_pace_new(void);
/* For MR_CLEANUP. */
void mr_pace_freep(struct mr_pace **pace);

/* An operation that ended at `now_us` (of the wall clock). Without a `pace` nothing happens. */
void mr_pace_add(struct mr_pace *pace, int64_t now_us, int64_t took_us, bool failed);

struct mr_pace_minute {
	int64_t begun_us;
	int64_t calls, failed;
	int64_t median_us, most_us; /* half of them took no longer; of twenty nineteen did not */
};
/* The sixty minutes up to now, the oldest first; the last is not over yet. */
void mr_pace_read(struct mr_pace *pace, int64_t now_us, struct mr_pace_minute out[MR_PACE_MINUTES]);
