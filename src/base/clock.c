/* base/clock.c - The system clock and a fixed clock for tests, behind one interface. */
#include "base/clock.h"

#include "base/crash.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t system_wall(const struct mr_clock *clock)
{
	(void)clock;
	return read_clock(CLOCK_REALTIME) + mr_crash_clock_skew_us();
}

static int64_t system_mono(const struct mr_clock *clock)
{
	(void)clock;
	return read_clock(CLOCK_MONOTONIC);
}

const struct mr_clock *mr_clock_system(void)
{
	static const struct mr_clock system_clock = { system_wall, system_mono };

	return &system_clock;
}

static int64_t fixed_now(const struct mr_clock *clock)
{
	return ((const struct mr_clock_fixed *)clock)->now_us;
}

void mr_clock_fixed_init(struct mr_clock_fixed *fixed, int64_t now_us)
{
	*fixed = (struct mr_clock_fixed){ .clock = { fixed_now, fixed_now }, .now_us = now_us };
}

int64_t mr_clock_wall_us(const struct mr_clock *clock)
{
	return clock->wall_us(clock);
}

int64_t mr_clock_mono_us(const struct mr_clock *clock)
{
	return clock->mono_us(clock);
}

int64_t mr_clock_mono_ms(const struct mr_clock *clock)
{
	return clock->mono_us(clock) / 1000;
}
