/*
 * tests/fuzz/fuzz_route.c - "METHOD path" against a fixed table. What matches, written again from
 * its pattern with every byte of its parameters escaped, matches the same route with the same
 * parameters.
 */
#include "surface/http/route.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static void handler(const struct mr_http_request *req, struct mr_http_response *resp)
{
	(void)req, (void)resp;
}

static const struct mr_http_route routes[] = {
	{ "GET", "/health", handler, 0 },
	{ "POST", "/mcp", handler, MR_ROUTE_SLASH },
	{ "GET", "/mail/projects", handler, 0 },
	{ "GET", "/mail/{project}", handler, MR_ROUTE_SLASH },
	{ "POST", "/mail/{project}/inbox/{agent}/mark-read", handler, 0 },
	{ "GET", "/files/{project}/{path...}", handler, 0 },
};

static void rebuild(struct mr_buf *path, const struct mr_http_match *match)
{
	size_t param = 0;

	for (const char *p = match->route->pattern; *p; p++) {
		if (*p != '{') {
			mr_buf_putc(path, *p);
			continue;
		}
		for (const char *v = match->params[param++].value; *v; v++)
			mr_buf_printf(path, *v == '/' ? "/" : "%%%02X", (unsigned char)*v);
		p += strcspn(p, "}");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf again MR_CLEANUP(mr_buf_release) = { 0 };
	char *method = mr_arena_strndup(arena, len ? (const char *)data : "", len);
	char *path = method + strcspn(method, " ");
	struct mr_http_match first, second;
	int status;

	mr_buf_init(&again, (size_t)4 * MR_ROUTE_PATH_BYTES);
	if (*path)
		*path++ = '\0';
	status = mr_http_route_match(arena, routes, MR_LEN(routes), method, path, &first);
	if ((status == 200) != (first.route != NULL) || (status == 405) != (first.allow != NULL))
		abort();
	if (status != 200)
		return 0;
	rebuild(&again, &first);
	/* Escapes make it longer than a path may be. */
	if (again.len > MR_ROUTE_PATH_BYTES)
		return 0;
	if (mr_http_route_match(arena, routes, MR_LEN(routes), method, mr_buf_text(&again),
		    &second) != 200 ||
		second.len != first.len)
		abort();
	for (size_t i = 0; i < first.len; i++) {
		if (strcmp(first.params[i].value, second.params[i].value) != 0)
			abort();
	}
	return 0;
}
