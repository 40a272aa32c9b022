/*
 * op/mailbox/gateway_body.h - the bodies of requests to an agent's gateway, checked to the letter
 * (spec/mailbox.md 17.1).
 *
 * A body is checked against its operation's parameters: each has its very type ("1" and 1.0 are no
 * integers), keys that no parameter has are refused, and everything that is wrong is reported at
 * once, as objects of the contract: {type, loc, msg, input[, ctx]}. The rules that one value alone
 * can break are the parameter's (mr_param.refuse, choices, min and max); those about several are
 * the operation's, which refuses with mr_gateway_body_refuse().
 */
#pragma once

#include "op/call.h"
#include "op/op.h"

/* The word of an error whose detail is the list of those objects, a struct mr_value. */
extern const char mr_gateway_body_invalid[]; /* "invalid_body" */

/* As mr_contract.read_body. call->body is set to what was sent when it was an object. */
MR_CHECK enum mr_code mr_gateway_body_read(struct mr_call *call, const struct mr_op *op,
	const char *content_type, struct mr_bytes body, const struct mr_value **out);

/* A rule about the whole body (`key` NULL), or about the value under a key, is broken. */
MR_CHECK enum mr_code mr_gateway_body_refuse(struct mr_call *call, const char *key,
	const char *why);

/* The key that each of these bodies may have, and must be 1 then. */
#define MR_GATEWAY_VERSION_PARAM                                                                   \
	{                                                                                          \
		.name = "schema_version", .type = MR_TYPE_INT, .summary = "1", .fallback = "1"     \
	}
