/* surface/http/media.h - media types in Accept and Content-Type. Pure. */
#pragma once

#include "surface/http/request.h"

/* Is this header's value that media type, parameters aside? NULL is none. */
bool mr_http_media_is(const char *content_type, const char *type);
/* Would the client take that media type? Ranges count, q=0 is a no. Without the header: no. */
bool mr_http_media_accepts(const struct mr_http_request *req, const char *type);
