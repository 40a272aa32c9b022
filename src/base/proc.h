/* base/proc.h - run another program: no shell, a time limit, bounded output. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct mr_proc {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *const *env;  /* NULL-terminated, or NULL for ours */
	const char *cwd;         /* or NULL for ours */
	struct mr_bytes input;   /* for its standard input; it need not read it */
	int timeout_ms;          /* > 0; then the whole process group is killed */
	size_t max_output;       /* per stream; the rest is read and dropped */
};

/* The bytes live in the arena, followed by a NUL that is not counted. */
struct mr_proc_result {
	int exit_status; /* or -1 when a signal ended it */
	int signal;      /* or 0 */
	bool timed_out;  /* before it had ended and everyone had closed its output */
	bool truncated;  /* a stream was longer than max_output */
	struct mr_bytes out;
	struct mr_bytes err;
};

/*
 * Run it in a process group of its own, with no descriptors but the standard three, and wait until
 * it has ended and its output is closed. Not being able to start is an error (MR_ENOTFOUND when
 * there is no such program); a bad exit, a signal or a time-out is a result.
 */
MR_CHECK enum mr_code mr_proc_run(struct mr_arena *arena, const struct mr_proc *proc,
	struct mr_proc_result *out, struct mr_err *err);
