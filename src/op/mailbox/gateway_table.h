/* op/mailbox/gateway_table.h - what an agent's gateway serves. */
#pragma once

#include "op/op.h"

struct mr_arena;

/*
 * The operations of `mailroom gateway`, with their routes: those that `mailroom serve` has under
 * the name of an agent, at the paths they have in that agent's own gateway (/v1/mail/list), and
 * /health and /v1/status.
 */
struct mr_op_table mr_gateway_table(struct mr_arena *arena);
