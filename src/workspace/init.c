/* workspace/init.c - makes the tree, the configuration and the managed blocks of a workspace. */
#include "workspace/init.h"

#include "base/crash.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "text/time.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/gitignore.h"
#include "workspace/init_text.h"
#include "workspace/layout.h"
#include "workspace/managed_block.h"
#include "workspace/offset.h"
#include "workspace/skill.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define AGENTS_FILE "AGENTS.md"

static const char *const tree[] = {
	MR_WORK_EVIDENCE,
	MR_WORK_PUSH,
	MR_WORK_LOG_DIR,
	MR_WORK_TRANSACTIONS,
	MR_WORK_TEMPLATES,
	MR_WORK_RECORDS,
	MR_WORK_TRIAGE,
	MR_WORK_CASES,
	MR_WORK_ARCHIVED_CASES,
	MR_WORK_CATEGORIES,
};

/* An init on its way. */
struct task {
	struct mr_ctx *cx;
	const struct mr_work_init *request;
	int root;             /* the agents' root */
	int dir;              /* the workspace, once it is there */
	const char *path;     /* from the root: "." or "a/b" */
	struct mr_work *work; /* NULL when there is no workspace yet */
	const struct mr_work_config *config;
	struct mr_work_planned agents, agent_gitignore, gitignore;
	struct mr_work_initialized *result;
};

/* --- where --- */

static enum mr_code refuse_path(struct task *task, const char *why)
{
	(void)mr_work_refuse(task->cx, MR_WORK_INVALID_REQUEST, "the path '%s' %s",
		task->request->path, why);
	return mr_work_hint(task->cx,
		"Name a directory below the present one, or change into it first.");
}

/* Each directory on the way that is there already must be one, and no link to another. */
static enum mr_code check_on_the_way(struct task *task)
{
	const char *path = task->path;

