/*
 * surface/http/access.h - who may ask: from a request to a principal, its rights and its limits.
 *
 * The server asks for every request, before its handler runs, and puts the principal into the
 * request. A credential that was shown counts: one of the static tokens with its role, or a JWT
 * with the roles of its claim. Without one: whoever sits on this machine may do everything
 * (HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED, unless JWTs are asked for), others have the default role
 * when no token is configured at all, else they are refused: 401 {"detail":"Unauthorized"}.
 *
 * "On this machine" is the peer's address being loopback, no header that proxies add, and no
 * Origin that only "*" lets in. Forwarded addresses are believed of HTTP_TRUSTED_PROXIES alone; a
 * forwarded request is never local.
 *
 * Safe from any thread.
 */
#pragma once

#include "op/call.h"
#include "op/op.h"
#include "op/principal.h"
#include "surface/http/request.h"

struct mr_http_access;

/* ---- for handlers ---- */

enum mr_http_kind { MR_HTTP_OTHER, MR_HTTP_TOOL, MR_HTTP_RESOURCE };

/* One thing a request wants done: a JSON-RPC request, an operation. */
struct mr_http_task {
	enum mr_http_kind kind;
	const char *name; /* of the tool: it has a limit of its own; or NULL */
	unsigned needs;   /* enum mr_need. Of a tool nobody knows: MR_NEED_WRITE */
};
struct mr_http_task mr_http_task_of(const struct mr_op *op);

/*
 * May the request's principal do all of these, now? 200; otherwise nothing may be done, and `resp`
 * says why: 403 {"detail":"Forbidden"}, or 429 {"detail":"Rate limit exceeded"} with Retry-After.
 * Where there are limits, `resp` has RateLimit-* headers afterwards. For handlers of routes with
 * MR_ROUTE_TASKS, after the body was read: a batch is asked about as a whole. A tool that calls
 * another one has the needs of that one.
 */
int mr_http_access_check(const struct mr_http_request *req, struct mr_http_response *resp,
	const struct mr_http_task *tasks, size_t count);

/* Give the call the principal's rights, the request's id, and the header X-Agent-Token. */
void mr_http_access_call(const struct mr_http_request *req, struct mr_call *call);
