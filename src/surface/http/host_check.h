/*
 * surface/http/host_check.h - checks Host, Origin and the framing headers of a request. Pure: no
 * I/O, no globals.
 *
 * A web page must not reach a server on this machine through the user's browser: not by a name that
 * was made to point here (Host), and not from another site (Origin). The names that may be used are
 * localhost, 127.0.0.1, [::1], the address the server is bound to, and those the user allowed.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

struct mr_http_host_check {
	struct mr_texts hosts;   /* names or addresses, IPv6 with or without brackets */
	struct mr_texts origins; /* whole origins: "https://mail.example.org" */
	const char *bound;       /* the address the server listens on, or NULL */
};

/* Counts and values of the headers that decide a request's length, target and credentials. */
struct mr_http_framing {
	unsigned content_lengths;
	unsigned transfer_encodings;
	unsigned hosts;
	const char *transfer_encoding; /* the last one's value, or NULL */
	unsigned seen;                 /* bits of others that may stand once */
	const char *wrong;             /* with one of them, or NULL */
	bool is_http_1_0;
};

/* Note one header of the request. */
void mr_http_host_check_count(struct mr_http_framing *framing, const char *name, const char *value);
/* What is wrong with the framing, for the answer 400; NULL when nothing is. */
const char *mr_http_host_check_framing(const struct mr_http_framing *framing);

/*
 * Does the Host header name us? Its port is ignored. `local` is the address the connection arrived
 * at, or NULL: a server bound to every address answers to that one. Addresses cannot be rebound.
 */
bool mr_http_host_check_host(const struct mr_http_host_check *guard, const char *host,
	const char *local);
/* May a page of this Origin send requests? NULL (no Origin header) passes, "null" does not. */
bool mr_http_host_check_origin(const struct mr_http_host_check *guard, const char *origin,
	const char *local);

/* 1 to 64 of A-Z a-z 0-9 . _ - : a request id we take over from the client. */
bool mr_http_host_check_is_request_id(const char *text);
