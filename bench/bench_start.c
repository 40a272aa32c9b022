/*
 * bench/bench_start.c - how long a command takes that does nothing, beside a program that does
 * nothing.
 *
 * usage: bench_start PROGRAM
 */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 301 };

static double run_once(const char *program, const char *argument)
{
	char *argv[] = { (char *)program, (char *)argument, NULL };
	posix_spawn_file_actions_t actions;
	double begun = bench_now();
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, program, &actions, NULL, argv, environ) != 0 ||
		waitpid(pid, &status, 0) != pid || status != 0) {
		perror(program);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&actions);
	return bench_now() - begun;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double ours[RUNS];
	static double bare[RUNS];

	if (argc != 2) {
		fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
		return 2;
	}
	/* In turn, so that a busy moment meets both. */
	for (int i = 0; i < RUNS; i++) {
		bare[i] = run_once("/bin/true", NULL);
		ours[i] = run_once(argv[1], "--version");
	}
	qsort(ours, RUNS, sizeof(*ours), by_value);
	qsort(bare, RUNS, sizeof(*bare), by_value);
	bench_figure("mailroom --version, start to end", ours[RUNS / 2] * 1e3, "ms",
		"/bin/true, ms", bare[RUNS / 2] * 1e3, BENCH_AT_MOST, 12);
	return 0;
}
