/*
 * op/agent_auth.h - may the caller act as the agent it names? (AGENT_AUTH, spec W-36)
 *
 * Agents get a token when they register: off gives out none, warn notes in the log when one is
 * missing, require refuses. The command line and proven administrators may act as any agent. A JWT
 * with the claim `agents` may act as those, each in the project that the claim names for it, and as
 * no others, whatever the setting.
 */
#pragma once

#include "op/args.h"
#include "op/call.h"
#include "op/op.h"

struct mr_team;

enum mr_agent_auth_mode { MR_AGENT_AUTH_OFF, MR_AGENT_AUTH_WARN, MR_AGENT_AUTH_REQUIRE };
enum mr_agent_auth_mode mr_agent_auth_mode(const struct mr_app *app);

/* The parameter that names the acting agent; NULL when the operation has none. */
const struct mr_param *mr_agent_auth_param(const struct mr_op *op);

/*
 * Check before an operation runs with these arguments: PERMISSION_DENIED, or call->is_verified says
 * whether the caller has proved to be that agent. An unknown agent is left for the operation to
 * report. The team is asked only when mr_agent_auth_asks() says so: else `team` may be NULL.
 */
bool mr_agent_auth_asks(const struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in);
MR_CHECK enum mr_code mr_agent_auth_check(struct mr_call *call, struct mr_team *team,
	const struct mr_op *op, const struct mr_args *in);
/* The same check for callers that run no operation. */
MR_CHECK enum mr_code mr_agent_auth_check_agent(struct mr_call *call, struct mr_team *team,
	const char *project_key, const char *agent_name);

/*
 * Set call->rights to the mail that the caller may see, where a result holds mail of several
 * agents: with a JWT that has the claim `agents` that of these agents, with `require` that of the
 * agent whose token was sent, else everybody's. Without a token the call is refused, or with
 * `or_nothing` sees no mail.
 */
MR_CHECK enum mr_code mr_agent_auth_readers(struct mr_call *call, struct mr_team *team,
	bool or_nothing);
/* Is this agent among call->rights.readers? */
bool mr_agent_auth_reads_for(const struct mr_call *call, int64_t agent_id);

/* Does the operation name an acting agent, or show mail of several agents? */
bool mr_agent_auth_takes_token(const struct mr_op *op);
/* Move agent_token, for operations that take one, from the arguments into the call; returns the
 * other arguments. */
const struct mr_value *mr_agent_auth_take_token(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent);
