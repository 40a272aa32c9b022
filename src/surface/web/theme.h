/* surface/web/theme.h - light, dark, or as the system has it: a cookie of the browser. */
#pragma once

#include "surface/web/page.h"

/* "light", "dark" or "system". */
const char *mr_web_theme(const struct mr_http_request *req);
/* Have the browser remember it; anything else is "system". */
void mr_web_theme_set(struct mr_web_view *view, const char *theme);
