/*
 * base/errand.h - a few threads that run functions for many others, which wait meanwhile.
 *
 * A thread that has allocated much keeps a part of it for good, for its own next allocations. Of
 * hundreds of threads that only wait, none should: they let others do what needs the memory.
 */
#pragma once

struct mr_errands;

/* Threads are started as they are needed, up to `most`. */
struct mr_errands *mr_errands_new(unsigned most);
/* Run fn(arg) in one of the threads, and return when it has. Runs it here when no thread can be
 * started. */
void mr_errands_run(struct mr_errands *errands, void (*fn)(void *arg), void *arg);
/* Ends the threads; nobody runs anything any more. NULL is fine. */
void mr_errands_free(struct mr_errands *errands);
