/* workspace/init_text.h - the texts that init writes for agents and people, from the templates of
 * the workspace (workspace/templates.h). template_render_failed when one cannot be used. */
#pragma once

#include "base/ctx.h"
#include "workspace/config.h"

/* `work` is NULL while there is none yet. */

/* AGENTS.md: an opening that is the user's, and the managed block with the workspaces' refs. */
MR_CHECK enum mr_code mr_work_init_agents(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, const struct mr_texts *workspaces,
	struct mr_bytes *out);
/* .afmail/DO_NOT_EDIT.txt */
MR_CHECK enum mr_code mr_work_init_sentinel(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, struct mr_bytes *out);
