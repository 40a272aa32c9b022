/* surface/web/sign.c - Signs a browser in and out, and remembers which colours it wants. */
#include "surface/web/sign.h"

#include "surface/http/access.h"
#include "surface/http/sign_in.h"
#include "surface/web/action.h"
#include "surface/web/theme.h"
#include "surface/web/view.h"

static const struct mr_web_page page = {
	.pattern = "/mail/sign-in",
	.template = "sign-in.html",
};

static const struct mr_web *web_of(const struct mr_http_request *req)
{
	const struct mr_web_bound *bound = req->match.route->arg;

	return bound->web;
}

static void show(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_web_view view;

	mr_web_view_begin(&view, web_of(req), req, resp);
	mr_web_view_show(&view, &page, 200, NULL);
}

/* Browsers send it back to pages alone, and never when another site leads here. */
static void set_session(const struct mr_http_request *req, struct mr_http_response *resp,
	const char *name)
{
	bool is_tls = mr_str_eq(mr_http_request_header(req, "X-Forwarded-Proto"), "https");

	mr_http_response_add_header(resp, "Set-Cookie",
		mr_arena_printf(req->arena,
			"%s=%s; Path=/mail; HttpOnly; SameSite=Strict; Max-Age=%d%s",
			MR_HTTP_SESSION_COOKIE, name, *name ? MR_HTTP_SESSION_S : 0,
			is_tls ? "; Secure" : ""));
}

static const char *reason(int status)
{
	switch (status) {
	case 401:
		return "This token is not one that the server knows.";
	case 429:
		return "Too many wrong tokens came from your address. Wait a minute, and try "
		       "again.";
	default:
		return "The server cannot check this token now, because it does not reach the keys "
		       "of its issuer. Try again in a minute.";
	}
}

static void sign_in(const struct mr_http_request *req, struct mr_http_response *resp)
{
	/* Ours until it is answered; who asks is about to change. */
	struct mr_http_request own = *req;
	struct mr_web_view view;
	const char *name, *token;
	int status = 403;

	mr_web_view_begin(&view, web_of(req), &own, resp);
	if (mr_web_action_read(&view)) {
		mr_web_view_show(&view, &page, mr_web_view_status(&view),
			mr_arena_strdup(req->arena, view.err.msg));
		return;
	}
	token = mr_web_value(&view, "token");
	status = mr_http_access_sign_in(&own, resp, token ? mr_str_trim(req->arena, token) : "",
		&name);
	if (status != 200) {
		mr_web_view_show(&view, &page, status, reason(status));
		return;
	}
	mr_http_access_sign_out(req);
	set_session(req, resp, name);
	mr_web_action_lead(&view, NULL);
}

static void sign_out(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_web_view view;

	mr_web_view_begin(&view, web_of(req), req, resp);
	if (mr_web_action_read(&view)) {
		mr_web_view_fail(view.web, req, resp, mr_web_view_status(&view), view.err.msg);
		return;
	}
	mr_http_access_sign_out(req);
	set_session(req, resp, "");
	mr_web_action_lead(&view, page.pattern);
}

static void choose_theme(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_web_view view;

	mr_web_view_begin(&view, web_of(req), req, resp);
	if (mr_web_action_read(&view)) {
		mr_web_view_fail(view.web, req, resp, mr_web_view_status(&view), view.err.msg);
		return;
	}
	mr_web_theme_set(&view, mr_web_value(&view, "theme"));
	mr_web_action_lead(&view, NULL);
}

void mr_web_sign_routes(struct mr_http_route out[MR_WEB_SIGN_ROUTES], const void *bound)
{
	const struct mr_http_route routes[MR_WEB_SIGN_ROUTES] = {
		{ "GET", "/mail/sign-in", show, MR_ROUTE_OPEN | MR_ROUTE_PAGE, bound },
		{ "POST", "/mail/sign-in", sign_in, MR_ROUTE_OPEN | MR_ROUTE_PAGE, bound },
		/* Whoever may read may do these. */
		{ "POST", "/mail/sign-out", sign_out, MR_ROUTE_TASKS | MR_ROUTE_PAGE, bound },
		{ "POST", "/mail/theme", choose_theme, MR_ROUTE_TASKS | MR_ROUTE_PAGE, bound },
	};

	for (size_t i = 0; i < MR_WEB_SIGN_ROUTES; i++)
		out[i] = routes[i];
}
