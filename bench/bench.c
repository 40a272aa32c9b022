/* bench/bench.c */
#include "bench.h"

#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double bench_resident_mib(pid_t pid)
{
	char path[64], line[256] = "";
	const char *resident;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/statm", (long)pid);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f) || !(resident = strchr(line, ' '))) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return (double)strtol(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / (1024 * 1024);
}

void bench_dir_remove(const char *dir)
{
	static unsigned kept;
	char aside[400];
	struct mr_err err;

	snprintf(aside, sizeof(aside), "%s.done-%u", dir, kept++);
	if (getenv("BENCH_KEEP")) {
		if (rename(dir, aside) == 0)
			return;
		perror(dir);
		exit(1);
	}
	if (mr_fs_remove_all(AT_FDCWD, dir, &err)) {
		fprintf(stderr, "%s: %s\n", dir, err.msg);
		exit(1);
	}
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
