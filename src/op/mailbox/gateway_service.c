/* op/mailbox/gateway_service.c - an agent's gateway: claimed, found by others, and given up. */
#include "op/mailbox/gateway_service.h"

#include "base/fs.h"

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

const char *mr_gateway_path(struct mr_call *call, const struct mr_gateway *gateway,
	const char *name)
{
	return mr_mailbox_gateway_path(call->cx.arena, &gateway->session, name);
}

enum mr_code mr_gateway_begin(struct mr_call *call, int port, struct mr_gateway *gateway)
{
	gateway->instance.port = port;
	return mr_mailbox_gateway_publish(&call->cx, &gateway->instance);
}

void mr_gateway_end(struct mr_gateway *gateway)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system(), .rand = mr_rand_system() };

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
