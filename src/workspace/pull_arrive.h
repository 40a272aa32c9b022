/*
 * workspace/pull_arrive.h - mail that arrives while a watch waits is taken in at once.
 *
 * What this needs is made ready before the wait: the workspace is open, its index is up to date,
 * and it rests. When the server tells that mail came, the mails from the first number on that was
 * not known are asked for, in the mailbox that the session has open, and taken in. The pull that
 * follows finds them known and settles everything else, so whatever fails here is left to it.
 */
#pragma once

#include "workspace/pull.h"

struct mr_work_ready;

/* `mailbox_name` is the mailbox that the last pull left open. `*out` is NULL when there is nothing
 * to be made ready: the pull has limits, or another command works. */
void mr_work_ready_open(struct mr_ctx *cx, const char *root, const struct mr_work_pull *request,
	const char *mailbox_id, const char *mailbox_name, struct mr_work_ready **out);
void mr_work_ready_closep(struct mr_work_ready **ready);
/* Mail came, and the session may still be leaving IDLE. What was taken in is added to `counts`; a
 * session that broke is closed. */
void mr_work_ready_take(struct mr_work_ready *ready, struct mr_imap **session,
	struct mr_work_pulled *counts);
