/* workspace/change_step.c - carries out the steps of a change, so that they may be repeated. */
#include "base/crash.h"
#include "workspace/audit.h"
#include "workspace/change_private.h"
#include "workspace/error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const char *const mr_work_step_names[] = {
	[MR_WORK_STEP_WRITE] = "write",
	[MR_WORK_STEP_MOVE] = "move",
	[MR_WORK_STEP_REMOVE] = "remove",
	[MR_WORK_STEP_DROP_DIR] = "drop_dir",
	[MR_WORK_STEP_MAKE_DIR] = "make_dir",
	[MR_WORK_STEP_EVENT] = "event",
	NULL,
};

/* Is `path` the same as `top`, or below it? */
static bool is_within(const char *path, const char *top)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && (!path[len] || path[len] == '/');
}

static bool overlap(const char *a, const char *b)
{
	return is_within(a, b) || is_within(b, a);
}

/* Would repeating `step` undo or stumble over what `later` did? A write that was done shows that
 * all before it was, because its staged file is gone; so only the others matter. */
static bool is_spoiled_by(const struct mr_work_step *step, const struct mr_work_step *later)
{
	bool creates = later->kind == MR_WORK_STEP_MOVE || later->kind == MR_WORK_STEP_MAKE_DIR;

	switch (step->kind) {
	case MR_WORK_STEP_MOVE:
		return creates && overlap(step->from, later->path);
	case MR_WORK_STEP_REMOVE:
	case MR_WORK_STEP_DROP_DIR:
		return creates && overlap(step->path, later->path);
	case MR_WORK_STEP_MAKE_DIR:
		return later->kind == MR_WORK_STEP_MOVE && is_within(step->path, later->from);
	case MR_WORK_STEP_WRITE:
	case MR_WORK_STEP_EVENT:
	case MR_WORK_STEP_COUNT:
		break;
	}
	return false;
}

void mr_work_steps_mark(struct mr_work_step *first)
{
	for (struct mr_work_step *step = first; step; step = step->next)
		for (const struct mr_work_step *later = step->next; later && !step->mark;
			later = later->next)
			if (is_spoiled_by(step, later))
				step->mark = "";
}

/* Does a step before `end` make something at `path` or above or below it? */
static bool is_made_before(const struct mr_work_step *first, const struct mr_work_step *end,
	const char *path)
{
	for (const struct mr_work_step *step = first; step != end; step = step->next)
		if ((step->kind == MR_WORK_STEP_WRITE || step->kind == MR_WORK_STEP_MOVE ||
			    step->kind == MR_WORK_STEP_MAKE_DIR) &&
			overlap(step->path, path))
			return true;
	return false;
}

/* Does a step before `end` take away what stands at `path`? */
static bool is_gone_before(const struct mr_work_step *first, const struct mr_work_step *end,
	const char *path)
{
	for (const struct mr_work_step *step = first; step != end; step = step->next)
		if ((step->kind == MR_WORK_STEP_MOVE && is_within(path, step->from)) ||
			((step->kind == MR_WORK_STEP_REMOVE ||
				 step->kind == MR_WORK_STEP_DROP_DIR) &&
				is_within(path, step->path)))
			return true;
	return false;
}

enum mr_code mr_work_steps_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *first)
{
	for (const struct mr_work_step *step = first; step; step = step->next) {
		if (step->kind != MR_WORK_STEP_MOVE)
			continue;
		if (!mr_fs_exists(work->dir, step->from) &&
			!is_made_before(first, step, step->from)) {
			mr_err_set(&cx->err, MR_ENOTFOUND, "%s is not there and cannot be moved",
				step->from);
			return mr_work_store_error(cx);
		}
		if (mr_fs_exists(work->dir, step->path) &&
			!is_gone_before(first, step, step->path)) {
			mr_err_set(&cx->err, MR_EEXISTS, "%s cannot be moved to %s, which exists",
				step->from, step->path);
			return mr_work_store_error(cx);
		}
	}
	return MR_OK;
}

