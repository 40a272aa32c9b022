/* surface/http/cookie.c - Reads the header Cookie. */
#include "surface/http/cookie.h"

#include <string.h>

const char *mr_http_cookie(const struct mr_http_request *req, const char *name)
{
	const char *at = mr_http_request_header(req, "Cookie");
	size_t len = strlen(name);

	while (at && *at) {
		at += strspn(at, " ;");
		if (strncmp(at, name, len) == 0 && at[len] == '=') {
			at += len + 1;
			return mr_arena_strndup(req->arena, at, strcspn(at, "; "));
		}
		at += strcspn(at, ";");
	}
	return NULL;
}
