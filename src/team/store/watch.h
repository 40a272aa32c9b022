/* team/store/watch.h - waiting for a change, woken by the kernel. */
#pragma once

#include "team/store/root.h"

/*
 * Wait until a thread or process has changed the database since the last call, or until
 * `timeout_ms` has passed; woken by the kernel, not by asking. `*changed` says which. One per
 * waiting thread. A writer that dies between its commit and its notice wakes nobody: callers that
 * must not miss a change check again after some seconds.
 */
struct mr_team_watch;
/* Any number of threads may wait at once at the cost of one: one of them is woken by the kernel
 * and wakes the others. */
MR_CHECK enum mr_code mr_team_watch_open(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_watch **out);
MR_CHECK enum mr_code mr_team_watch_wait(struct mr_ctx *cx, struct mr_team_watch *watch,
	int timeout_ms, bool *changed);
void mr_team_watch_close(struct mr_team_watch **watch);
/* Wake all waiting threads of this process although nothing has changed, to end them. From any
 * thread. */
void mr_team_watch_ring(struct mr_team *team);
