/*
 * net/http_client.h - one HTTP request to a server, and its whole answer.
 *
 * Blocking, bounded in time and size. Certificates and host names are verified. Redirects are not
 * followed: they are the answer. Any thread may ask.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct mr_http_client_request {
	const char *method; /* NULL is GET */
	const char *url;    /* http or https */
	/* "Name: value", NULL-terminated, or NULL. */
	const char *const *headers;
	struct mr_bytes body; /* none when its data is NULL */
	int timeout_ms;       /* for all of it; > 0 */
	size_t max_bytes;     /* of the answer's body; > 0 */
	const char *ca_file;  /* further authorities, or NULL */
	bool is_direct;       /* through no proxy, whatever the environment says */
	/*
	 * It changes something, so it must not be carried out twice: it is not sent again when a
	 * connection that was kept turns out to be dead after all.
	 */
	bool is_once;
	/* Does nobody want the answer any more? Asked about every second; or NULL. */
	bool (*is_over)(void *arg);
	void *is_over_arg;
	/*
	 * The Unix socket of the same server, or NULL. It is tried first; when nobody of our user
	 * listens there, the URL's host is asked, unless `only_socket` is set.
	 */
	const char *socket;
	bool only_socket;
};

struct mr_http_client_response {
	int status;
	const char *content_type; /* or NULL */
	const char *location;     /* of a redirect, with its host; or NULL */
	int64_t retry_after_s;    /* when to ask again; 0: it does not say */
	struct mr_bytes body;     /* followed by a NUL that is not counted */
};

/*
 * Any status is an answer, 500 too. MR_EINVAL: not a URL we ask; MR_ETIMEOUT, also
 * when it was over before; MR_ELIMIT: the answer
 * is too long; MR_EREMOTE: no connection, a certificate that does not fit, or not HTTP. Errors name
 * the host, never the rest of the URL nor a header: they may hold secrets.
 */
MR_CHECK enum mr_code mr_http_client_send(struct mr_arena *arena,
	const struct mr_http_client_request *request, struct mr_http_client_response *out,
	struct mr_err *err);

/* A client that keeps its connection open between requests; for one thread at a time. */
struct mr_http_client;
MR_CHECK enum mr_code mr_http_client_open(struct mr_http_client **out, struct mr_err *err);
void mr_http_client_close(struct mr_http_client *client);
/* For MR_CLEANUP. */
void mr_http_client_closep(struct mr_http_client **client);
/* As mr_http_client_send(). */
MR_CHECK enum mr_code mr_http_client_ask(struct mr_http_client *client, struct mr_arena *arena,
	const struct mr_http_client_request *request, struct mr_http_client_response *out,
	struct mr_err *err);
/* Can the server have read the last request? Not when it could not be connected to. */
bool mr_http_client_has_sent(const struct mr_http_client *client);
