/* op/mailbox/shape_gateway.h - the results of a gateway's operations (spec/mailbox.md 17.3). */
#pragma once

#include "op/mailbox/shape_mail.h"

/* schema_version, operation, transport, principal_id, address. */
extern const struct mr_field mr_shape_gateway_head_fields[];
/* The same without the operation. */
extern const struct mr_field mr_shape_gateway_who_fields[];
extern const struct mr_field mr_shape_gateway_one_fields[];  /* of struct mr_shape_mail_one */
extern const struct mr_field mr_shape_gateway_many_fields[]; /* of struct mr_shape_mail_many */
