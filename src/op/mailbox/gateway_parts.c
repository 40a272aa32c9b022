/* op/mailbox/gateway_parts.c - starts and stops what runs beside the routes of a gateway: the
 * notifiers of its agents. */
#include "op/mailbox/gateway_parts.h"

#include "base/keeper.h"
#include "base/oom.h"
#include "base/shelf.h"
#include "op/mailbox/gateway_service.h"

#include <stdlib.h>

#define AGENTS "/houmao/agents"

struct mr_gateway_parts {
	struct mr_notifier_hub *notifiers;
	struct mr_keepers *keepers;
	struct mr_shelf *shelf;
};

static enum mr_code start_notifiers(const struct mr_app *app, struct mr_notifier_hub **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_call call = { .app = app, .cx = { .arena = arena } };
	struct mr_notifier_hub_config config = {
		.clock = app->clock,
		.rand = app->rand,
		.is_early = true,
	};
	struct mr_mailbox_place place = { NULL };
	enum mr_code rc;

	/* Without a registry there are no agents but those that ask. */
	if (!app->gateway && !mr_mail_session_place(&call, &place))
		config.registry = place.registry;
	rc = mr_notifier_hub_open(&config, out, err);
	if (!rc && app->gateway)
		mr_notifier_hub_add(*out, &app->gateway->session);
	return rc;
}

enum mr_code mr_gateway_parts_start(const struct mr_app *app, struct mr_gateway_parts **out,
	struct mr_err *err)
{
	struct mr_notifier_hub *notifiers = NULL;
	struct mr_gateway_parts *parts;
	enum mr_code rc = start_notifiers(app, &notifiers, err);

	if (rc)
		return rc;
	parts = malloc(sizeof(*parts));
	if (!parts)
		mr_oom(sizeof(*parts));
	*parts = (struct mr_gateway_parts){
		.notifiers = notifiers,
		.keepers = mr_keepers_new(),
		.shelf = mr_shelf_new(),
	};
	*out = parts;
	return MR_OK;
}

void mr_gateway_parts_stop(struct mr_gateway_parts *parts)
{
	if (parts)
		mr_notifier_hub_stop(parts->notifiers);
}

void mr_gateway_parts_free(struct mr_gateway_parts *parts)
{
	if (!parts)
		return;
	mr_notifier_hub_close(parts->notifiers);
	mr_keepers_free(parts->keepers);
	mr_shelf_free(parts->shelf);
	free(parts);
}

struct mr_notifier_hub *mr_gateway_parts_notifiers(const struct mr_gateway_parts *parts)
{
	return parts ? parts->notifiers : NULL;
}

void mr_gateway_parts_lend(const struct mr_gateway_parts *parts, struct mr_ctx *cx)
{
	if (!parts)
		return;
	cx->keepers = parts->keepers;
	cx->shelf = parts->shelf;
}

void mr_gateway_parts_listens(struct mr_gateway_parts *parts, const char *url)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	mr_notifier_hub_listens(parts->notifiers,
		url ? mr_arena_printf(arena, "%s" AGENTS, url) : NULL);
}

const char *mr_gateway_parts_url(struct mr_call *call, const struct mr_mailbox_session *session,
	const char **api)
{
	struct mr_mailbox_gateway gateway;

	*api = call->app->gateway ? "/v1" : "";
	if (!call->app->gateway)
		return mr_notifier_hub_url(call->app->gateway_parts->notifiers, call->cx.arena,
			session->agent_id);
	return mr_mailbox_gateway_find(&call->cx, session, &gateway) ? gateway.base_url : NULL;
}
