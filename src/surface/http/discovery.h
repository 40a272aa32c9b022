/*
 * surface/http/discovery.h - the OAuth metadata that clients read before they authenticate:
 * /.well-known/oauth-*.
 *
 * Mailroom issues no tokens: oauth-authorization-server says so. Where other servers do
 * (oauth.resource and oauth.authorization_servers), oauth-protected-resource names them (RFC 9728),
 * and so does the challenge of 401; otherwise it is 404.
 */
#pragma once

#include "app/settings.h"
#include "surface/http/route.h"

enum { MR_DISCOVERY_ROUTES = 4 };

/* The server's `app` must be a struct mr_app. */
extern const struct mr_http_route mr_discovery_routes[MR_DISCOVERY_ROUTES];

/* What WWW-Authenticate says; NULL: nothing more than "Bearer". */
const char *mr_discovery_challenge(struct mr_arena *arena, const struct mr_settings *settings);
