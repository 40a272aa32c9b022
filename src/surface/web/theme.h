/* surface/web/theme.h - light, dark, or as the system has it: a cookie of the browser. */
#pragma once

#include "surface/http/request.h"

/* "light", "dark" or "system". */
const char *mr_web_theme(const struct mr_http_request *req);
