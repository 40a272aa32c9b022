/* op/ctx.h - what a running operation may use: the request it serves and the program it runs in. */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"

#include <stdbool.h>

struct mr_metrics;
struct mr_op_table;
struct mr_settings;

/* The program: made at start, only read afterwards. */
struct mr_app {
	const struct mr_op_table *table;
	const struct mr_settings *settings;
	struct mr_metrics *metrics; /* guards itself */
	const struct mr_clock *clock;
	struct mr_rand *rand; /* the kernel's: safe from any thread */
	int64_t started_us;   /* on the clock's mono face */
};

/* One request, on one thread. */
struct mr_ctx {
	const struct mr_app *app;
	struct mr_arena *arena;
	struct mr_err err;
	const char *request_id; /* or NULL */
	bool may_write;         /* what MR_NEED_WRITE asks for */
	/*
	 * What MR_NEED_CONFIRM asks for: a person's yes, given before (`confirmed`) or now
	 * (`confirm`, which may be NULL where nobody can be asked). `question` says what will
	 * happen.
	 */
	bool confirmed;
	bool (*confirm)(void *arg, const char *question);
	void *confirm_arg;
};
