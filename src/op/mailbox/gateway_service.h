/*
 * op/mailbox/gateway_service.h - the gateway of an agent as a part of the program: which agent it
 * is for, from its start to its end.
 *
 * Two servers have it: `mailroom gateway`, for one agent (struct mr_gateway), and `mailroom serve`,
 * for all agents of this machine, each under its name.
 */
#pragma once

#include "mailbox/gateway.h"
#include "op/call.h"
#include "op/mailbox/mail_session.h"
#include "op/op.h"

/* A gateway of one agent, for as long as it runs. */
struct mr_gateway {
	struct mr_mailbox_session session; /* as it was at the start */
	const char *registry;
	struct mr_mailbox_gateway_instance instance;
};
#define MR_GATEWAY_INIT ((struct mr_gateway){ .instance = MR_MAILBOX_GATEWAY_INIT })

/*
 * Select the agent (by name or id, else by the caller's tmux session) and claim its gateway, before
 * the server starts on `host`. MR_EBUSY: it runs already. Otherwise the errors of
 * mr_mailbox_agent_select(). Texts of `out` live in the call's arena.
 */
MR_CHECK enum mr_code mr_gateway_open(struct mr_call *call, const char *agent_id,
	const char *agent_name, const char *host, struct mr_gateway *out);
/* Paths of its files: see mailbox/gateway.h. In the call's arena. */
const char *mr_gateway_path(struct mr_call *call, const struct mr_gateway *gateway,
	const char *name);
/* The server listens on the host, at this port: let others find it. */
MR_CHECK enum mr_code mr_gateway_begin(struct mr_call *call, int port, struct mr_gateway *gateway);
/* After the server has stopped: nobody finds it any more. For MR_CLEANUP. */
void mr_gateway_end(struct mr_gateway *gateway);

/* Does it serve mail: does it listen where only this machine can reach it? */
bool mr_gateway_is_local(const struct mr_gateway *gateway);

/* The agent of this call and its binding, as the manifest is now; the mail is not opened. */
MR_CHECK enum mr_code mr_gateway_session(struct mr_call *call, struct mr_mail_session *out);
