/*
 * op/mailbox/mail_session.h - the agent that a mail command is for, and its mail.
 *
 * The agent is named by options of the command line (op/mailbox/contract_mail.h), else found by the
 * caller's tmux session. Its binding says which mailbox is meant.
 */
#pragma once

#include "mailbox/agent.h"
#include "mailbox/mail.h"
#include "op/call.h"

/* Options that every mail command takes. */
#define MR_MAIL_AGENT_ID   "--agent-id"
#define MR_MAIL_AGENT_NAME "--agent-name"
#define MR_MAIL_PORT       "--port"
#define MR_MAIL_ADDRESS    "--address"
#define MR_MAIL_ROOT       "--mailbox-root"

/* How an operation was carried out, and so how far its result can be relied upon. */
enum mr_mail_execution {
	MR_MAIL_MANAGER_DIRECT, /* against the mailbox itself */
	MR_MAIL_GATEWAY_BACKED, /* by the agent's gateway */
	MR_MAIL_TUI_SUBMISSION, /* typed into the agent's terminal: nothing is known yet */
};
extern const char *const mr_mail_executions[]; /* the contract's words, NULL-terminated */

/* The part of a mail operation. */
struct mr_mail_session {
	struct mr_mailbox_agent agent; /* with ref NULL: an address was named instead of an agent */
	struct mr_mailbox_binding binding;
	enum mr_mail_execution execution;
	const char *unusable; /* with MR_MAIL_TUI_SUBMISSION: why the mail is not open */
	struct mr_mail mail;
	struct mr_shelf *shelf; /* of a command: what it has open */
};

/* Options of the contract; NULL: not given. */
struct mr_mail_selected {
	struct mr_mailbox_selector agent;
	const char *port;
	const char *address, *mailbox_root; /* an address of a root, without an agent */
};
struct mr_mail_selected mr_mail_session_selected(const struct mr_invocation *how);
/* Do they go together? MR_EINVAL. `command` is that of the operation. */
MR_CHECK enum mr_code mr_mail_session_check(const struct mr_mail_selected *selected,
	const char *command, struct mr_err *err);

/* Where the caller is: its variables, and the registry of the settings. */
MR_CHECK enum mr_code mr_mail_session_place(struct mr_call *call, struct mr_mailbox_place *out);
/* MR_ECONFLICT, and what to do, when the agent has no mailbox. */
MR_CHECK enum mr_code mr_mail_session_bound(struct mr_call *call,
	const struct mr_mailbox_session *manifest);
/* The agent of this name or id, unless the options name one; NULL: else this session's. */
MR_CHECK enum mr_code mr_mail_session_agent(struct mr_call *call, const char *named,
	struct mr_mailbox_place *place, struct mr_mailbox_agent *out);
/* The selected agent and its binding; the mail is not opened. MR_ECONFLICT: it has no mailbox. */
MR_CHECK enum mr_code mr_mail_session_find(struct mr_call *call, struct mr_mail_session *out);
/* Open the mail of the binding. MR_ENOTFOUND: the address is not registered any more. MR_ECONFLICT:
 * it belongs to another principal or directory than the binding says. */
MR_CHECK enum mr_code mr_mail_session_open(struct mr_call *call, bool read_only,
	struct mr_mail_session *session);
/* The mail of the agent through the server of --port, or (port NULL) through its own gateway; for
 * when the mailbox cannot be opened here. MR_ENOTFOUND: no gateway of it runs. */
MR_CHECK enum mr_code mr_mail_session_remote(struct mr_call *call, const char *port,
	struct mr_mail_session *session);
/* For MR_CLEANUP. */
void mr_mail_session_close(struct mr_mail_session *session);

/* The directory `name` in the nearest .houmao above the working directory, unless the setting says
 * another one; without one, that of the setting's default. Absolute. */
MR_CHECK enum mr_code mr_mail_session_overlay(struct mr_call *call, const char *setting,
	const char *name, const char **out);
