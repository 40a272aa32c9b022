/* surface/web/sign.h - a browser signs in and out, and chooses its colours. */
#pragma once

#include "surface/http/route.h"

enum { MR_WEB_SIGN_ROUTES = 4 };
/* Fill rows of a route table, each with the same argument: a struct mr_web_bound. */
void mr_web_sign_routes(struct mr_http_route out[MR_WEB_SIGN_ROUTES], const void *bound);
