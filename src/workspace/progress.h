/*
 * workspace/progress.h - .afmail/workspace.progress.json: how far the last pull or push came.
 *
 * A convenience for those who look on; what happened is in the audit log. Failures to write it are
 * ignored.
 */
#pragma once

#include "workspace/frame.h"

/* A command that tells how far it is. */
struct mr_work_progress {
	struct mr_ctx *cx;
	struct mr_work *work;
	const char *command; /* "pull" or "push" */
	const char *phase;   /* the last one, and its fields: a map, or NULL */
	const struct mr_value *fields;
	int64_t begun_us; /* the clock's mono face */
};
/* It begins, with the phase "start": right after the workspace was locked for writing. */
void mr_work_progress_start(struct mr_ctx *cx, struct mr_work *work, const char *command,
	struct mr_work_progress *out);
/* The next phase, such as "pull_resolve_targets". Its name and fields stay valid until the next. */
void mr_work_progress_phase(struct mr_work_progress *progress, const char *phase,
	const struct mr_value *fields);
/* It succeeded: the snapshot keeps the numbers, flags and texts of its result. */
void mr_work_progress_done(struct mr_work_progress *progress, const struct mr_value *result);
/* It failed, with the error of its context, in the phase that was named last. */
void mr_work_progress_failed(struct mr_work_progress *progress);

/* The last command with progress, as `status` shows it; {"status": "idle"} without one.
 * progress_invalid when the file holds no object. `is_locked` says that a command is running: a
 * snapshot that says so while nobody holds the lock was interrupted. */
MR_CHECK enum mr_code mr_work_progress_show(struct mr_ctx *cx, struct mr_work *work, bool is_locked,
	const struct mr_value **out);
