/*
 * op/mailbox/contract_gateway.h - the contract of agents' gateways (spec/mailbox.md 17).
 *
 * Its operations are an agent's mail over HTTP: of the agent whose gateway this process is
 * (mr_app.gateway), or of the one that the path names (mr_call.agent_ref). Their part is a struct
 * mr_mail_session, opened for each request by what the agent's manifest says then. Bodies are
 * checked strictly (gateway_body.h). A failure is {"detail": ...}: 422 for what is wrong with the
 * request or the binding, 502 for what is wrong with the mailbox or not in it.
 */
#pragma once

#include "op/contract.h"

extern const struct mr_contract mr_contract_gateway;

/* May this gateway serve its agent's mail: does it listen on this machine only? Otherwise the error
 * is a 503. For operations that open the mail themselves, as is the next. */
MR_CHECK enum mr_code mr_contract_gateway_is_here(struct mr_call *call);
/* A failure that is about the agent's binding becomes a 422. Returns the code. */
enum mr_code mr_contract_gateway_unusable(struct mr_call *call, enum mr_code rc);

/* What the path has the agent under; it is no argument of the operation. */
#define MR_GATEWAY_AGENT_REF "agent_ref"
