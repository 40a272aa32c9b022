/* op/mailbox/shape_gateway.c - the results of a gateway's operations: those of the commands, with
 * less in front. */
#include "op/mailbox/shape_gateway.h"

#define HEAD(member, name) MR_FIELD(struct mr_shape_mail_head, member, name)

const struct mr_field mr_shape_gateway_head_fields[] = {
	HEAD(schema_version, "schema_version"),
	HEAD(operation, "operation"),
	HEAD(transport, "transport"),
	HEAD(principal_id, "principal_id"),
	HEAD(address, "address"),
	{ 0 },
};

const struct mr_field mr_shape_gateway_who_fields[] = {
	HEAD(schema_version, "schema_version"),
	HEAD(transport, "transport"),
	HEAD(principal_id, "principal_id"),
	HEAD(address, "address"),
	{ 0 },
};

const struct mr_field mr_shape_gateway_one_fields[] = {
	MR_MEMBERS(struct mr_shape_mail_one, head, struct mr_shape_mail_head,
		mr_shape_gateway_head_fields),
	MR_FIELD_STRUCT(struct mr_shape_mail_one, message, struct mr_shape_mail,
		mr_shape_mail_fields, "message"),
	{ 0 },
};

const struct mr_field mr_shape_gateway_many_fields[] = {
	MR_MEMBERS(struct mr_shape_mail_many, head, struct mr_shape_mail_head,
		mr_shape_gateway_head_fields),
	MR_FIELD(struct mr_shape_mail_many, messages.len, "message_count"),
	MR_FIELD_LIST(struct mr_shape_mail_many, messages, struct mr_shape_mail,
		mr_shape_mail_fields, "messages"),
	{ 0 },
};
