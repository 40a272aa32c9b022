/* base/clock.h - time, passed in so that tests can hold it still. */
#pragma once

#include <stdint.h>

struct mr_clock {
	int64_t (*wall_us)(const struct mr_clock *clock); /* microseconds since 1970, UTC */
	int64_t (*mono_us)(const struct mr_clock *clock); /* never goes back; for durations */
};

/* The machine's clock. */
const struct mr_clock *mr_clock_system(void);

/* A clock that stands at `now_us` (both faces) until a test moves it. */
struct mr_clock_fixed {
	struct mr_clock clock;
	int64_t now_us;
};
void mr_clock_fixed_init(struct mr_clock_fixed *fixed, int64_t now_us);

int64_t mr_clock_wall_us(const struct mr_clock *clock);
int64_t mr_clock_mono_us(const struct mr_clock *clock);
int64_t mr_clock_mono_ms(const struct mr_clock *clock);
