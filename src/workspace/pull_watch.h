/*
 * workspace/pull_watch.h - mail is pulled as it arrives, until a signal ends it.
 *
 * The first mailbox is watched by IDLE, where the server has it; else, and for the other mailboxes,
 * the server is asked now and then. A connection that breaks is made anew, after a pause that
 * grows.
 */
#pragma once

#include "workspace/pull.h"

struct mr_work_watch {
	const char *root; /* of the workspace */
	int stop_fd;      /* it becomes readable when it is time to end */
	/* What happened: "watching" whenever everything is taken in, "pulled" with a result, and
	 * "waiting" with the failure that it waits after. */
	void (*tell)(void *arg, const char *event, const struct mr_work_pulled *result,
		const struct mr_err *err);
	void *arg;
};

/* Ends well when it is stopped. A failure that a pause does not mend ends it, too. `*result` counts
 * what all pulls took in. */
MR_CHECK enum mr_code mr_work_pull_watch(struct mr_ctx *cx, const struct mr_work_watch *watch,
	const struct mr_work_pull *request, struct mr_work_pulled *result);
