/*
 * mailbox/mail_gateway.h - the transport over a gateway: an agent's mail, asked for over HTTP.
 *
 * For mail that cannot be opened here while the agent's gateway serves it, and for agents of
 * another server. What is refused, the gateway refuses; its words are the errors'. Requests to send
 * carry a key, so one that got no answer is repeated without harm.
 */
#pragma once

#include "mailbox/mail.h"

/* What the gateway says of the mailbox. */
struct mr_mail_gateway_status {
	const char *transport, *principal_id, *address, *bindings_version;
};

/* Where a gateway is, and how to show who asks. */
struct mr_mail_gateway_place {
	const char *base;   /* its mail routes are below it: "http://127.0.0.1:9999/v1/mail" */
	const char *socket; /* the Unix socket of the same server, which is tried first; or NULL */
	const char *token;  /* sent to it; or NULL */
};

/*
 * Ask the gateway for its status, and open its mail. MR_EREMOTE, MR_ETIMEOUT: nobody answers there;
 * MR_ECONFLICT: it refuses. Texts live in cx->arena.
 */
MR_CHECK enum mr_code mr_mail_gateway_open(struct mr_ctx *cx,
	const struct mr_mail_gateway_place *place, struct mr_mail_gateway_status *status,
	struct mr_mail *out);
