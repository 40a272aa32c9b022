/*
 * surface/http/request.h - what a handler sees: a request, and the response it fills.
 *
 * Everything of a request lives until its response has been sent: texts that go into the response
 * may be static, of the request, or in its arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "surface/http/route.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_http_access;
struct mr_http_stream;
struct mr_http_streams;
struct mr_http_drain;
struct mr_http_worker;
struct mr_principal;

struct mr_http_header {
	const char *name;
	const char *value;
};

struct mr_http_request {
	struct mr_arena *arena;
	void *app;      /* as given to mr_http_server_start() */
	const char *id; /* the client's X-Request-Id when it is sane, else ours */
	const char *method;
	const char *path;      /* as sent, without the query */
	const char *pattern;   /* of the route */
	struct mr_bytes body;  /* followed by a NUL that is not counted */
	const char *client_ip; /* behind a trusted proxy: the one the proxy names */
	bool is_loopback; /* does the client sit on this machine? By its address, not by a header */
	/* Came through the Unix socket: the kernel says that it is our own user, or root. */
	bool is_same_user;
	bool is_foreign;                      /* from a page whose Origin only "*" lets in */
	struct mr_http_access *access;        /* or NULL: everybody may do everything */
	const struct mr_principal *principal; /* who asks: set before a handler runs */
	const char *session; /* the browser's (sign_in.h), when that is why it may ask; or NULL */
	struct mr_http_match match;
	struct mr_http_param *query; /* decoded */
	size_t query_len;
	struct mr_http_header *headers;
	size_t headers_len;
	struct mr_http_streams *streams;
	/* For wait.h. */
	struct mr_http_worker *workers;
	struct mr_http_drain *traffic;
	int fd; /* of the connection */
};

/* A route's parameter; NULL when the pattern has no such name. */
const char *mr_http_request_param(const struct mr_http_request *req, const char *name);
/* The first value of that name in the query, "" for a name alone; NULL when it is not there. */
const char *mr_http_request_query(const struct mr_http_request *req, const char *name);
/* The first header of that name, in any case; NULL when it is not there. */
const char *mr_http_request_header(const struct mr_http_request *req, const char *name);

enum { MR_HTTP_ID_BYTES = 17 };
/* The id of the server's `n`-th request; unique, and unlike those before and after it. */
void mr_http_request_make_id(uint64_t n, char out[MR_HTTP_ID_BYTES]);
/* The event "http_request". Of the path its beginning, of the query nothing. */
void mr_http_request_log(const struct mr_http_request *req, int status, int64_t duration_us);

enum { MR_HTTP_HEADERS_MAX = 16 };

struct mr_http_response {
	struct mr_arena *arena;
	int status;
	struct mr_http_header headers[MR_HTTP_HEADERS_MAX];
	size_t headers_len;
	struct mr_bytes body;
	struct mr_http_stream *stream; /* set by mr_http_stream_open(): takes the body's place */
};

/* Replaces a header of that name. Values with control characters are dropped. */
void mr_http_response_header(struct mr_http_response *resp, const char *name, const char *value);
/* A second header of that name: Set-Cookie. */
void mr_http_response_add_header(struct mr_http_response *resp, const char *name,
	const char *value);
const char *mr_http_response_get_header(const struct mr_http_response *resp, const char *name);
/* The body is not copied. */
void mr_http_response_body(struct mr_http_response *resp, int status, const char *content_type,
	struct mr_bytes body);
void mr_http_response_json(struct mr_http_response *resp, int status, struct mr_bytes json);
/* {"detail":"..."} */
void mr_http_response_error(struct mr_http_response *resp, int status, const char *fmt, ...)
	MR_PRINTF(3, 4);
/* The same from an error, with its code's status. */
void mr_http_response_fail(struct mr_http_response *resp, const struct mr_err *err);
