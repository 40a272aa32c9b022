/*
 * workspace/refresh_private.h - whether anything has changed since all projections were last found
 * in order, told by the stamps (time, size and inode) of every file they are made from and of
 * themselves.
 *
 * It costs a stat of every file, and nothing is read: so a whole refresh of a workspace in which
 * nothing happened is quick.
 */
#pragma once

#include "workspace/refresh.h"

/* The result of the last whole refresh, with nothing written or removed; false when something is
 * not as that one left it, or when nobody knows. */
bool mr_work_unchanged(struct mr_ctx *cx, struct mr_work *work, struct mr_work_refreshed *out);
/* A whole refresh has ended with this: remember it in the index. A refresh that had to pass
 * something over is not remembered. */
MR_CHECK enum mr_code mr_work_unchanged_note(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_refreshed *result);
