/*
 * team/store/wait.h - the one loop in which anything waits for a change of the team's database.
 *
 * Look, sleep until the kernel reports a change, look again. Mail (team/inbox_wait.h), topics
 * (team/topic.h) and build slots (team/lease/slot.h) are waited for with it, and so, through these,
 * are wait_for_mail, `team watch`, MCP subscriptions and their streams.
 */
#pragma once

#include "team/store/root.h"

/*
 * One look: set `*found` when the wait is over. `cx` is the waiter's, but for its arena and error:
 * these belong to this look and are thrown away before the next one. A look borrows what it reads
 * from and gives it back before it returns, because a waiting thread must not hold a connection.
 */
typedef enum mr_code mr_team_look(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found);

struct mr_team_wait {
	mr_team_look *look;
	void *arg;
	int64_t timeout_ms; /* at most so long; 0: look once; below 0: without end */
	/* Told to cx->progress with the seconds that have passed before each sleep; or NULL. */
	const char *what;
	/* A look that fails is logged as this event, and the wait goes on; NULL: it ends. */
	const char *failed_event;
	/* The code that makes cx->is_over true also calls mr_team_watch_ring(): it need not be
	 * polled every second. */
	bool over_rings;
	/* A look may set it: when to look again though nothing has changed; 0: some seconds. */
	int64_t again_ms;
};

/*
 * Look until something is found, the time is over, or cx->is_over says that the client has gone,
 * which is checked after each look. `*found` says whether something was. What the last look
 * allocated lives as long as cx->arena; all before it is freed, however often the database changes.
 * Nothing that changes after the call began is missed. From any thread.
 */
MR_CHECK enum mr_code mr_team_wait(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_wait *wait, bool *found);
