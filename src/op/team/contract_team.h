/*
 * op/team/contract_team.h - the team contract: a result is the object itself; an error is
 * {"error": {"type", "message", "recoverable", "data"}} (spec/coordination.md section 8). Who acts
 * as an agent proves it as AGENT_AUTH says (op/agent_auth.h). An operation gets the open team.
 */
#pragma once

#include "op/contract.h"

struct mr_team;

extern const struct mr_contract mr_contract_team;

/*
 * The team, open, for what is no operation of this contract: views, completion, and an operation
 * that knows only while it runs whether it needs the team. It stays the program's.
 */
MR_CHECK enum mr_code mr_contract_team_open(struct mr_call *call, struct mr_team **out);

/* For contracts that differ from it in the rest. */
MR_CHECK enum mr_code mr_contract_team_enter(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in, void **part);
void mr_contract_team_error(struct mr_out *out, const struct mr_err *err);
