/* op/mailbox/gateway_service.c - an agent's gateway: claimed, begun, ended, and what it serves. */
#include "op/mailbox/gateway_service.h"

#include "base/fs.h"
#include "op/contract.h"
#include "op/mailbox/contract_gateway.h"
#include "op/mailbox/gateway_parts.h"
#include "op/nouns.h"

#include <string.h>

/* --- the process --- */

enum mr_code mr_gateway_open(struct mr_call *call, const char *agent_id, const char *agent_name,
	const char *host, struct mr_gateway *out)
{
	const struct mr_mailbox_selector selector = { agent_id, agent_name };
	struct mr_mailbox_agent agent = { .ref = NULL };
	struct mr_mailbox_place place;
	enum mr_code rc = mr_mail_session_place(call, &place);

	if (!rc)
		rc = mr_mailbox_agent_select(&call->cx, &place, &selector, &agent);
	if (rc)
		return rc;
	out->session = agent.manifest;
	out->registry = place.registry;
	out->instance.registry = place.registry;
	out->instance.host = host;
	return mr_mailbox_gateway_claim(&call->cx, &out->session, &out->instance);
}

enum mr_code mr_gateway_begin(struct mr_call *call, int port, struct mr_gateway *gateway)
{
	enum mr_code rc;

	gateway->instance.port = port;
	rc = mr_gateway_parts_start(call->app, gateway, &gateway->parts, &call->cx.err);
	return rc ? rc : mr_mailbox_gateway_publish(&call->cx, &gateway->instance);
}

void mr_gateway_stop_parts(struct mr_gateway *gateway)
{
	mr_gateway_parts_stop(gateway->parts);
	gateway->parts = NULL;
}

void mr_gateway_end(struct mr_gateway *gateway)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system(), .rand = mr_rand_system() };

	mr_gateway_stop_parts(gateway);
	if (gateway->instance.session)
		mr_mailbox_gateway_withdraw(&cx, &gateway->instance);
}

bool mr_gateway_is_local(const struct mr_gateway *gateway)
{
	return gateway && mr_str_eq(gateway->instance.host, "127.0.0.1");
}

/* --- whose mail --- */

/* By its id, or else by its name. */
static enum mr_code find_agent(struct mr_call *call, const char *registry,
	struct mr_mailbox_session *out)
{
	struct mr_mailbox_record record;
	const char *id = mr_mailbox_registry_path(call->cx.arena, registry, call->agent_ref);
	enum mr_code rc;

	if (!strchr(call->agent_ref, '/') && mr_fs_exists(AT_FDCWD, id))
		rc = mr_mailbox_registry_find(&call->cx, registry, call->agent_ref, NULL, &record);
	else
		rc = mr_mailbox_registry_find(&call->cx, registry, NULL, call->agent_ref, &record);
	return rc ? rc : mr_mailbox_registry_manifest(&call->cx, &record, out);
}

enum mr_code mr_gateway_session(struct mr_call *call, struct mr_mail_session *out)
{
	struct mr_mailbox_place place;
	enum mr_code rc;

	if (call->agent_ref) {
		rc = mr_mail_session_place(call, &place);
		if (!rc)
			rc = find_agent(call, place.registry, &out->agent.manifest);
		out->agent.ref = call->agent_ref;
	} else {
		rc = mr_mailbox_session_read(&call->cx, call->app->gateway->session.path,
			&out->agent.manifest);
		out->agent.ref = call->app->gateway->session.agent_id;
	}
	if (rc)
		return rc;
	out->binding = out->agent.manifest.binding;
	return mr_mail_session_bound(call, &out->agent.manifest);
}

/* --- what is served --- */

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
