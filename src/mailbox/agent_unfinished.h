/*
 * mailbox/agent_unfinished.h - sessions that are being made: told from whole ones, and removed when
 * their process died.
 *
 * A session has a mark from its first file to its record. The process that makes it holds the
 * kernel's lock on the mark, so one that nobody holds was left by a dead process.
 */
#pragma once

#include "base/ctx.h"

/*
 * Make the directory `session` with a mark, which says where the agent's record will be. `*out_fd`
 * holds its lock until it is closed.
 */
MR_CHECK enum mr_code mr_mailbox_unfinished_begin(struct mr_ctx *cx, const char *session,
	const char *record, int *out_fd);
/* The record is there. */
void mr_mailbox_unfinished_end(struct mr_ctx *cx, const char *session);
/*
 * Remove what dead processes left in `directory`, where sessions are whose names begin with
 * `prefix`. What cannot be removed stays for the next time.
 */
void mr_mailbox_unfinished_sweep(struct mr_ctx *cx, const char *directory, const char *prefix);
