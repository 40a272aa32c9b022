/*
 * surface/http/server.h - an HTTP/1.1 server on loopback, with limits on everything.
 *
 * One thread of each listening socket reads requests and writes answers. Routes that never block
 * are answered by it; the others run on worker threads while their connection sleeps, so that no
 * request waits for another's work. When nearly all connections are taken, the one whose client has
 * been silent longest makes room for the next. The bytes of a request are read strictly before the
 * HTTP library sees them (tap.h, wire.h). Then its framing, Host and Origin are checked
 * (host_check.h), then its credentials, then route and size, and whether there is memory for it
 * (budget.h); only then its body is read. Every answer carries X-Request-Id,
 * X-Content-Type-Options, and Cache-Control: no-store unless the handler set one; errors are
 * {"detail":"..."}.
 *
 * Header blocks past twice the limit, other versions of HTTP and malformed chunks are answered by
 * the library itself with a plain page and 400, 414, 431 or 505.
 */
#pragma once

#include "base/err.h"
#include "surface/http/request.h"
#include "surface/http/route.h"
#include "surface/http/server_config.h"
#include "surface/http/stream.h"

struct mr_http_server;

/*
 * Start serving. `config` is copied; `routes` and `app` must outlive the server. Errors: a setting
 * out of range or a bad route (MR_EINVAL), those of mr_http_listen_open(), and what the system
 * refuses.
 */
MR_CHECK enum mr_code mr_http_server_start(const struct mr_http_config *config,
	const struct mr_http_route *routes, size_t count, void *app, struct mr_http_server **out,
	struct mr_err *err);

/*
 * Listen on a Unix socket as well: see mr_http_socket_open(). Requests that come through it are
 * marked (is_same_user). At most once.
 */
MR_CHECK enum mr_code mr_http_server_open_socket(struct mr_http_server *server, const char *path,
	bool is_own, struct mr_err *err);

/* The same with a listening socket that was handed over: see mr_http_socket_use(). `*out_path` is
 * what it is called, in the server's memory. */
MR_CHECK enum mr_code mr_http_server_use_socket(struct mr_http_server *server, int fd,
	const char **out_path, struct mr_err *err);

int mr_http_server_port(const struct mr_http_server *server);
/* "http://127.0.0.1:8765", in the server's memory. */
const char *mr_http_server_url(const struct mr_http_server *server);

/* What is under way just now. */
struct mr_http_stats {
	unsigned connections;
	unsigned requests; /* read or worked on or being answered; streams too */
	unsigned streams;
	uint64_t inflight_bytes; /* that the requests have taken of max_inflight_bytes */
};
void mr_http_server_stats(struct mr_http_server *server, struct mr_http_stats *out);

/*
 * Stop: accept no more, answer what has arrived (with Connection: close), end the streams, close.
 * Clients get `grace_ms` for it; requests that no worker has begun by then are answered 503.
 * Handlers that run are always waited for: afterwards nothing uses `app` any more. A second call
 * does nothing. Not from a handler.
 */
void mr_http_server_stop(struct mr_http_server *server, unsigned grace_ms);
/* Stops without grace what still runs. NULL is fine. */
void mr_http_server_free(struct mr_http_server *server);
