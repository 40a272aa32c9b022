/* surface/http/cookie.h - cookies of a request. Pure. */
#pragma once

#include "surface/http/request.h"

/* The value of the first cookie of that name, in the arena; NULL: there is none. */
const char *mr_http_cookie(const struct mr_http_request *req, const char *name);
