/*
 * surface/web/csrf.h - the proof in each form that a page of this server made it.
 *
 * It is a code over who asks and the browser's session, with a key that this process drew when it
 * started. Another site can make a browser post a form, but cannot read what belongs into it.
 */
#pragma once

#include "surface/http/request.h"

struct mr_web_csrf_key {
	uint8_t bytes[32];
};

/* What the field `csrf` of forms for this request's browser must have; in its arena. */
const char *mr_web_csrf(const struct mr_web_csrf_key *key, const struct mr_http_request *req);
/* Is `given` (or NULL) that, and does the browser not say that another site sent the form? */
bool mr_web_csrf_is_good(const struct mr_web_csrf_key *key, const struct mr_http_request *req,
	const char *given);
