/*
 * op/team/contract_team.h - the team contract: a result is the object itself; an error is
 * {"error": {"type", "message", "recoverable", "data"}} (spec/coordination.md section 8). Who acts
 * as an agent proves it as AGENT_AUTH says (op/agent_auth.h) before the team is opened.
 */
#pragma once

#include "op/contract.h"

extern const struct mr_contract mr_contract_team;

/* For contracts that differ from it in the rest. */
MR_CHECK enum mr_code mr_contract_team_enter(struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in, void **part);
void mr_contract_team_error(struct mr_out *out, const struct mr_err *err);
