/* op/mailbox/gateway_table.c - what an agent's gateway serves: its own two operations, and those of
 * mail. */
#include "op/mailbox/gateway_table.h"

#include "op/mailbox/contract_gateway.h"
#include "op/mailbox/gateway_service.h"
#include "op/nouns.h"

#include <string.h>

struct health {
	const char *protocol_version, *status;
};

static const struct mr_field health_fields[] = {
	MR_FIELD(struct health, protocol_version, "protocol_version"),
	MR_FIELD(struct health, status, "status"),
	{ 0 },
};

static enum mr_code tell_health(struct mr_call *call, const struct mr_nothing *asked,
	struct health *out)
{
	(void)call;
	(void)asked;
	*out = (struct health){ MR_MAILBOX_GATEWAY_PROTOCOL, "ok" };
	return MR_OK;
}
MR_BIND_ALONE(telling_health, tell_health, struct mr_nothing, struct health);

static const struct mr_op op_health = {
	.name = "gateway_health",
	.route = "GET /health",
	.summary = "Whether the gateway runs",
	.result = health_fields,
	.traits = MR_QUICK | MR_OPEN,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &telling_health,
};

static enum mr_code tell_status(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const struct mr_gateway *gateway = call->app->gateway;

	(void)in;
	mr_out_value(out, NULL,
		mr_mailbox_gateway_status(&call->cx, &gateway->session, &gateway->instance, 0));
	return MR_OK;
}

static const struct mr_op op_status = {
	.name = "gateway_status",
	.route = "GET /v1/status",
	.summary = "What the gateway knows of its agent",
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.run = tell_status,
};

/* Routes of `mailroom serve`, for one of its agents, and what they are in that agent's gateway. */
static const struct {
	const char *of_server, *of_gateway;
} paths[] = {
	{ "/houmao/agents/{" MR_GATEWAY_AGENT_REF "}/mail/", "/v1/mail/" },
	{ "/houmao/agents/{" MR_GATEWAY_AGENT_REF "}/gateway/", "/v1/" },
};

/* NULL when it is no such route. */
static const char *own_route(struct mr_arena *arena, const char *route)
{
	size_t method = route ? strcspn(route, " ") + 1 : 0;

	for (size_t i = 0; route && i < MR_LEN(paths); i++) {
		if (mr_str_starts(route + method, paths[i].of_server))
			return mr_arena_printf(arena, "%.*s%s%s", (int)method, route,
				paths[i].of_gateway, route + method + strlen(paths[i].of_server));
	}
	return NULL;
}

struct mr_op_table mr_gateway_table(struct mr_arena *arena)
{
	const struct mr_op **ops = mr_arena_array(arena, mr_nouns.len + 2, sizeof(*ops));
	struct mr_op_table table = { .ops = ops, .contract = &mr_contract_gateway };

	ops[table.len++] = &op_health;
	ops[table.len++] = &op_status;
	for (size_t i = 0; i < mr_nouns.len; i++) {
		const char *route = own_route(arena, mr_nouns.ops[i]->route);
		struct mr_op *op;

		if (!route)
			continue;
		op = mr_arena_memdup(arena, mr_nouns.ops[i], sizeof(*op));
		op->route = route;
		ops[table.len++] = op;
	}
	return table;
}
