/*
 * bench/bench.h - what a benchmark program says: one line of JSON per figure, each beside a
 * yardstick measured in the same run. script/bench collects the lines.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum bench_goal {
	BENCH_AT_LEAST, /* ratio = value / yardstick must reach the target */
	BENCH_AT_MOST,  /* ratio = value / yardstick must not pass the target */
	BENCH_REPORT,   /* no target */
};

/* Seconds on a clock that never goes back. */
double bench_now(void);

/* The memory of a process that is there. */
double bench_resident_mib(pid_t pid);

/*
 * Away with a directory. With BENCH_KEEP in the environment only its name goes: for half a minute
 * after many files were deleted, some file systems are slow to make new ones, and the next figure
 * would show that.
 */
void bench_dir_remove(const char *dir);

void bench_figure(const char *what, double value, const char *unit, const char *yardstick,
	double yardstick_value, enum bench_goal goal, double target);
