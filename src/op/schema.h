/* op/schema.h - JSON Schema (2020-12) of an operation's arguments and result, from the same table.
 */
#pragma once

#include "op/op.h"
#include "text/out.h"

/* The whole schema as the member `key` (NULL at the top). */
void mr_schema_input(struct mr_out *out, const char *key, const struct mr_op *op);
/* With agent_token, where the operation is done as an agent (op/agent_auth.h). */
void mr_schema_input_token(struct mr_out *out, const char *key, const struct mr_op *op);
void mr_schema_output(struct mr_out *out, const char *key, const struct mr_op *op);
/* The same where an error may take the place of the result: then its only member is "error". */
void mr_schema_output_or_error(struct mr_out *out, const char *key, const struct mr_op *op);
/* The same in fewer bytes: without redundant parts, and of a result only its members. */
void mr_schema_input_brief(struct mr_out *out, const char *key, const struct mr_op *op,
	bool with_token);
void mr_schema_output_brief(struct mr_out *out, const char *key, const struct mr_op *op);

/* Does a result have the shape it promises? Reports every difference. */
void mr_schema_check(const struct mr_field *fields, const struct mr_cursor *at);
