/*
 * base/ctx.h - what rides along with a request through the parts: memory, the error, time, chance.
 *
 * Functions of the parts take `struct mr_ctx *cx` first, return enum mr_code, and leave the reason
 * of a failure in cx->err. Used by one thread at a time.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"

#include <stdbool.h>
#include <stddef.h>

struct mr_reach;

struct mr_ctx {
	struct mr_arena *arena;
	struct mr_err err;
	const struct mr_clock *clock;
	struct mr_rand *rand;
	/* Told how far long work is, now and then; NULL when nobody watches. */
	void (*progress)(void *arg, const char *what, size_t done, size_t total);
	void *progress_arg;
	/* For who waits long: does nobody want the result any more? To be asked every second or
	 * so; NULL where nobody can tell. */
	bool (*is_over)(void *arg);
	void *is_over_arg;
	/* Told when the thread begins to wait for the disk and when it goes on, so that another can
	 * have its place; NULL where nobody wants it. */
	void (*pause)(void *arg, bool begins);
	void *pause_arg;
	/* Which directories of this machine the caller may name (base/reach.h); NULL: all that
	 * this process can read. */
	const struct mr_reach *reach;
};
