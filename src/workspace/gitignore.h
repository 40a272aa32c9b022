/* workspace/gitignore.h - the managed block of a .gitignore: what can be made again, or must not
 * be shared. */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

#include <stdbool.h>

#define MR_WORK_GITIGNORE ".gitignore"

/* A file as it is and as it shall be. */
struct mr_work_planned {
	const char *path;
	struct mr_bytes bytes;
	bool is_created, is_updated; /* neither: it is as it shall be already */
};

/*
 * Plan the .gitignore of the open directory `dir`. `is_workspace`: it is the root of a workspace.
 * Skill directories that exist are listed, and so is that of the agent of this name, which is about
 * to get one ("all": of all agents; NULL: of no other). managed_block_invalid, store_error.
 */
MR_CHECK enum mr_code mr_work_gitignore_plan(struct mr_ctx *cx, int dir, bool is_workspace,
	const char *agent, struct mr_work_planned *out);
/* Has the directory a .gitignore with a managed block? */
bool mr_work_gitignore_is_managed(struct mr_ctx *cx, int dir);

/* Compare what a file shall be with what it is: `old.data` is NULL when it is not there. */
struct mr_work_planned mr_work_plan(const char *path, struct mr_bytes old, struct mr_bytes bytes);
/* Write a planned file durably, unless nothing is to be done. */
MR_CHECK enum mr_code mr_work_plan_carry_out(struct mr_ctx *cx, int dir,
	const struct mr_work_planned *plan);
/* The bytes of a file below `dir`; `out->data` is NULL when it is not there. A link to another
 * directory is an invalid_request. */
MR_CHECK enum mr_code mr_work_plan_read(struct mr_ctx *cx, int dir, const char *path,
	struct mr_bytes *out);
