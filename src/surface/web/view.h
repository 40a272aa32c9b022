/* surface/web/view.h - a page or an action being answered: for web.c and action.c. */
#pragma once

#include "surface/web/csrf.h"
#include "surface/web/page.h"

struct mr_web_live;
struct mr_web_templates;

struct mr_web {
	const struct mr_app *app;
	struct mr_arena *arena;
	struct mr_web_templates *templates;
	const char *assets;
	struct mr_web_csrf_key key;
	struct mr_web_live *live;
	struct mr_http_route *routes;
	size_t routes_len;
};

/* An argument of a route: one of the two. */
struct mr_web_bound {
	const struct mr_web *web;
	const struct mr_web_page *page;
	const struct mr_web_action *action;
};

/* Headers that every answer with text of a page has. */
void mr_web_view_headers(struct mr_http_response *resp);
void mr_web_view_begin(struct mr_web_view *view, const struct mr_web *web,
	const struct mr_http_request *req, struct mr_http_response *resp);
/* Run what the page asks, and show it; `error` (or NULL) is what was wrong with what was sent, and
 * `status` goes with it. An error page when that is not possible. */
void mr_web_view_show(struct mr_web_view *view, const struct mr_web_page *page, int status,
	const char *error);
/* The error page. */
void mr_web_view_fail(const struct mr_web *web, const struct mr_http_request *req,
	struct mr_http_response *resp, int status, const char *message);
/* The status that goes with view->err. */
int mr_web_view_status(const struct mr_web_view *view);
