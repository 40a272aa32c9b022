/*
 * op/mailbox/gateway_parts.h - what runs beside the routes of a gateway, in threads of its own.
 *
 * There is one place where such a part starts and stops: mr_gateway_parts_start() and
 * mr_gateway_parts_stop(), called by `mailroom gateway` for its agent and by `mailroom serve` for
 * all agents.
 */
#pragma once

#include "mailbox/notifier_hub.h"
#include "op/call.h"

struct mr_gateway_parts;

/*
 * Before the server listens, so that its handlers find the parts in app->gateway_parts. Without
 * app->gateway: of `mailroom serve`, for every agent of the registry. `app` lives until
 * mr_gateway_parts_stop().
 */
MR_CHECK enum mr_code mr_gateway_parts_start(const struct mr_app *app,
	struct mr_gateway_parts **out, struct mr_err *err);
/* Before the server stops: threads end, and handlers that wait for them return. NULL is fine. */
void mr_gateway_parts_stop(struct mr_gateway_parts *parts);
/* After it has stopped: no handler uses them any more. NULL is fine. */
void mr_gateway_parts_free(struct mr_gateway_parts *parts);

/* `mailroom serve` listens at this URL, or (NULL) the agent's gateway at that of its record, which
 * is there: from now on prompts can name it, and are made. */
void mr_gateway_parts_listens(struct mr_gateway_parts *parts, const char *url);
/* The notifiers of the agents; NULL when there are none. */
struct mr_notifier_hub *mr_gateway_parts_notifiers(const struct mr_gateway_parts *parts);
/* For a request that uses a mailbox root: what the process keeps for all of them. */
void mr_gateway_parts_lend(const struct mr_gateway_parts *parts, struct mr_ctx *cx);
/* Where the mail of this session's agent is served by this process, and what stands before /mail/
 * there; NULL: not known yet. */
const char *mr_gateway_parts_url(struct mr_call *call, const struct mr_mailbox_session *session,
	const char **api);
