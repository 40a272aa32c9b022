/* team/store/watch.h - waiting for a change, woken by the kernel. */
#pragma once

#include "team/store/root.h"

/*
 * Wait until a thread or process has changed the database since the last call, or until
 * `timeout_ms` has passed; woken by the kernel, not by asking. `*changed` says which. One per
 * waiting thread. A writer that dies between its change and telling of it leaves others asleep: who
 * must know looks again after some seconds.
 */
struct mr_team_watch;
/* Any number of threads may wait at once, at the price of one: one of them is woken by the kernel
 * and wakes the others. */
MR_CHECK enum mr_code mr_team_watch_open(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_watch **out);
MR_CHECK enum mr_code mr_team_watch_wait(struct mr_ctx *cx, struct mr_team_watch *watch,
	int timeout_ms, bool *changed);
void mr_team_watch_close(struct mr_team_watch **watch);
/* Wake all who wait, though nothing has changed: for who ends them. From any thread. */
void mr_team_watch_ring(struct mr_team *team);
