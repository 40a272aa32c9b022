/* workspace/skill.c - installs the built-in skill for agents, looks at it, and removes it. */
#include "workspace/skill.h"

#include "base/fs.h"
#include "text/skill_file.h"
#include "workspace/error.h"
#include "workspace/gitignore.h"
#include "workspace/layout.h"
#include "workspace/skill_document.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SKILL_BYTES = 1 << 20, AGENTS_MAX = 8 };

static const char personal[] = "personal", in_workspace[] = "workspace";

struct targets {
	struct mr_work_skill_target items[AGENTS_MAX];
	size_t len;
	bool is_workspace; /* the scope */
};

static enum mr_code refuse(struct mr_ctx *cx, const char *hint, const char *message)
{
	(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "%s", message);
	return mr_work_hint(cx, "%s", hint);
}

/* --- which places are meant --- */

static const char *expand(struct mr_arena *arena, const struct mr_work_surroundings *around,
	const char *path)
{
	if (!mr_str_is_empty(around->home) && mr_str_starts(path, "~") &&
		(!path[1] || path[1] == '/'))
		return mr_arena_printf(arena, "%s%s", around->home, path + 1);
	if (path[0] == '/')
		return path;
	return mr_work_join(arena, around->directory, path);
}

static enum mr_code skills_dir_of(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	const struct mr_work_agent *agent, bool is_workspace, const char **out)
{
	if (request->skills_dir)
		*out = expand(cx->arena, &request->around, request->skills_dir);
	else if (is_workspace)
		*out = mr_work_join(cx->arena, request->around.directory, agent->workspace_dir);
	else
		return mr_work_agent_dir(cx, agent, &request->around, out);
	return MR_OK;
}

static enum mr_code check_request(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	const char *agent, const char *scope)
{
	if (!mr_str_eq(scope, personal) && !mr_str_eq(scope, in_workspace))
		return mr_err_set(&cx->err, MR_EINVAL,
			"the scope must be personal or workspace, not '%s'", scope);
	if (request->skills_dir && mr_str_eq(agent, "all"))
		return refuse(cx, "Name the agent with --agent.",
			"--skills-dir is the directory of one agent, so it needs --agent");
	if (request->skills_dir && mr_str_is_empty(request->skills_dir))
		return mr_err_set(&cx->err, MR_EINVAL, "--skills-dir must not be empty");
	return MR_OK;
}

static enum mr_code find_targets(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	struct targets *out)
{
	const char *wanted = request->agent ? request->agent : "all";
	const char *scope = request->scope ? request->scope : personal;
	enum mr_code rc = check_request(cx, request, wanted, scope);

	*out = (struct targets){ .is_workspace = mr_str_eq(scope, in_workspace) };
	for (const struct mr_work_agent *agent = mr_work_agents; agent->name && !rc; agent++) {
		struct mr_work_skill_target *target = &out->items[out->len];

		if (!mr_work_agent_is(agent, wanted))
			continue;
		rc = skills_dir_of(cx, request, agent, out->is_workspace, &target->skills_dir);
		if (rc)
			return rc;
		target->agent = agent->name;
		target->scope = out->is_workspace ? in_workspace : personal;
		target->skill_dir = mr_work_join(cx->arena, target->skills_dir, MR_WORK_SKILL);
		target->skill_path = mr_work_join(cx->arena, target->skill_dir, MR_WORK_SKILL_FILE);
		out->len++;
	}
	if (!rc && !out->len)
		rc = mr_err_set(&cx->err, MR_EINVAL,
			"the agent must be all, codex, claude-code, opencode or hermes, not '%s'",
			wanted);
	return rc;
}

static struct mr_work_skill_target *kept(struct mr_ctx *cx, const struct targets *targets)
{
	return mr_arena_memdup(cx->arena, targets->items, targets->len * sizeof(*targets->items));
}

/* --- what is there --- */

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static void look(struct mr_ctx *cx, struct mr_work_skill_target *target)
{
	struct mr_err err = { 0 };
	struct mr_bytes file = { 0 };
	enum mr_code rc =
		mr_fs_read(cx->arena, AT_FDCWD, target->skill_path, SKILL_BYTES, &file, &err);

	target->installed = mr_fs_exists(AT_FDCWD, target->skill_path);
	target->managed = target->valid = target->current = false;
	target->validation_error = NULL;
	if (!target->installed)
		return;
	if (rc) {
		target->validation_error = mr_arena_strdup(cx->arena, err.msg);
		return;
	}
	target->managed = mr_work_skill_is_managed(cx->arena, file) &&
		!is_link(target->skill_path) && !is_link(target->skill_dir);
	target->current = mr_work_skill_is_current(cx->arena, file);
	target->validation_error = mr_skill_file_problem(cx->arena, file, MR_WORK_SKILL);
	target->valid = !target->validation_error;
}

enum mr_code mr_work_skill_status(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	struct mr_work_skill_status *result)
{
	struct targets targets;
	enum mr_code rc = find_targets(cx, request, &targets);

