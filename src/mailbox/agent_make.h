/*
 * mailbox/agent_make.h - sessions of agents for people who have no other runtime: made, bound to a
 * mailbox, and removed.
 *
 * What is written are the Houmao runtime's own files (a session manifest and a registry record),
 * with its keys alone. A session that it made can be bound and unbound here, but not removed.
 */
#pragma once

#include "mailbox/account.h"
#include "mailbox/agent.h"
#include "mailbox/register.h"

struct mr_mailbox_agent_new {
	const char *registry;
	const char *runtime;      /* the directory of sessions */
	const char *name;         /* letters, digits, '-', '_' and '.'; at most 64 */
	const char *tool;         /* "claude" or "codex" */
	const char *role;         /* NULL: the name */
	const char *tmux_session; /* NULL: the name */
	const char *directory;    /* where it works; absolute */
	const char *home;         /* the user's */
	/* Its mailbox, as for mr_mailbox_agent_bind(); NULL: it gets none. */
	const struct mr_mailbox_declared *mailbox;
	enum mr_mailbox_register_mode mode;
	const struct mr_mailbox_account_request *account; /* or NULL */
};

/*
 * Make the session of a new agent, and give it its mailbox. MR_EINVAL: a name that cannot be, an
 * unknown tool. MR_EEXISTS: an agent of that name is there. Otherwise the errors of
 * mr_mailbox_agent_bind(). Of several at once with one name, one succeeds. After an error nothing
 * is left. The record is written last: when a process dies before, the name is free, and the next
 * call removes the directory that it left.
 */
MR_CHECK enum mr_code mr_mailbox_agent_create(struct mr_ctx *cx,
	const struct mr_mailbox_agent_new *request, struct mr_mailbox_session *out);

struct mr_mailbox_agent_bound {
	bool is_account;                              /* on a server; else in a root */
	struct mr_mailbox_register_result registered; /* in the root */
	struct mr_mailbox_account_result account;
};
/*
 * Give the agent a mailbox, and write the binding into manifest and record: in a root, which is
 * made if it is not there, by registering the address; on a server by preparing its account, for
 * which account->session is set here. The errors are those of mr_mailbox_binding_resolve(),
 * mr_mailbox_register() and mr_mailbox_account_prepare().
 */
MR_CHECK enum mr_code mr_mailbox_agent_bind(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_declared *declared, enum mr_mailbox_register_mode mode,
	const struct mr_mailbox_account_request *account, struct mr_mailbox_session *manifest,
	struct mr_mailbox_agent_bound *out);
/* Take the binding away; the mailbox and its mail stay. MR_ENOTFOUND: the agent has none. */
MR_CHECK enum mr_code mr_mailbox_agent_unbind(struct mr_ctx *cx, const char *registry,
	struct mr_mailbox_session *manifest);

/* Did mr_mailbox_agent_create() make this session? */
bool mr_mailbox_agent_is_ours(const struct mr_mailbox_session *manifest);
/*
 * The agent of this name or id whose manifest is gone, as far as its record tells: enough to remove
 * it. MR_ENOTFOUND: there is none, or its manifest is there.
 */
MR_CHECK enum mr_code mr_mailbox_agent_lost(struct mr_ctx *cx, const char *registry,
	const char *named, struct mr_mailbox_session *out);
/*
 * Remove session and record; the mailbox and its mail stay. MR_EPERM: another runtime's session.
 * The record goes last: until then the agent can be named, and removed again.
 */
MR_CHECK enum mr_code mr_mailbox_agent_remove(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest);
