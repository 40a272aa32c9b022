/* surface/web/theme.c - Which colours a browser has chosen. */
#include "surface/web/theme.h"

#include "base/str.h"
#include "surface/web/cookie.h"

const char *mr_web_theme(const struct mr_http_request *req)
{
	const char *chosen = mr_web_cookie(req, "mailroom_theme");

	if (mr_str_eq(chosen, "light"))
		return "light";
	return mr_str_eq(chosen, "dark") ? "dark" : "system";
}
