/*
 * surface/http/admit.h - everything about a request that can be decided from its headers. Pure.
 *
 * In this order: framing (400), size of the headers (431), Host and Origin (403), a preflight's
 * answer (204), who asks (401, 403, 429), route (400, 404, 405, 414), query (400), length of the
 * body (413, or 422). A JWT is verified later, on a thread that may wait, so an unknown route is
 * 404 even with a bad JWT.
 */
#pragma once

#include "surface/http/access.h"
#include "surface/http/cors.h"
#include "surface/http/host_check.h"
#include "surface/http/request.h"

/* A body that is not wanted is read and dropped up to this much past the limit: a client that is
 * still sending when it is hung up on does not see the answer. */
enum { MR_HTTP_DRAIN_BYTES = 4 * 1024 * 1024 };

struct mr_http_rules {
	struct mr_http_host_check guard;
	struct mr_http_cors cors;
	struct mr_http_access *access; /* or NULL */
	const struct mr_http_route *routes;
	size_t routes_len;
	size_t max_header_bytes;
	size_t max_body_bytes;
};

/* What is known of a request besides its headers. */
struct mr_http_arrival {
	struct mr_http_framing framing;
	const char *malformed; /* what is wrong with its bytes (wire.h), or NULL */
	size_t header_bytes;
	bool is_query_bad;
	const char *local; /* the address it came to, where that counts; or NULL */
};

enum mr_http_verdict {
	MR_HTTP_WELCOME, /* accepted; without req->principal, if mr_http_access_settle() agrees */
	MR_HTTP_REFUSED, /* `resp` is the answer; the body, if any, is to be dropped first */
	MR_HTTP_CUT,     /* the same, to be answered at once, and the connection closed */
};

/* The answer to a welcome request whose body is longer than `max` bytes. */
void mr_http_admit_too_long(const struct mr_http_request *req, size_t max,
	struct mr_http_response *resp);

/* Sets the request's route and parameters, and the response of a request that is not welcome. */
enum mr_http_verdict mr_http_admit(const struct mr_http_rules *rules,
	const struct mr_http_arrival *arrival, struct mr_http_request *req,
	struct mr_http_response *resp);
