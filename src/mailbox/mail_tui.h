/*
 * mailbox/mail_tui.h - a mail operation submitted through the agent's own terminal.
 *
 * For when neither the mailbox nor a gateway can be used. What comes of it is known to the agent
 * alone: a submission is never a result, and is to be verified.
 */
#pragma once

#include "mailbox/mail_prompt.h"
#include "mailbox/session.h"

enum mr_mail_tui_status {
	MR_MAIL_TUI_SUBMITTED,
	MR_MAIL_TUI_REJECTED,    /* not typed: too long, or no agent is at the prompt */
	MR_MAIL_TUI_BUSY,        /* not typed: the agent is at work, or somebody scrolls */
	MR_MAIL_TUI_INTERRUPTED, /* typed, and the agent ended, or nobody waits any more */
	MR_MAIL_TUI_ERROR,       /* the terminal failed; whether the text arrived is not known */
};
extern const char *const mr_mail_tui_statuses[]; /* "submitted", ...; NULL-terminated */

struct mr_mail_tui {
	enum mr_mail_tui_status status;
	const char *request_id;
	const char *detail;             /* or NULL */
	const char *submitted_at_utc;   /* or NULL: not typed */
	const char *pane;               /* or NULL */
	const struct mr_value *preview; /* what the agent printed for this request; or NULL */
};

/* Can text be typed to the agent of this session: does it run in a terminal, and is its tmux
 * session there? */
bool mr_mail_tui_is_usable(struct mr_ctx *cx, const struct mr_mailbox_session *session);

/* Type it, and wait so long for an answer; none is no failure. */
void mr_mail_tui_submit(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	const char *operation, const struct mr_value *arguments, int wait_ms,
	struct mr_mail_tui *out);
