/*
 * base/ctx.h - the context of a request: memory, error, clock, random source.
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

struct mr_keepers;
struct mr_reach;
struct mr_shelf;

struct mr_ctx {
	struct mr_arena *arena;
	struct mr_err err;
	const struct mr_clock *clock;
	struct mr_rand *rand;
	/* Called now and then during long work with its progress; NULL when no client shows it. */
	void (*progress)(void *arg, const char *what, size_t done, size_t total);
	void *progress_arg;
	/* For long waits: has the client stopped waiting for the result? To be called about
	 * every second; NULL where that cannot be known. */
	bool (*is_over)(void *arg);
	void *is_over_arg;
	/* Called when the thread begins to wait for the disk and when it goes on, so that
	 * another job can take its place; NULL where that is not needed. */
	void (*pause)(void *arg, bool begins);
	void *pause_arg;
	/* Which directories of this machine the caller may name (base/reach.h); NULL: all that
	 * this process can read. */
	const struct mr_reach *reach;
	/* Called before a database, or what a lock file guards, is read: whose changes change the
	 * result (data/followed.h). NULL where nobody follows them. */
	void (*reads)(void *arg, const char *path, bool is_database);
	void *reads_arg;
	/* Of a process that lives long (base/keeper.h); NULL: a request that needs a keeper starts
	 * its own. */
	struct mr_keepers *keepers;
	/* Where connections are kept until they are needed again (base/shelf.h); NULL: they are
	 * closed. */
	struct mr_shelf *shelf;
};

/* Tell that the file at this path is going to be read. */
static inline void mr_ctx_reads(const struct mr_ctx *cx, const char *path, bool is_database)
{
	if (cx->reads)
		cx->reads(cx->reads_arg, path, is_database);
}
