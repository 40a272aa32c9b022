/* workspace/change_step.c - one step of a change, carried out so that it may be repeated. */
#include "workspace/audit.h"
#include "workspace/change_private.h"
#include "workspace/error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

static enum mr_code drop_dir(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	if (unlinkat(work->dir, path, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
		errno == EEXIST || errno == ENOTDIR)
		return MR_OK;
	return mr_err_os(&cx->err, errno, "cannot remove the directory %s", path);
}

static enum mr_code run(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_step *step)
{
	switch (step->kind) {
	case MR_WORK_STEP_WRITE:
		return rename_to(cx, work, step, MR_FS_REPLACE);
	case MR_WORK_STEP_MOVE:
		return rename_to(cx, work, step, MR_FS_NEW);
	case MR_WORK_STEP_REMOVE:
		return mr_fs_remove_all(work->dir, step->path, &cx->err);
	case MR_WORK_STEP_DROP_DIR:
		return drop_dir(cx, work, step->path);
	case MR_WORK_STEP_MAKE_DIR:
		return mr_fs_make_dirs(work->dir, step->path, 0755, &cx->err);
	case MR_WORK_STEP_EVENT:
		return mr_work_audit_append(cx, work, step->path, step->event);
	case MR_WORK_STEP_COUNT:
		break;
	}
	return mr_err_set(&cx->err, MR_EINTERNAL, "unknown step of a change");
}

enum mr_code mr_work_step_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *step)
{
	return run(cx, work, step) ? mr_work_store_error(cx) : MR_OK;
}