	for (const char *slash = path; slash;) {
		struct stat st;
		const char *part;

		slash = strchr(slash + 1, '/');
		part = slash ? mr_arena_strndup(task->cx->arena, path, (size_t)(slash - path))
			     : path;
		if (fstatat(task->root, part, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return MR_OK;
		if (!S_ISDIR(st.st_mode))
			return refuse_path(task,
				mr_arena_printf(task->cx->arena,
					"cannot be used: %s is not a directory", part));
	}
	return MR_OK;
}

static enum mr_code find_path(struct task *task)
{
	struct mr_arena *arena = task->cx->arena;
	const char *given = task->request->path ? task->request->path : ".";
	struct mr_texts parts = mr_str_split(arena, given, '/'), kept = { 0 };

	if (given[0] == '/')
		return refuse_path(task, "is absolute");
	for (const char *c = given; *c; c++)
		if (iscntrl((unsigned char)*c))
			return refuse_path(task, "has control characters");
	if (!*given || !mr_utf8_is_valid(given, strlen(given), NULL))
		return refuse_path(task, "is empty or not UTF-8");
	kept.items = mr_arena_array(arena, parts.len + 1, sizeof(*kept.items));
	for (size_t i = 0; i < parts.len; i++) {
		if (mr_str_eq(parts.items[i], ".."))
			return refuse_path(task, "leaves the present directory");
		if (!mr_str_eq(parts.items[i], "."))
			kept.items[kept.len++] = parts.items[i];
	}
	task->path = kept.len ? mr_str_join(arena, &kept, "/") : ".";
	return kept.len ? check_on_the_way(task) : MR_OK;
}

static bool is_root(const struct task *task)
{
	return mr_str_eq(task->path, ".");
}

static const char *below(const struct task *task, const char *name)
{
	return is_root(task) ? name : mr_work_join(task->cx->arena, task->path, name);
}

/* What would be taken for a part of the workspace must not be there before it. */
static enum mr_code check_reserved(struct task *task)
{
	static const char *const reserved[] = { "triage", "cases", "archive", "messages",
		"templates", "spam", "trash", "deleted" };
	struct mr_texts found = { 0 };

	found.items = mr_arena_array(task->cx->arena, MR_LEN(reserved) + 1, sizeof(*found.items));
	for (size_t i = 0; i < MR_LEN(reserved); i++)
		if (mr_fs_exists(task->root, below(task, reserved[i])))
			found.items[found.len++] =
				mr_arena_printf(task->cx->arena, "%s/", reserved[i]);
	if (!found.len)
		return MR_OK;
	(void)mr_work_refuse(task->cx, MR_WORK_INVALID_REQUEST,
		"%s is not a workspace, but has names that one needs: %s",
		is_root(task) ? "the present directory" : task->path,
		mr_str_join(task->cx->arena, &found, ", "));
	(void)mr_work_hint(task->cx, "Choose an empty directory: `afmail init PATH`.");
	return mr_work_detail_texts(task->cx, "reserved_paths", &found);
}

/* --- what is there --- */

/* The lock file is made by the first command after init, so init takes a lock only if it is
 * there. */
static enum mr_code open_workspace(struct task *task)
{
	const char *root = task->result->workspace_path;
	bool has_lock = mr_fs_exists(task->root, below(task, MR_WORK_LOCK));
	bool has_config = mr_fs_exists(task->root, below(task, MR_WORK_CONFIG));
	enum mr_code rc = mr_work_open(task->cx, root, has_lock ? MR_WORK_WRITE : MR_WORK_UNLOCKED,
		&task->work);

	if (!rc && has_config)
		rc = mr_work_config_get(task->cx, task->work, &task->config);
	return rc;
}

static enum mr_code read_config(struct task *task)
{
	struct mr_ctx *cx = task->cx;
	struct mr_work_config *fresh;
	enum mr_code rc = MR_OK;

	if (mr_fs_exists(task->root, below(task, MR_WORK_STATE)))
		rc = open_workspace(task);
	else
		rc = check_reserved(task);
	if (rc || task->config)
		return rc;
	rc = mr_work_config_read(cx,
		mr_work_config_default(cx, mr_work_offset_of_host(mr_clock_wall_us(cx->clock))),
		&fresh);
	task->config = fresh;
	return rc;
}

/* --- what shall be --- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_workspace_ref(const struct task *task, const char *ref)
{
	size_t len = strlen(ref);

	if (mr_str_eq(ref, "."))
		return mr_fs_exists(task->root, MR_WORK_STATE);
	return len > 1 && ref[0] != '/' && ref[len - 1] == '/' && !strstr(ref, "..") &&
		mr_fs_exists(task->root,
			mr_arena_printf(task->cx->arena, "%s%s", ref, MR_WORK_STATE));
}

/* Take a ref that the managed block names, once, if there is still a workspace. */
static void keep_ref(const struct task *task, const char *ref, struct mr_texts *refs)
{
	if (is_workspace_ref(task, ref) && !mr_texts_has(refs, ref))
		refs->items[refs->len++] = ref;
}

/* A line of the block names workspaces in backticks, or is an item of a list that is one. */
static void keep_refs(const struct task *task, const char *line, struct mr_texts *refs)
{
	struct mr_arena *arena = task->cx->arena;
	const char *open = strchr(line, '`');
	const char *end;

	if (mr_str_starts(line, "- "))
		keep_ref(task, mr_str_trim(arena, line + 2), refs);
	while (open && (end = strchr(open + 1, '`'))) {
		keep_ref(task, mr_arena_strndup(arena, open + 1, (size_t)(end - open - 1)), refs);
		open = strchr(end + 1, '`');
	}
}

/* The workspaces that AGENTS.md names and that are still there, and this one. The agents' root is
 * one when it has a workspace, whatever the block calls it. */
static void list_workspaces(struct task *task, struct mr_bytes old)
{
	struct mr_arena *arena = task->cx->arena;
	const char *body = mr_work_block_body(arena, &mr_work_agents_markers, old);
	struct mr_texts lines = mr_str_split(arena, body ? body : "", '\n'), refs = { 0 };
	size_t most = 4; /* this one, the root, the last line, and the end */

	for (const char *c = body ? body : ""; *c; c++)
		most += *c == '\n' || *c == '`';
	refs.items = mr_arena_array(arena, most, sizeof(*refs.items));
	refs.items[refs.len++] = task->result->workspace_ref;
	if (body)
		keep_ref(task, ".", &refs);
	for (size_t i = 0; i < lines.len; i++)
		keep_refs(task, lines.items[i], &refs);
	qsort(refs.items, refs.len, sizeof(*refs.items), compare);
	task->result->workspace_paths = refs;
}

static const char *skill_agent(const struct task *task)
{
	const char *agent = task->request->agent ? task->request->agent : "codex";

	return mr_str_eq(agent, "none") ? NULL : agent;
}

/* Is there such an agent? To be known before anything is written. */
static enum mr_code check_agent(struct task *task)
{
	const char *agent = skill_agent(task);

	for (const struct mr_work_agent *one = mr_work_agents; agent && one->name; one++)
		if (mr_work_agent_is(one, agent))
			return MR_OK;
	return agent ? mr_work_refuse(task->cx, MR_WORK_INVALID_REQUEST,
			       "the agent must be none, all, codex, claude-code, opencode or "
			       "hermes, not '%s'",
			       agent)
		     : MR_OK;
}

static enum mr_code plan_root(struct task *task)
{
	struct mr_bytes old = { 0 }, fresh = { 0 }, merged = { 0 };
	enum mr_code rc = mr_work_plan_read(task->cx, task->root, AGENTS_FILE, &old);

	if (rc)
		return rc;
	list_workspaces(task, old);
	rc = mr_work_init_agents(task->cx, task->work, task->config, &task->result->workspace_paths,
		&fresh);
	if (!rc)
		rc = mr_work_block_merge(task->cx, AGENTS_FILE, &mr_work_agents_markers, old, fresh,
			&merged);
	if (rc)
		return rc;
	task->agents = mr_work_plan(AGENTS_FILE, old, merged);
	return mr_work_gitignore_plan(task->cx, task->root,
		is_root(task) || mr_fs_exists(task->root, MR_WORK_STATE), skill_agent(task),
		&task->agent_gitignore);
}

static enum mr_code plan_workspace(struct task *task)
{
	if (!is_root(task) && mr_fs_make_dirs(task->root, task->path, 0755, &task->cx->err))
		return mr_work_store_error(task->cx);
	if (mr_fs_open_dir(task->root, task->path, &task->dir, &task->cx->err))
		return mr_work_store_error(task->cx);
	if (is_root(task)) {
		task->gitignore = task->agent_gitignore;
		return MR_OK;
	}
	return mr_work_gitignore_plan(task->cx, task->dir, true, NULL, &task->gitignore);
}

/* --- carrying it out --- */

static enum mr_code write_missing(struct task *task, const char *path, struct mr_bytes bytes,
	bool *out_created)
{
	*out_created = !mr_fs_exists(task->dir, path);
	if (*out_created &&
		mr_fs_write(task->dir, path, bytes, MR_FS_REPLACE, 0644, &task->cx->err))
		return mr_work_store_error(task->cx);
	mr_crash_point("work.init.step");
	return MR_OK;
}

static enum mr_code make_tree(struct task *task)
{
	struct mr_bytes sentinel = { 0 };
	bool ignored;
	enum mr_code rc;

	for (size_t i = 0; i < MR_LEN(tree); i++) {
		if (mr_fs_make_dirs(task->dir, tree[i], 0755, &task->cx->err))
			return mr_work_store_error(task->cx);
		mr_crash_point("work.init.step");
	}
	rc = mr_work_init_sentinel(task->cx, task->work, task->config, &sentinel);
	if (!rc)
		rc = write_missing(task, MR_WORK_SENTINEL, sentinel,
			&task->result->do_not_edit_created);
	if (!rc)
		rc = write_missing(task, MR_WORK_LOG, mr_bytes_text(""), &ignored);
	if (!rc)
		rc = write_missing(task, MR_WORK_CONFIG,
			mr_work_pretty(task->cx, task->config->document), &ignored);
	return rc;
}

/* A skill that the user wrote or changed stays as it is. */
static enum mr_code install_skill(struct task *task)
{
	const struct mr_work_skill_request request = { .agent = skill_agent(task),
		.scope = "workspace",
		.around = task->request->around };
	struct mr_work_skill_installed installed;
	struct mr_work_skill_status status;
	enum mr_code rc;

	if (!request.agent)
		return MR_OK;
	rc = mr_work_skill_status(task->cx, &request, &status);
	if (rc)
		return rc;
	for (const struct mr_work_agent *agent = mr_work_agents; agent->name; agent++)
		if (mr_str_eq(agent->name, status.targets[0].agent))
			task->result->workspace_skill_path =
				mr_arena_printf(task->cx->arena, "%s/%s/%s", agent->workspace_dir,
					MR_WORK_SKILL, MR_WORK_SKILL_FILE);
	for (size_t i = 0; i < status.target_count; i++)
		if (status.targets[i].installed && !status.targets[i].managed)
			return MR_OK;
	rc = mr_work_skill_install(task->cx, &request, &installed);
	task->result->workspace_skill_installed = rc == MR_OK;
	return rc;
}

static enum mr_code carry_out(struct task *task)
{
	enum mr_code rc = make_tree(task);

	if (!rc && !is_root(task))
		rc = mr_work_plan_carry_out(task->cx, task->dir, &task->gitignore);
	if (!rc)
		rc = mr_work_plan_carry_out(task->cx, task->root, &task->agent_gitignore);
	mr_crash_point("work.init.step");
	if (!rc)
		rc = install_skill(task);
	mr_crash_point("work.init.step");
	if (!rc)
		rc = mr_work_plan_carry_out(task->cx, task->root, &task->agents);
	mr_crash_point("work.init.step");
	return rc;
}

/* --- the result --- */

static void list_steps(struct task *task)
{
	static const char *const steps[] = {
		"Connect it with your mail account: `afmail setup ADDRESS`",
		"Take mail in from the server: `afmail pull`",
		"Or work without a server: `afmail config set identities.me.email ADDRESS`",
		"and take mail in from files: `afmail import FILE.eml|MAILDIR|MBOX`",
	};
	struct mr_texts *next = &task->result->next_steps;

	next->items = mr_arena_array(task->cx->arena, MR_LEN(steps) + 2, sizeof(*next->items));
	if (!is_root(task))
		next->items[next->len++] = mr_arena_printf(task->cx->arena,
			"Change into the workspace: `cd %s`", task->path);
	for (size_t i = 0; i < MR_LEN(steps); i++)
		next->items[next->len++] = steps[i];
}

static void report(struct task *task)
{
	struct mr_work_initialized *result = task->result;
	const struct mr_work_config *config = task->config;
	struct mr_arena *arena = task->cx->arena;

	result->created_rfc3339 =
		mr_time_format(arena, mr_clock_wall_us(task->cx->clock), MR_TIME_SECONDS);
	result->gitignore_path = result->workspace_gitignore_path = MR_WORK_GITIGNORE;
	result->gitignore_created = result->workspace_gitignore_created =
		task->gitignore.is_created;
	result->gitignore_updated = result->workspace_gitignore_updated =
		task->gitignore.is_updated;
	result->agent_gitignore_path = MR_WORK_GITIGNORE;
	result->agent_gitignore_created = task->agent_gitignore.is_created;
	result->agent_gitignore_updated = task->agent_gitignore.is_updated;
	result->agent_skill_path = AGENTS_FILE;
	result->agent_skill_created = task->agents.is_created;
	result->agent_skill_updated = task->agents.is_updated;
	result->do_not_edit_path = MR_WORK_SENTINEL;
	result->do_not_edit_updated = result->do_not_edit_created;
	result->language_bcp47 = config->language_bcp47;
	result->resolved_language_bcp47 = config->language_bcp47
		? config->language_bcp47
		: mr_work_language_names[MR_WORK_EN_US];
	result->timezone_utc_offset = mr_work_offset_text(arena, config->offset_minutes);
	list_steps(task);
}

static enum mr_code run(struct task *task)
{
	const char *directory = task->request->around.directory;
	enum mr_code rc;

	if (mr_fs_open_dir(AT_FDCWD, directory, &task->root, &task->cx->err))
		return mr_work_store_error(task->cx);
	rc = check_agent(task);
	if (!rc)
		rc = find_path(task);
	if (rc)
		return rc;
	task->result->agent_root_path = directory;
	task->result->workspace_path =
		is_root(task) ? directory : mr_work_join(task->cx->arena, directory, task->path);
	task->result->workspace_ref =
		is_root(task) ? "." : mr_arena_printf(task->cx->arena, "%s/", task->path);
	rc = read_config(task);
	if (!rc)
		rc = plan_root(task);
	if (!rc)
		rc = plan_workspace(task);
	if (!rc)
		rc = carry_out(task);
	if (!rc)
		report(task);
	return rc;
}

enum mr_code mr_work_init(struct mr_ctx *cx, const struct mr_work_init *request,
	struct mr_work_initialized *result)
{
	struct mr_work_initialized done = { 0 };
	struct task task = { .cx = cx, .request = request, .root = -1, .dir = -1, .result = &done };
	enum mr_code rc = run(&task);

	mr_work_close(task.work);
	mr_fs_closep(&task.dir);
	mr_fs_closep(&task.root);
	if (!rc)
		*result = done;
	return rc;
}
