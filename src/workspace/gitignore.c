/* workspace/gitignore.c - writes the managed block of a .gitignore. */
#include "workspace/gitignore.h"

#include "base/buf.h"
#include "base/fs.h"
#include "workspace/error.h"
#include "workspace/frame.h"
#include "workspace/managed_block.h"
#include "workspace/skill_agent.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The raw messages, .afmail/messages/, are evidence and never ignored. */
static const char *const entries[] = {
	".afmail/push/",
	".afmail/logs/",
	".afmail/requests/",
	".afmail/transactions/",
	".afmail/workspace.lock",
	".afmail/workspace.progress.json",
	".afmail/index.sqlite*",
	".afmail/incoming/",
	"messages/*.json",
	"triage/*.md",
	"spam/*.md",
	"trash/*.md",
	"deleted/*.md",
	"cases/*/*/case.md",
	"cases/*/*/views/**/*.md",
	"archive/cases/*/case.md",
	"archive/cases/*/views/**/*.md",
	"archive/notifications/*/archive.md",
	"archive/notifications/*/views/**/*.md",
};

/* A link to a file beside it, as people make from AGENTS.md to another agent's file, stays one:
 * that file is written. */
static enum mr_code follow_link(struct mr_ctx *cx, int dir, const char *path, const char **out)
{
	char target[NAME_MAX + 2];
	ssize_t len = readlinkat(dir, path, target, sizeof(target));

	*out = path;
	if (len <= 0)
		return MR_OK;
	if ((size_t)len == sizeof(target) || memchr(target, '/', (size_t)len))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"%s is a link to another directory and is not written", path);
	*out = mr_arena_strndup(cx->arena, target, (size_t)len);
	return MR_OK;
}

struct mr_work_planned mr_work_plan(const char *path, struct mr_bytes old, struct mr_bytes bytes)
{
	struct mr_work_planned plan = { .path = path, .bytes = bytes };

	plan.is_created = !old.data;
	plan.is_updated =
		old.data && (old.len != bytes.len || memcmp(old.data, bytes.data, bytes.len) != 0);
	return plan;
}

enum mr_code mr_work_plan_carry_out(struct mr_ctx *cx, int dir, const struct mr_work_planned *plan)
{
	const char *path;
	enum mr_code rc;

	if (!plan->is_created && !plan->is_updated)
		return MR_OK;
	rc = follow_link(cx, dir, plan->path, &path);
	if (!rc && mr_fs_write(dir, path, plan->bytes, MR_FS_REPLACE, 0644, &cx->err))
		return mr_work_store_error(cx);
	return rc;
}

enum mr_code mr_work_plan_read(struct mr_ctx *cx, int dir, const char *path, struct mr_bytes *out)
{
	struct mr_err err = { 0 };
	const char *target;
	enum mr_code rc = follow_link(cx, dir, path, &target);

	if (rc)
		return rc;
	rc = mr_fs_read(cx->arena, dir, path, MR_WORK_DOCUMENT_BYTES, out, &err);
	if (rc == MR_ENOTFOUND) {
		*out = (struct mr_bytes){ 0 };
		return MR_OK;
	}
	if (!rc)
		return MR_OK;
	cx->err = err;
	return mr_work_store_error(cx);
}

static struct mr_bytes block_of(struct mr_ctx *cx, int dir, bool is_workspace, const char *agent)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_WORK_DOCUMENT_BYTES);
	mr_buf_printf(&buf, "%s\n", mr_work_gitignore_markers.begin);
	for (const struct mr_work_agent *one = mr_work_agents; one->name; one++) {
		const char *path =
			mr_arena_printf(cx->arena, "%s/%s", one->workspace_dir, MR_WORK_SKILL);

		if (mr_work_agent_is(one, agent) || mr_fs_exists(dir, path))
			mr_buf_printf(&buf, "%s/\n", path);
	}
	for (size_t i = 0; is_workspace && i < MR_LEN(entries); i++)
		mr_buf_printf(&buf, "%s\n", entries[i]);
	mr_buf_printf(&buf, "%s\n", mr_work_gitignore_markers.end);
	return mr_bytes_of(mr_arena_memdup(cx->arena, mr_buf_text(&buf), buf.len), buf.len);
}

enum mr_code mr_work_gitignore_plan(struct mr_ctx *cx, int dir, bool is_workspace,
	const char *agent, struct mr_work_planned *out)
{
	struct mr_bytes old = { 0 }, merged = { 0 };
	enum mr_code rc = mr_work_plan_read(cx, dir, MR_WORK_GITIGNORE, &old);

	if (!rc)
		rc = mr_work_block_merge(cx, MR_WORK_GITIGNORE, &mr_work_gitignore_markers, old,
			block_of(cx, dir, is_workspace, agent), &merged);
	if (!rc)
		*out = mr_work_plan(MR_WORK_GITIGNORE, old, merged);
	return rc;
}

bool mr_work_gitignore_is_managed(struct mr_ctx *cx, int dir)
{
	struct mr_err ignored = { 0 };
	struct mr_bytes file = { 0 };

	return !mr_fs_read(cx->arena, dir, MR_WORK_GITIGNORE, MR_WORK_DOCUMENT_BYTES, &file,
		       &ignored) &&
		mr_work_block_body(cx->arena, &mr_work_gitignore_markers, file);
}
