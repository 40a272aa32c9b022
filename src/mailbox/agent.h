/*
 * mailbox/agent.h - which agent a command is for (spec/mailbox.md 20.2).
 *
 * An agent that is named wins. Without a name the caller must be in the tmux session that owns the
 * agent: then HOUMAO_MANIFEST_PATH says which one it is, and when that is not set, or its file is
 * gone, HOUMAO_AGENT_ID. Anywhere else nothing is guessed.
 */
#pragma once

#include "mailbox/registry.h"
#include "mailbox/session.h"

/* What the caller's environment says; passed in, so that tests need no real one. NULL: not set. */
struct mr_mailbox_place {
	const char *registry;      /* the directory of records */
	const char *manifest_path; /* HOUMAO_MANIFEST_PATH */
	const char *agent_id;      /* HOUMAO_AGENT_ID */
	const char *tmux;          /* TMUX */
	const char *tmux_pane;     /* TMUX_PANE */
};

struct mr_mailbox_selector {
	const char *agent_id, *agent_name; /* at most one */
};

struct mr_mailbox_agent {
	struct mr_mailbox_session manifest;
	const char *ref; /* what it was selected by */
};

/*
 * Select. MR_EINVAL: two selectors or a blank one, or none outside tmux. MR_ECONFLICT: the agent
 * belongs to another tmux session than the caller, or to another generation. MR_ENOTFOUND: no such
 * agent, or its session is gone. Else the errors of mr_mailbox_session_read().
 */
MR_CHECK enum mr_code mr_mailbox_agent_select(struct mr_ctx *cx,
	const struct mr_mailbox_place *place, const struct mr_mailbox_selector *selector,
	struct mr_mailbox_agent *out);

/* The tmux session of the caller's pane; NULL when tmux does not say. */
const char *mr_mailbox_agent_tmux(struct mr_ctx *cx, const struct mr_mailbox_place *place);
