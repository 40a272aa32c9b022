/* op/call.h - one operation being run: the request it serves and the program it runs in. */
#pragma once

#include "base/ctx.h"

#include <stdbool.h>
#include <stdint.h>

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
};

struct mr_call {
	struct mr_ctx cx; /* what the parts get to see */
	const struct mr_app *app;
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
