/*
 * surface/http/route.h - which handler a request's method and path lead to. Pure: no I/O, no
 * globals.
 *
 * A pattern is "/" and segments: a literal, "{name}" for one segment, or, as the last, "{name...}"
 * for everything that is left. Literals are compared byte for byte, parameters are percent-decoded
 * once. The first row of the table that fits wins, so literals stand above parameters.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct mr_http_request;
struct mr_http_response;

/* Fills `resp`, which starts as an empty 200. */
typedef void mr_http_handler(const struct mr_http_request *req, struct mr_http_response *resp);

enum {
	MR_ROUTE_INLINE = 1,  /* the handler never blocks: run it where requests are read */
	MR_ROUTE_OPEN = 2,    /* no token needed */
	MR_ROUTE_SLASH = 4,   /* "/mcp" is also "/mcp/" */
	MR_ROUTE_NO_HEAD = 8, /* HEAD is not allowed */
	MR_ROUTE_TASKS = 16,  /* the handler calls mr_http_access_check() for what is in the body */
	MR_ROUTE_LONG_IS_422 = 32, /* a body that is too long is as wrong as any other: not 413 */
	/* Of a browser: its session (sign_in.h) counts, and without one it is led to the page
	 * where it begins. */
	MR_ROUTE_PAGE = 64,
};

enum {
	MR_ROUTE_PARAMS_MAX = 8,
	MR_ROUTE_PATH_BYTES = 8192,
};

struct mr_http_route {
	const char *method; /* "GET"; it answers HEAD too */
	const char *pattern;
	mr_http_handler *handler;
	unsigned flags;
	const void *arg; /* for the handler, as req->match.route->arg */
};

struct mr_http_param {
	const char *name;
	const char *value;
};

struct mr_http_match {
	const struct mr_http_route *route; /* NULL unless the status is 200 */
	struct mr_http_param params[MR_ROUTE_PARAMS_MAX];
	size_t len;
	const char *allow; /* for 405: "GET, HEAD, POST" */
};

/* Is every row well formed? MR_EINVAL names the pattern and what is wrong with it. */
MR_CHECK enum mr_code mr_http_route_check(const struct mr_http_route *routes, size_t count,
	struct mr_err *err);

/*
 * Find the row for `method` and `path` (as sent, without its query) in a checked table. Returns the
 * HTTP status: 200; 404; 405 with `allow`; 414 when the path is too long; 400 when it does not
 * start with "/", or a parameter has a bad escape, a NUL, an encoded "/", a "." or ".." segment, or
 * is not UTF-8. Texts in `*out` live in `arena`.
 */
int mr_http_route_match(struct mr_arena *arena, const struct mr_http_route *routes, size_t count,
	const char *method, const char *path, struct mr_http_match *out);

/*
 * Percent-decode `len` bytes into `arena`; "+" stays as it is. NULL for a bad escape, a NUL, or
 * what is not UTF-8 afterwards.
 */
char *mr_http_route_decode(struct mr_arena *arena, const char *text, size_t len);