	if (rc)
		return rc;
	*result = (struct mr_work_skill_status){ MR_WORK_SKILL, true, true, true, NULL, 0 };
	for (size_t i = 0; i < targets.len; i++) {
		look(cx, &targets.items[i]);
		result->installed_all = result->installed_all && targets.items[i].installed;
		result->valid_all = result->valid_all && targets.items[i].valid;
		result->current_all = result->current_all && targets.items[i].current;
	}
	result->targets = kept(cx, &targets);
	result->target_count = targets.len;
	return MR_OK;
}

/* --- in and out --- */

/* What this program did not write stays, unless we are told otherwise. */
static enum mr_code check_ours(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	struct mr_work_skill_target *target, const char *hint)
{
	look(cx, target);
	if (request->force)
		return MR_OK;
	if (is_link(target->skill_path) || is_link(target->skill_dir))
		return refuse(cx, hint,
			mr_arena_printf(cx->arena, "%s is a link", target->skill_path));
	if (target->installed && !target->managed)
		return refuse(cx, hint,
			mr_arena_printf(cx->arena, "%s was not written by this program",
				target->skill_path));
	return MR_OK;
}

/* The .gitignore of the working directory lists the skills that stand below it. */
static enum mr_code refresh_gitignore(struct mr_ctx *cx,
	const struct mr_work_skill_request *request, bool only_managed)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_work_planned plan;
	enum mr_code rc;

	if (mr_fs_open_dir(AT_FDCWD, request->around.directory, &dir, &cx->err))
		return mr_work_store_error(cx);
	if (only_managed && !mr_work_gitignore_is_managed(cx, dir))
		return MR_OK;
	rc = mr_work_gitignore_plan(cx, dir, mr_fs_exists(dir, MR_WORK_STATE), NULL, &plan);
	return rc ? rc : mr_work_plan_carry_out(cx, dir, &plan);
}

static enum mr_code write_skill(struct mr_ctx *cx, const struct mr_work_skill_target *target)
{
	struct mr_bytes document = mr_work_skill_document(cx->arena);

	if (mr_fs_make_dirs(AT_FDCWD, target->skill_dir, 0755, &cx->err) ||
		mr_fs_write(AT_FDCWD, target->skill_path, document, MR_FS_REPLACE, 0644, &cx->err))
		return mr_work_store_error(cx);
	return MR_OK;
}

enum mr_code mr_work_skill_install(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	struct mr_work_skill_installed *result)
{
	static const char overwrite[] = "Overwrite it with --force, or move it out of the way.";
	struct targets targets;
	enum mr_code rc = find_targets(cx, request, &targets);

	for (size_t i = 0; i < targets.len && !rc; i++)
		rc = check_ours(cx, request, &targets.items[i], overwrite);
	for (size_t i = 0; i < targets.len && !rc; i++) {
		rc = write_skill(cx, &targets.items[i]);
		if (!rc)
			look(cx, &targets.items[i]);
	}
	if (!rc && targets.is_workspace && !request->skills_dir)
		rc = refresh_gitignore(cx, request, false);
	if (rc)
		return rc;
	*result = (struct mr_work_skill_installed){ MR_WORK_SKILL, true, kept(cx, &targets),
		targets.len, "Start the agent anew, so that it loads the skill." };
	return MR_OK;
}

static enum mr_code remove_skill(struct mr_ctx *cx, struct mr_work_skill_target *target)
{
	if (!target->installed)
		return MR_OK;
	if (unlink(target->skill_path) != 0 && errno != ENOENT) {
		mr_err_os(&cx->err, errno, "cannot remove %s", target->skill_path);
		return mr_work_store_error(cx);
	}
	target->removed = true;
	/* Another file in it keeps the directory. */
	if (rmdir(target->skill_dir) != 0 && errno != ENOTEMPTY && errno != EEXIST &&
		errno != ENOENT && errno != ENOTDIR) {
		mr_err_os(&cx->err, errno, "cannot remove %s", target->skill_dir);
		return mr_work_store_error(cx);
	}
	return MR_OK;
}

enum mr_code mr_work_skill_uninstall(struct mr_ctx *cx, const struct mr_work_skill_request *request,
	struct mr_work_skill_uninstalled *result)
{
	static const char remove_hint[] = "Remove it with --force, or by hand.";
	struct mr_work_skill_uninstalled done = { .skill = MR_WORK_SKILL };
	struct targets targets;
	enum mr_code rc = find_targets(cx, request, &targets);

	for (size_t i = 0; i < targets.len && !rc; i++)
		rc = check_ours(cx, request, &targets.items[i], remove_hint);
	for (size_t i = 0; i < targets.len && !rc; i++) {
		rc = remove_skill(cx, &targets.items[i]);
		done.removed_any = done.removed_any || targets.items[i].removed;
	}
	if (!rc && done.removed_any && targets.is_workspace && !request->skills_dir)
		rc = refresh_gitignore(cx, request, true);
	if (rc)
		return rc;
	done.targets = kept(cx, &targets);
	done.target_count = targets.len;
	*result = done;
	return MR_OK;
}
