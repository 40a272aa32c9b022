/* surface/web/web.c - The routes of pages, actions and what pages load. */
#include "surface/web/web.h"

#include "surface/http/media.h"
#include "surface/web/action.h"
#include "surface/web/asset.h"
#include "surface/web/live.h"
#include "surface/web/sign.h"
#include "surface/web/template_set.h"
#include "surface/web/view.h"

#include <string.h>

enum { OWN_ROUTES = 4 + MR_WEB_SIGN_ROUTES };

static void show_page(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct mr_web_bound *bound = req->match.route->arg;
	struct mr_web_view view;

	mr_web_view_begin(&view, bound->web, req, resp);
	mr_web_view_show(&view, bound->page, 200, NULL);
}

static void show_nothing(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct mr_web_bound *bound = req->match.route->arg;

	mr_web_view_fail(bound->web, req, resp, 404, "There is no such page.");
}

/* Programs that ask for the root are told what they were told before there were pages. */
static void show_root(const struct mr_http_request *req, struct mr_http_response *resp)
{
	if (!mr_http_media_accepts(req, "text/html") || strcmp(req->path, "/") != 0) {
		mr_http_response_error(resp, 404, "Not Found");
		return;
	}
	mr_http_response_header(resp, "Location", "/mail");
	mr_http_response_body(resp, 303, "text/plain; charset=utf-8",
		mr_bytes_text("The pages are at /mail\n"));
}

/* ---- routes ---- */

static void add_route(struct mr_web *web, const char *method, const char *pattern,
	mr_http_handler *handler, unsigned flags, const void *arg)
{
	web->routes[web->routes_len++] =
		(struct mr_http_route){ method, pattern, handler, flags, arg };
}

static const struct mr_web_bound *bind(struct mr_web *web, const struct mr_web_page *page,
	const struct mr_web_action *action)
{
	const struct mr_web_bound bound = { web, page, action };

	return mr_arena_memdup(web->arena, &bound, sizeof(bound));
}

static void make_routes(struct mr_web *web)
{
	web->routes = mr_arena_array(web->arena,
		mr_web_pages_count + mr_web_actions_count + OWN_ROUTES, sizeof(*web->routes));
	add_route(web, "GET", "/", show_root, MR_ROUTE_INLINE | MR_ROUTE_OPEN, NULL);
	add_route(web, "GET", MR_WEB_ASSET_PATTERN, mr_web_asset_show,
		MR_ROUTE_INLINE | MR_ROUTE_OPEN, web->assets);
	add_route(web, "GET", MR_WEB_LIVE_PATTERN, mr_web_live_open,
		MR_ROUTE_PAGE | MR_ROUTE_NO_HEAD, web->live);
	mr_web_sign_routes(web->routes + web->routes_len, bind(web, NULL, NULL));
	web->routes_len += MR_WEB_SIGN_ROUTES;
	for (size_t i = 0; i < mr_web_pages_count; i++)
		add_route(web, "GET", mr_web_pages[i]->pattern, show_page,
			MR_ROUTE_SLASH | MR_ROUTE_PAGE, bind(web, mr_web_pages[i], NULL));
	for (size_t i = 0; i < mr_web_actions_count; i++)
		add_route(web, "POST", mr_web_actions[i]->pattern, mr_web_action_run,
			MR_ROUTE_TASKS | MR_ROUTE_PAGE, bind(web, NULL, mr_web_actions[i]));
	add_route(web, "GET", "/mail/{rest...}", show_nothing, MR_ROUTE_PAGE,
		bind(web, NULL, NULL));
}

struct mr_web *mr_web_new(const struct mr_app *app)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_web *web = mr_arena_alloc(arena, sizeof(*web));

	web->app = app;
	web->arena = arena;
	web->templates = mr_web_templates_new();
	web->assets = mr_web_asset_base(arena);
	mr_rand_fill(app->rand, web->key.bytes, sizeof(web->key.bytes));
	web->live = mr_web_live_new(app);
	make_routes(web);
	return web;
}

void mr_web_free(struct mr_web *web)
{
	if (!web)
		return;
	mr_web_live_free(web->live);
	mr_web_templates_free(web->templates);
	mr_arena_free(web->arena);
}

const struct mr_http_route *mr_web_routes(struct mr_web *web, size_t *out_count)
{
	*out_count = web->routes_len;
	return web->routes;
}
