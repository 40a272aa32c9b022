/* bench/bench.c */
#include "bench.h"

#include <stdio.h>
#include <time.h>

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void bench_figure(const char *what, double value, const char *unit, const char *yardstick,
	double yardstick_value, enum bench_goal goal, double target)
{
	static const char *const goals[] = { "at least", "at most", "" };

	/* Our own constant texts: nothing here needs escaping. */
	printf("{\"what\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"yardstick\": \"%s\", "
	       "\"yardstick_value\": %.6g, \"ratio\": %.4g, \"goal\": \"%s\", \"target\": %.4g}\n",
		what, value, unit, yardstick, yardstick_value,
		yardstick_value > 0 ? value / yardstick_value : 0.0, goals[goal], target);
	fflush(stdout);
}
