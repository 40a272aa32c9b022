/*
 * workspace/skill.h - the built-in skill that teaches agents this program: where it is installed,
 * and how it gets there and away. Needs no workspace and takes no lock.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "workspace/skill_agent.h"

#include <stdbool.h>

struct mr_work_skill_request {
	const char *agent;      /* "all" (or NULL), "codex", "claude-code" or "claude", ... */
	const char *scope;      /* "personal" (or NULL), "workspace": below the working directory */
	const char *skills_dir; /* another directory, for one agent; or NULL */
	bool force;             /* overwrite or remove what this program did not write */
	struct mr_work_surroundings around;
};

struct mr_work_skill_target {
	const char *agent, *scope;
	const char *skills_dir, *skill_dir, *skill_path; /* absolute */
	bool installed, managed, valid, current;
	const char *validation_error; /* or NULL */
	bool removed;                 /* of an uninstall */
};

struct mr_work_skill_status {
	const char *skill;
	bool installed_all, valid_all, current_all;
	struct mr_work_skill_target *targets;
	size_t target_count;
};
MR_CHECK enum mr_code mr_work_skill_status(struct mr_ctx *cx,
	const struct mr_work_skill_request *request, struct mr_work_skill_status *result);

/* Install or refresh; nothing is written when one of the targets is refused: invalid_request. */
struct mr_work_skill_installed {
	const char *skill;
	bool installed;
	struct mr_work_skill_target *targets;
	size_t target_count;
	const char *hint;
};
MR_CHECK enum mr_code mr_work_skill_install(struct mr_ctx *cx,
	const struct mr_work_skill_request *request, struct mr_work_skill_installed *result);

struct mr_work_skill_uninstalled {
	const char *skill;
	bool removed_any;
	struct mr_work_skill_target *targets;
	size_t target_count;
};
MR_CHECK enum mr_code mr_work_skill_uninstall(struct mr_ctx *cx,
	const struct mr_work_skill_request *request, struct mr_work_skill_uninstalled *result);
