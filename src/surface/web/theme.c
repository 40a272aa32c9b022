/* surface/web/theme.c - Which colours a browser has chosen. */
#include "surface/web/theme.h"

#include "base/str.h"
#include "surface/http/cookie.h"

enum { YEAR_S = 365 * 24 * 3600 };

const char *mr_web_theme(const struct mr_http_request *req)
{
	const char *chosen = mr_http_cookie(req, "mailroom_theme");

	if (mr_str_eq(chosen, "light"))
		return "light";
	return mr_str_eq(chosen, "dark") ? "dark" : "system";
}

void mr_web_theme_set(struct mr_web_view *view, const char *theme)
{
	bool is_known = mr_str_eq(theme, "light") || mr_str_eq(theme, "dark");

	mr_http_response_add_header(view->resp, "Set-Cookie",
		mr_arena_printf(view->req->arena,
			"mailroom_theme=%s; Path=/mail; SameSite=Lax; Max-Age=%d",
			is_known ? theme : "", is_known ? YEAR_S : 0));
}
