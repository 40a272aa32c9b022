/* op/mailbox/gateway_parts.c - starts and stops what runs beside the routes of a gateway. */
#include "op/mailbox/gateway_parts.h"

enum mr_code mr_gateway_parts_start(const struct mr_app *app, struct mr_gateway_parts **out,
	struct mr_err *err)
{
	(void)app;
	(void)err;
	*out = NULL;
	return MR_OK;
}

void mr_gateway_parts_stop(struct mr_gateway_parts *parts)
{
	(void)parts;
}
