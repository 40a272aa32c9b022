/*
 * surface/web/web.h - the pages at /mail: routes, layout, headers, errors.
 *
 * Every page is whole without scripts. Answers carry a content policy that lets nothing run but the
 * built-in files; nothing that somebody wrote is ever HTML (page.h). A template is parsed when a
 * page first needs it.
 */
#pragma once

#include "op/call.h"
#include "surface/http/request.h"
#include "surface/http/route.h"

struct mr_web;

/* `app` must outlive it. */
struct mr_web *mr_web_new(const struct mr_app *app);
/* NULL is fine. */
void mr_web_free(struct mr_web *web);
/* Its routes, living as long as it does. The server's `app` must be the struct mr_app. */
const struct mr_http_route *mr_web_routes(struct mr_web *web, size_t *out_count);
