/*
 * base/keeper.h - a process that outlives this one and cleans up should it die without doing so.
 *
 * For files that other programs take for a sign of life: a process that is killed cannot remove
 * them. The keeper is a fork that has given back everything but one directory. It waits until this
 * process says that nothing is left to clean, or has died.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct mr_keeper {
	pid_t pid; /* 0 when there is none */
	int fd;    /* closed by our death */
};

/*
 * Start one, unless it runs. Should this process die, `clean` is called in the keeper with its own
 * descriptor of `dir`. The process may have had threads, so `clean` may only make system calls. A
 * keeper that cannot be started is no failure: then nobody cleans up.
 */
void mr_keeper_start(struct mr_keeper *keeper, int dir, void (*clean)(int dir));
/* Nothing is left to clean: end it. None is fine. */
void mr_keeper_stop(struct mr_keeper *keeper);

/*
 * The keepers of a process that lives long, one for each directory: starting one costs a fork, too
 * much for each request. For any thread. When many directories have one already, no more are
 * started.
 */
struct mr_keepers;
struct mr_keepers *mr_keepers_new(void);
/* False when there is none for this directory, and none was started. */
bool mr_keepers_start(struct mr_keepers *keepers, int dir, void (*clean)(int dir));
/* Ends all. NULL is fine. */
void mr_keepers_free(struct mr_keepers *keepers);
