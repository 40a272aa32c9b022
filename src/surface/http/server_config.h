/* surface/http/server_config.h - what can be set about a server. */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"
#include "base/str.h"
#include "surface/http/access.h"
#include "surface/http/cors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request that is over; texts live during the call. */
struct mr_http_finished {
	const char *method;
	const char *pattern; /* of the route, or "" when none was found */
	int status;          /* 499 when the client left before it was answered */
	int64_t duration_us;
	uint64_t bytes; /* of the response's body */
};
/* Called by a reading thread after each request: must not block. */
typedef void mr_http_observer(void *app, const struct mr_http_finished *finished);

struct mr_http_config {
	const char *host;
	int port; /* 0 takes any that is free */
	/* A listening socket that stays its owner's (handed.h), in place of host and port, which
	 * say what it is bound to; -1: none. The server has a copy of the descriptor. */
	int handed_fd;
	struct mr_texts allowed_hosts;   /* besides loopback and `host` itself */
	struct mr_texts allowed_origins; /* whole origins, besides those hosts' own */
	struct mr_http_cors cors;
	/* Who may ask; must outlive the server. NULL: everybody, everything. */
	struct mr_http_access *access;
	size_t max_header_bytes;
	size_t max_body_bytes;
	uint64_t max_inflight_bytes; /* of all requests together (budget.h) */
	unsigned max_connections;
	unsigned idle_timeout_s;    /* of silence: between requests, or of a client that stalls */
	unsigned receive_timeout_s; /* for a whole request to arrive */
	unsigned workers;           /* threads that run handlers */
	unsigned more_workers;      /* and that come when these are all busy */
	unsigned max_waits; /* handlers that wait for somebody else at once; fewer than threads */
	unsigned worker_queue; /* requests that wait for a worker; more are answered 503 */
	unsigned max_streams;
	size_t max_stream_bytes; /* queued for one client that does not read */
	unsigned keepalive_ms;   /* of a stream's silence, then a comment */
	bool log_requests;
	const struct mr_clock *clock;
	struct mr_rand *rand;
	mr_http_observer *observe; /* or NULL */
};

/* 127.0.0.1, any port, 8 KiB headers, 4 MiB bodies, 2048 connections, 1024 streams, ... */
void mr_http_config_defaults(struct mr_http_config *out);
/* MR_EINVAL names the setting that is out of range, and the range. */
MR_CHECK enum mr_code mr_http_config_check(const struct mr_http_config *config, struct mr_err *err);
/* With its texts in `arena`. */
struct mr_http_config mr_http_config_copy(struct mr_arena *arena,
	const struct mr_http_config *config);
/* The origins allowed, and those that CORS names: to name them is to allow them. */
struct mr_texts mr_http_config_origins(struct mr_arena *arena, const struct mr_http_config *config);
