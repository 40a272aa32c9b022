/* op/mailbox/contract_mail.c - how commands of agents' mail find their agent. */
#include "op/mailbox/contract_mail.h"

#include "base/shelf.h"
#include "op/call.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/mail_terminal.h"

#define SELECTORS                                                                                  \
	{ MR_MAIL_AGENT_NAME, "NAME", "the agent that the command is for", MR_GLOBAL_OWN },        \
		{ MR_MAIL_AGENT_ID, "ID", "the same by its id", MR_GLOBAL_OWN },                   \
	{                                                                                          \
		MR_MAIL_PORT, "N", "ask the server at this port for the agent's mail",             \
			MR_GLOBAL_OWN                                                              \
	}
#define OTHERS                                                                                     \
	{ "--help", NULL, "show help for the command", MR_GLOBAL_HELP, 'h' },                      \
		{ "--json", NULL, "print JSON instead of text", MR_GLOBAL_FORMAT },                \
		{ "--yes", NULL, "answer yes to questions", MR_GLOBAL_YES, 'y' },                  \
		{ "--absolute", NULL, "show times as dates, not as \"3 min ago\"",                 \
			MR_GLOBAL_ABSOLUTE },                                                      \
		{ "--config", "FILE", "read settings from this mailroom.yaml", MR_GLOBAL_CONFIG }, \
		{ "--env-file", "FILE",                                                            \
			"read settings from this file of NAME=value lines, and trust it",          \
			MR_GLOBAL_ENV_FILE },                                                      \
		{ "--set", "KEY=VALUE", "override one setting; may be repeated", MR_GLOBAL_SET },  \
	{                                                                                          \
		"--version", NULL, "print the version", MR_GLOBAL_VERSION                          \
	}

static const struct mr_global_option globals[] = {
	SELECTORS,
	{ MR_MAIL_ADDRESS, "ADDRESS", "act for an address of a mailbox root, without an agent",
		MR_GLOBAL_OWN },
	{ MR_MAIL_ROOT, "DIRECTORY", "that root, in place of the setting mailbox.root",
		MR_GLOBAL_OWN },
	OTHERS,
	{ 0 },
};

static const struct mr_global_option agent_globals[] = {
	SELECTORS,
	OTHERS,
	{ 0 },
};

/* An option given twice names two agents. */
static enum mr_code check_once(const struct mr_invocation *how, struct mr_err *err)
{
	for (size_t i = 0; i < how->given_count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (mr_str_eq(how->given[i].option, how->given[j].option))
				return mr_err_set(err, MR_EINVAL, "%s is given twice",
					how->given[i].option);
		}
	}
	return MR_OK;
}

static enum mr_code check(const struct mr_invocation *how, struct mr_err *err)
{
	struct mr_mail_selected selected = mr_mail_session_selected(how);
	enum mr_code rc = check_once(how, err);

	if (rc || !how->op || how->is_help || how->is_version)
		return rc;
	return mr_mail_session_check(&selected, how->path, err);
}

/* The agent of another server, which need not be known here. */
static enum mr_code enter_server(struct mr_call *call, const struct mr_mail_selected *selected,
	struct mr_mail_session *session)
{
	const struct mr_mailbox_selector *agent = &selected->agent;

	session->agent.ref = agent->agent_id ? agent->agent_id : agent->agent_name;
	return mr_mail_session_remote(call, selected->port, session);
}

/* The mailbox itself; else the agent's gateway, if one runs; else the agent's terminal. */
static enum mr_code enter_agent(struct mr_call *call, const struct mr_op *op,
	struct mr_mail_session *session)
{
	struct mr_err why;
	enum mr_code rc = mr_mail_session_find(call, session);

	if (rc)
		return rc;
	rc = mr_mail_session_open(call, !(op->needs & MR_NEED_WRITE), session);
	if (!rc)
		return MR_OK;
	why = call->cx.err;
	if (!mr_mail_session_remote(call, NULL, session))
		return MR_OK;
	call->cx.err = why;
	return mr_mail_terminal_may(call, op, session) ? MR_OK : rc;
}

static enum mr_code enter(struct mr_call *call, const struct mr_op *op, const struct mr_args *in,
	void **part)
{
	struct mr_mail_selected selected = mr_mail_session_selected(call->invocation);
	struct mr_mail_session *session;
	enum mr_code rc;

	(void)in;
	if (!part)
		return MR_OK;
	session = mr_arena_alloc(call->cx.arena, sizeof(*session));
	*session = (struct mr_mail_session){ .mail = MR_MAIL_INIT, .shelf = mr_shelf_new() };
	call->cx.shelf = session->shelf;
	rc = selected.port ? enter_server(call, &selected, session)
			   : enter_agent(call, op, session);
	if (rc) {
		call->cx.shelf = NULL;
		mr_mail_session_close(session);
		return rc;
	}
	*part = session;
	return MR_OK;
}

static void leave(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc)
{
	(void)op;
	(void)rc;
	call->cx.shelf = NULL;
	if (part)
		mr_mail_session_close(part);
}

const struct mr_contract mr_contract_mail = {
	.enter = enter,
	.leave = leave,
	.globals = globals,
	.check = check,
};

const struct mr_contract mr_contract_agent = {
	.globals = agent_globals,
	.check = check,
};
