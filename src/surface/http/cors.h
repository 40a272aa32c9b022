/*
 * surface/http/cors.h - the CORS headers for pages of other origins. Pure.
 *
 * It permits nothing by itself: host_check.h decides which Origin may send requests, and also knows
 * the origins listed here. "*" and credentials are never combined.
 */
#pragma once

#include "surface/http/request.h"

struct mr_http_cors {
	bool is_enabled;
	bool with_credentials;
	struct mr_texts origins; /* none: all that may ask; "*": all there are */
	struct mr_texts methods; /* "*": all */
	struct mr_texts headers; /* "*": all */
};

/* Is "*" among the origins? */
bool mr_http_cors_is_any(const struct mr_http_cors *cors);
/* Put the headers for the request's Origin, if any, into the response. */
void mr_http_cors_mark(const struct mr_http_cors *cors, const struct mr_http_request *req,
	struct mr_http_response *resp);
/* Answer a preflight; false when this is none, or CORS is off. */
bool mr_http_cors_preflight(const struct mr_http_cors *cors, const struct mr_http_request *req,
	struct mr_http_response *resp);
