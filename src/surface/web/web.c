/* surface/web/web.c - Runs the operations of a page or an action and answers with HTML. */
#include "surface/web/web.h"

#include "app/principal.h"
#include "base/buf.h"
#include "base/oom.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "surface/http/access.h"
#include "surface/http/media.h"
#include "surface/http/wait.h"
#include "surface/web/asset.h"
#include "surface/web/form.h"
#include "surface/web/page.h"
#include "surface/web/template_set.h"
#include "surface/web/theme.h"
#include "text/markdown.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 8 << 20, OWN_ROUTES = 5 };

struct mr_web {
	const struct mr_app *app;
	struct mr_arena *arena;
	const struct mr_web_templates *templates;
	const char *assets;
	struct mr_http_route *routes;
	size_t routes_len;
};

/* A route's argument. */
struct bound {
	const struct mr_web *web;
	const struct mr_web_page *page;
};

static void release_buf(void *buf)
{
	mr_buf_release(buf);
}

/* ---- what every answer says ---- */

static void add_headers(struct mr_http_response *resp)
{
	mr_http_response_header(resp, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
		"connect-src 'self'; form-action 'self'; base-uri 'none'; "
		"frame-ancestors 'none'");
	mr_http_response_header(resp, "X-Frame-Options", "DENY");
	mr_http_response_header(resp, "Referrer-Policy", "same-origin");
	mr_http_response_header(resp, "Cross-Origin-Opener-Policy", "same-origin");
}

static void put_who(struct mr_out *out, const struct mr_principal *who)
{
	mr_out_map(out, "who");
	mr_out_text(out, "name", who->name);
	mr_out_bool(out, "is_local", who->is_local);
	mr_out_bool(out, "may_write", who->roles & MR_ROLE_WRITER);
	mr_out_bool(out, "is_admin", who->roles & MR_ROLE_ADMIN);
	mr_out_end(out);
}

/* The values that the layout and every template have. */
static void put_frame(struct mr_web_view *view, const struct mr_web_page *page)
{
	const struct mr_http_request *req = view->req;
	struct mr_out *out = &view->out;

	mr_out_text(out, "assets", view->web->assets);
	mr_out_text(out, "path", req->path);
	mr_out_text(out, "nav", page ? page->nav : NULL);
	mr_out_text(out, "theme", mr_web_theme(req));
	mr_out_text(out, "version", MR_VERSION);
	mr_out_int(out, "now_us", mr_clock_wall_us(view->web->app->clock));
	put_who(out, req->principal);
	mr_out_map(out, "given");
	for (size_t i = 0; i < req->match.len; i++)
		mr_out_text(out, req->match.params[i].name, req->match.params[i].value);
	for (size_t i = 0; i < req->query_len; i++) {
		if (mr_web_value(view, req->query[i].name) == req->query[i].value)
			mr_out_text(out, req->query[i].name, req->query[i].value);
	}
	mr_out_end(out);
}

static void begin_view(struct mr_web_view *view, const struct mr_web *web,
	const struct mr_http_request *req, struct mr_http_response *resp)
{
	*view = (struct mr_web_view){ .web = web, .req = req, .resp = resp, .status = 200 };
	mr_out_init_tree(&view->out, req->arena);
	mr_out_map(&view->out, NULL);
}

/* Ends the view's values and shows them. */
static enum mr_code render(struct mr_web_view *view, const char *template, int status)
{
	struct mr_buf *html = mr_arena_alloc(view->req->arena, sizeof(*html));
	enum mr_code rc;

	mr_buf_init(html, PAGE_BYTES);
	mr_arena_defer(view->req->arena, release_buf, html);
	mr_out_end(&view->out);
	rc = mr_web_templates_render(view->web->templates, template, mr_out_tree(&view->out), html,
		&view->err);
	if (rc)
		return rc;
	add_headers(view->resp);
	mr_http_response_body(view->resp, status, "text/html; charset=utf-8", mr_buf_bytes(html));
	return MR_OK;
}

static void show_error(const struct mr_web *web, const struct mr_http_request *req,
	struct mr_http_response *resp, int status, const char *message)
{
	struct mr_web_view view;

	begin_view(&view, web, req, resp);
	put_frame(&view, NULL);
	mr_out_int(&view.out, "status", status);
	mr_out_text(&view.out, "message", message);
	if (render(&view, "error.html", status))
		mr_http_response_error(resp, 500, "%s", view.err.msg);
}

/* ---- for pages ---- */

const char *mr_web_value(const struct mr_web_view *view, const char *name)
{
	const char *value = mr_http_request_param(view->req, name);

	if (!value)
		value = mr_http_request_query(view->req, name);
	return value && *value ? value : NULL;
}