static enum mr_code make_parent(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return MR_OK;
	return mr_fs_make_dirs(work->dir, mr_arena_strndup(cx->arena, path, (size_t)(slash - path)),
		0755, &cx->err);
}

static enum mr_code rename_to(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *step, enum mr_fs_write how)
{
	enum mr_code rc;

	if (!mr_fs_exists(work->dir, step->from))
		return MR_OK; /* it was done before */
	rc = make_parent(cx, work, step->path);
	if (!rc)
		rc = mr_fs_rename(work->dir, step->from, work->dir, step->path, how, &cx->err);
	return rc;
}

/* Nobody may find again after a power cut what later steps took for gone. */
static enum mr_code sync_parent(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *parent =
		slash ? mr_arena_strndup(cx->arena, path, (size_t)(slash - path)) : ".";

	return mr_fs_exists(work->dir, parent) ? mr_fs_sync_dir(work->dir, parent, &cx->err)
					       : MR_OK;
}

static enum mr_code drop_dir(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	if (unlinkat(work->dir, path, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
		errno == EEXIST || errno == ENOTDIR)
		return MR_OK;
	return mr_err_os(&cx->err, errno, "cannot remove the directory %s", path);
}

static enum mr_code run(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_step *step)
{
	enum mr_code rc;

	switch (step->kind) {
	case MR_WORK_STEP_WRITE:
		return rename_to(cx, work, step, MR_FS_REPLACE);
	case MR_WORK_STEP_MOVE:
		return rename_to(cx, work, step, MR_FS_NEW);
	case MR_WORK_STEP_REMOVE:
		rc = mr_fs_remove_all(work->dir, step->path, &cx->err);
		return rc ? rc : sync_parent(cx, work, step->path);
	case MR_WORK_STEP_DROP_DIR:
		return drop_dir(cx, work, step->path);
	case MR_WORK_STEP_MAKE_DIR:
		return mr_fs_make_dirs(work->dir, step->path, 0755, &cx->err);
	case MR_WORK_STEP_EVENT:
	case MR_WORK_STEP_COUNT:
		break;
	}
	return mr_err_set(&cx->err, MR_EINTERNAL, "unknown step of a change");
}

static enum mr_code remove_mark(struct mr_ctx *cx, struct mr_work *work, const char *mark)
{
	if (unlinkat(work->dir, mark, 0) != 0 && errno != ENOENT)
		return mr_err_os(&cx->err, errno, "cannot remove %s", mark);
	return sync_parent(cx, work, mark);
}

/* Events that follow each other are appended at once; `*step` becomes the first step after them. */
static enum mr_code run_events(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step **step, int64_t log_bytes)
{
	struct mr_work_audit_line *lines;
	size_t count = 0;

	for (const struct mr_work_step *at = *step; at && at->kind == MR_WORK_STEP_EVENT;
		at = at->next)
		count++;
	lines = mr_arena_array(cx->arena, count, sizeof(*lines));
	for (size_t i = 0; i < count; i++, *step = (*step)->next)
		lines[i] = (struct mr_work_audit_line){ (*step)->path, (*step)->event };
	return mr_work_audit_append(cx, work, lines, count, log_bytes);
}

enum mr_code mr_work_steps_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *first, int64_t log_bytes)
{
	enum mr_code rc = MR_OK;

	for (const struct mr_work_step *step = first; step && !rc;) {
		if (step->kind == MR_WORK_STEP_EVENT) {
			rc = run_events(cx, work, &step, log_bytes);
		} else {
			rc = run(cx, work, step);
			if (!rc && step->mark) {
				mr_crash_point("work.change.unmarked");
				rc = remove_mark(cx, work, step->mark);
			}
			step = step->next;
		}
		mr_crash_point("work.change.step");
	}
	return rc ? mr_work_store_error(cx) : MR_OK;
}
