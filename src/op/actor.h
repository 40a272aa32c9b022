/*
 * op/actor.h - may the caller act as the agent it names? (AGENT_AUTH, spec W-36)
 *
 * Agents get a token when they register: off gives out none, warn notes in the log when one is
 * missing, require refuses. Whoever has the command line, or is a proven administrator, acts for
 * all. A JWT with the claim `agents` may act as those, and as no others, whatever the setting.
 */
#pragma once

#include "op/args.h"
#include "op/call.h"
#include "op/op.h"

enum mr_actor_mode { MR_ACTOR_OFF, MR_ACTOR_WARN, MR_ACTOR_REQUIRE };
enum mr_actor_mode mr_actor_mode(const struct mr_app *app);

/* The parameter that names who acts; NULL when the operation has none. */
const struct mr_param *mr_actor_param(const struct mr_op *op);

/*
 * Before an operation is run with these arguments: PERMISSION_DENIED, or call->is_verified says
 * whether the caller has proved to be that agent. An agent that is not there is left to the
 * operation.
 */
MR_CHECK enum mr_code mr_actor_check(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in);
/* The same for what is not an operation. */
MR_CHECK enum mr_code mr_actor_check_agent(struct mr_call *call, const char *project_key,
	const char *agent_name);

/* What was sent without its agent_token, which goes into the call; only for operations that have
 * somebody who acts. */
const struct mr_value *mr_actor_take_token(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent);
