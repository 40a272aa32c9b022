/*
 * op/agent_auth.h - may the caller act as the agent it names? (AGENT_AUTH, spec W-36)
 *
 * Agents get a token when they register: off gives out none, warn notes in the log when one is
 * missing, require refuses. Whoever has the command line, or is a proven administrator, acts for
 * all. A JWT with the claim `agents` may act as those, each in the project that the claim names for
 * it, and as no others, whatever the setting.
 */
#pragma once

#include "op/args.h"
#include "op/call.h"
#include "op/op.h"

enum mr_agent_auth_mode { MR_AGENT_AUTH_OFF, MR_AGENT_AUTH_WARN, MR_AGENT_AUTH_REQUIRE };
enum mr_agent_auth_mode mr_agent_auth_mode(const struct mr_app *app);

/* The parameter that names who acts; NULL when the operation has none. */
const struct mr_param *mr_agent_auth_param(const struct mr_op *op);

/*
 * Before an operation is run with these arguments: PERMISSION_DENIED, or call->is_verified says
 * whether the caller has proved to be that agent. An agent that is not there is left to the
 * operation.
 */
MR_CHECK enum mr_code mr_agent_auth_check(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in);
/* The same for what is not an operation. */
MR_CHECK enum mr_code mr_agent_auth_check_agent(struct mr_call *call, const char *project_key,
	const char *agent_name);

/*
 * Say in call->rights whose mail the caller may see, where mail is not one agent's: of a JWT
 * with the claim `agents` theirs, with `require` that of the agent whose token was sent, else
 * everybody's. Who sent none is refused, or with `or_nothing` sees nothing.
 */
MR_CHECK enum mr_code mr_agent_auth_readers(struct mr_call *call, bool or_nothing);
/* Is this agent among those? */
bool mr_agent_auth_reads_for(const struct mr_call *call, int64_t agent_id);

/* Has the operation somebody who acts, or mail of several? */
bool mr_agent_auth_takes_token(const struct mr_op *op);
/* What was sent without its agent_token, which goes into the call; only for operations that take
 * one. */
const struct mr_value *mr_agent_auth_take_token(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent);
