/*
 * workspace/progress.h - .afmail/workspace.progress.json: how far the last pull or push came.
 *
 * A convenience for those who look on; what happened is in the audit log. Failures to write it are
 * ignored.
 */
#pragma once

#include "workspace/frame.h"

/* The last command with progress, as `status` shows it; {"status": "idle"} without one.
 * progress_invalid when the file holds no object. `is_locked` says that a command is running: a
 * snapshot that says so while nobody holds the lock was interrupted. */
MR_CHECK enum mr_code mr_work_progress_show(struct mr_ctx *cx, struct mr_work *work, bool is_locked,
	const struct mr_value **out);
