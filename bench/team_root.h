/*
 * bench/team_root.h - a team's storage to measure on: sixteen agents of one project, threads that
 * send, and a past of any length. Whatever fails ends the program.
 */
#pragma once

#include "team/store/root.h"

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_AGENTS = 16, BENCH_SENDERS = 64, BENCH_SENDS_EACH = 40, BENCH_BODY_BYTES = 1024 };

#define BENCH_PROJECT  "/path/to/bench"
#define BENCH_START_US (INT64_C(1735689600) * 1000000) /* 2025-01-01 */

struct bench_root {
	char path[300];
	struct mr_clock_fixed clock;
	bool still; /* time is moved by us */
	struct mr_team *team;
};

_Noreturn void bench_die(const char *what, const char *why);

/* Its arena is the caller's to free. */
struct mr_ctx bench_context(struct bench_root *root);
void bench_must(enum mr_code rc, const struct mr_ctx *cx, const char *what);

/* By its number: they repeat after BENCH_AGENTS. */
const char *bench_agent(size_t i);

/* What every message says: BENCH_BODY_BYTES of words and lines, in ASCII without quotes. */
const char *bench_body(void);

void bench_root_open(struct bench_root *root, const char *dir, const char *name, bool still);
/* The same with its database elsewhere: at a path or URL. */
void bench_root_open_at(struct bench_root *root, const char *dir, const char *name,
	const char *database, bool still);
/* The directory goes, too. */
void bench_root_close(struct bench_root *root);

void bench_send_one(struct bench_root *root, struct mr_ctx *cx, size_t number);

/*
 * Seconds that `threads` senders (BENCH_SENDERS at most) need for `count` messages each, `gap_s`
 * apart (0: at once). `waits`, or NULL, gets what each single one took.
 */
double bench_send_many(struct bench_root *root, size_t threads, size_t count, double gap_s,
	double *waits);

/* `count` messages made directly, in the search index too where `indexed`. */
void bench_fill(struct bench_root *root, size_t count, bool indexed);

/* A directory for a program's roots, in $TMPDIR or /var/tmp: a real disk, please. */
void bench_dir_make(char *out, size_t size, const char *name);

int bench_by_value(const void *a, const void *b);
/* Puts them in order. */
double bench_median(double *values, size_t count);
