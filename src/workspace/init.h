/*
 * workspace/init.h - makes a workspace, or completes one.
 *
 * The working directory is the agents' root: its AGENTS.md tells agents of the workspaces below it.
 * Doing it again changes nothing that is there: the user's text, the configuration and the sentinel
 * keep their bytes. A crash in between leaves a workspace that the next init completes.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "workspace/skill_agent.h"

#include <stdbool.h>

struct mr_work_init {
	const char *path;  /* below the working directory; NULL: the working directory */
	const char *agent; /* gets the skill: NULL "codex", "none", or as for `skill install` */
	struct mr_work_surroundings around;
};

struct mr_work_initialized {
	const char *workspace_path, *agent_root_path; /* absolute */
	const char *workspace_ref;                    /* "." or "path/" */
	struct mr_texts workspace_paths;              /* all refs of the agents' root, sorted */
	const char *created_rfc3339;
	const char *gitignore_path; /* of the workspace */
	bool gitignore_created, gitignore_updated;
	const char *workspace_gitignore_path; /* the same */
	bool workspace_gitignore_created, workspace_gitignore_updated;
	const char *agent_gitignore_path; /* of the agents' root */
	bool agent_gitignore_created, agent_gitignore_updated;
	const char *agent_skill_path; /* AGENTS.md */
	bool agent_skill_created, agent_skill_updated;
	const char *workspace_skill_path; /* NULL when no agent got it */
	bool workspace_skill_installed;   /* false: a file of the user's own stands there */
	const char *do_not_edit_path;
	bool do_not_edit_created, do_not_edit_updated;
	const char *language_bcp47, *resolved_language_bcp47, *timezone_utc_offset;
	struct mr_texts next_steps;
};

/* invalid_request, managed_block_invalid, managed_block_missing, config_invalid, workspace_locked.
 */
MR_CHECK enum mr_code mr_work_init(struct mr_ctx *cx, const struct mr_work_init *request,
	struct mr_work_initialized *result);