struct mr_call mr_web_call(const struct mr_web_view *view)
{
	struct mr_call call = mr_dispatch_call(view->web->app, view->req->arena);

	mr_http_access_call(view->req, &call);
	mr_http_wait_lend(view->req, &call.cx);
	return call;
}

enum mr_code mr_web_run(struct mr_web_view *view, const struct mr_op *op, const char *fixed,
	const struct mr_value **out)
{
	struct mr_call call = mr_web_call(view);
	struct mr_out result;
	enum mr_code rc;

	mr_out_init_tree(&result, view->req->arena);
	rc = mr_dispatch(&call, op, mr_web_form_arguments(view, op, fixed), &result);
	if (rc)
		view->err = call.cx.err;
	else
		*out = mr_out_tree(&result);
	return rc;
}

const char *mr_web_markdown(const struct mr_web_view *view, const char *md)
{
	struct mr_buf *html = mr_arena_alloc(view->req->arena, sizeof(*html));
	struct mr_err err;

	mr_buf_init(html, PAGE_BYTES);
	mr_arena_defer(view->req->arena, release_buf, html);
	if (mr_markdown_to_html(html, mr_bytes_text(md), &err))
		return "";
	return mr_buf_text(html);
}

/* ---- pages ---- */

static enum mr_code run_ask(struct mr_web_view *view, const struct mr_web_ask *ask)
{
	const struct mr_value *result;
	enum mr_code rc;

	if (ask->unless_empty && !mr_web_value(view, ask->unless_empty))
		return MR_OK;
	rc = mr_web_run(view, ask->op, ask->fixed, &result);
	if (!rc)
		mr_out_value(&view->out, ask->key, result);
	if (!rc || !ask->may_fail)
		return rc;
	mr_out_text(&view->out, mr_arena_printf(view->req->arena, "%s_error", ask->key),
		view->err.msg);
	return MR_OK;
}

static enum mr_code fill(struct mr_web_view *view, const struct mr_web_page *page)
{
	enum mr_code rc = MR_OK;

	put_frame(view, page);
	for (const struct mr_web_ask *ask = page->asks; !rc && ask && ask->key; ask++)
		rc = run_ask(view, ask);
	if (!rc && page->fill)
		rc = page->fill(view);
	return rc;
}

static int status_of(const struct mr_err *err)
{
	return mr_contract_http_status(&mr_contract_plain, err);
}

static void show_page(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct bound *bound = req->match.route->arg;
	struct mr_web_view view;
	enum mr_code rc;

	begin_view(&view, bound->web, req, resp);
	rc = fill(&view, bound->page);
	if (!rc)
		rc = render(&view, bound->page->template, view.status);
	if (rc)
		show_error(bound->web, req, resp, status_of(&view.err), view.err.msg);
}

static void show_nothing(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct bound *bound = req->match.route->arg;

	show_error(bound->web, req, resp, 404, "There is no such page.");
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

static const struct bound *bind(struct mr_web *web, const struct mr_web_page *page)
{
	const struct bound bound = { web, page };

	return mr_arena_memdup(web->arena, &bound, sizeof(bound));
}

static void make_routes(struct mr_web *web)
{
	web->routes =
		mr_arena_array(web->arena, mr_web_pages_count + OWN_ROUTES, sizeof(*web->routes));
	add_route(web, "GET", "/", show_root, MR_ROUTE_INLINE | MR_ROUTE_OPEN, NULL);
	add_route(web, "GET", MR_WEB_ASSET_PATTERN, mr_web_asset_show,
		MR_ROUTE_INLINE | MR_ROUTE_OPEN, web->assets);
	for (size_t i = 0; i < mr_web_pages_count; i++)
		add_route(web, "GET", mr_web_pages[i]->pattern, show_page, MR_ROUTE_SLASH,
			bind(web, mr_web_pages[i]));
	add_route(web, "GET", "/mail/{rest...}", show_nothing, 0, bind(web, NULL));
}

struct mr_web *mr_web_new(const struct mr_app *app)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_web *web = mr_arena_alloc(arena, sizeof(*web));

	web->app = app;
	web->arena = arena;
	web->templates = mr_web_templates_new(arena);
	web->assets = mr_web_asset_base(arena);
	make_routes(web);
	return web;
}

void mr_web_free(struct mr_web *web)
{
	if (web)
		mr_arena_free(web->arena);
}

const struct mr_http_route *mr_web_routes(struct mr_web *web, size_t *out_count)
{
	*out_count = web->routes_len;
	return web->routes;
}
