/*
 * surface/http/server.c - the only file that knows libmicrohttpd.
 *
 * A request's life: the library's thread calls on_request() when the headers are there (begin), for
 * each piece of the body (take_body), and when all has arrived (proceed). A request for a worker is
 * suspended before it is queued and resumed when its response is ready; on_request() is then called
 * once more and answers. finish() comes when the answer is out, or the client gone.
 *
 * No body is kept before its sender is authenticated: where a worker has to do that, the request is
 * suspended at the first call (settle_first), and its body is read afterwards.
 */
#include "surface/http/server.h"

#include "base/log.h"
#include "base/oom.h"
#include "net/local_socket.h"
#include "surface/http/admit.h"
#include "surface/http/budget.h"
#include "surface/http/deadlines.h"
#include "surface/http/drain.h"
#include "surface/http/listen.h"
#include "surface/http/mhd.h"
#include "surface/http/socket.h"
#include "surface/http/stream_private.h"
#include "surface/http/tap.h"
#include "surface/http/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	STREAM_BLOCK_BYTES = 1024,
	PEER_TIMEOUT_MS = 60 * 1000, /* unacknowledged bytes: the peer is dead */
	FLUSH_MS = 1000,             /* at stop, for answers that came after the grace */
	SLOWEST_BYTES_S = 16 << 10,  /* a client that reads its answer more slowly is cut off */
	SPARE = 16,                  /* one in so many connections is kept free for new clients */
	CLIENT_LEFT = 499,
};

static struct mr_mhd mhd_library; /* filled before a server starts, and then never changed */
static struct mr_err mhd_missing;

struct mr_http_server {
	struct mr_arena *arena;
	struct mr_http_config config;
	struct mr_http_rules rules;
	void *app;
	int port;
	const char *url;
	bool answers_local; /* bound to every address: a request's own is one of ours */
	uint64_t id_base;
	_Atomic(uint64_t) id_count;
	struct mr_http_worker *workers;
	struct mr_http_streams *streams;
	struct mr_http_deadlines *watch;
	struct MHD_Daemon *daemon;
	int listen_fd;
	/* The Unix socket, or NULL. It has a daemon of its own: MHD_add_connection() of
	 * libmicrohttpd 0.9.75 never returns a lock when there are too many connections. */
	struct mr_http_socket *socket;
	struct MHD_Daemon *socket_daemon;
	/* A tap belongs to the thread that reads: one for TCP, one for the socket. */
	struct mr_http_tap *tap, *socket_tap;
	struct mr_arena *tap_arena, *socket_tap_arena;
	struct mr_http_budget budget;

	struct mr_http_drain traffic;
};

struct connection {
	struct mr_http_deadline watched;
	struct mr_http_wire wire;
	struct mr_http_tap *tap;
	struct mr_http_address peer;
	bool is_same_user; /* came through the Unix socket, from a process of our user or root */
};

enum phase {
	PHASE_RECEIVE,
	PHASE_WORK,  /* a worker has it */
	PHASE_READY, /* the response stands */
};

struct request {
	struct mr_http_request pub;
	struct mr_http_response resp;
	struct mr_http_server *server;
	struct MHD_Connection *mhd;
	struct connection *conn;
	enum phase phase;
	bool must_close;  /* answer at once, before the body, and close the connection */
	bool is_settling; /* a worker authenticates the client, before the body is read */
	bool was_answered;
	uint64_t body_seen;
	uint64_t held; /* of the budget */
	struct mr_buf body;
	int64_t begun_us;
	uint64_t sent;
	char id[MR_HTTP_ID_BYTES];
};

static int64_t now_us(const struct mr_http_server *server)
{
	return mr_clock_mono_us(server->config.clock);
}

static void *must_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		mr_oom(size);
	return p;
}

/* ---- the response ---- */

static void suspend(void *connection)
{
	mhd_library.suspend_connection(connection);
}

static void resume(void *connection)
{
	mhd_library.resume_connection(connection);
}

static const struct mr_http_stream_link stream_link = { suspend, resume };

/* The library's part of a stream. It is released after finish(), when the request is gone. */
struct stream_body {
	struct mr_http_stream *stream;
	struct request *r;
};

static ssize_t pull_stream(void *arg, uint64_t at, char *out, size_t room)
{
	struct stream_body *body = arg;
	ssize_t len = mr_http_stream_take(body->stream, out, room);

	(void)at;
	if (len == MR_HTTP_STREAM_END)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (len == MR_HTTP_STREAM_CUT)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	body->r->sent += (uint64_t)len;
	return len;
}

static void end_stream(void *arg)
{
	struct stream_body *body = arg;

	mr_http_stream_detach(body->stream);
	free(body);
}

static struct MHD_Response *new_stream_response(struct request *r)
{
	const union MHD_ConnectionInfo *info =
		mhd_library.get_connection_info(r->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct stream_body *body = must_alloc(sizeof(*body));
	struct MHD_Response *mhd;

	body->stream = r->resp.stream;
	body->r = r;
	mr_http_stream_attach(body->stream, r->mhd, info->connect_fd, &stream_link);
	mhd = mhd_library.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES,
		pull_stream, body, end_stream);
	if (mhd)
		r->resp.stream = NULL;
	else
		free(body);
	return mhd;
}

static struct MHD_Response *new_response(struct request *r)
{
	struct mr_bytes body = r->resp.body;

	if (r->resp.stream)
		return new_stream_response(r);
	r->sent = strcmp(r->pub.method, "HEAD") == 0 ? 0 : body.len;
	return mhd_library.create_response_from_buffer(body.len, (void *)(uintptr_t)body.data,
		MHD_RESPMEM_PERSISTENT);
}

static void forget(struct request *r)
{
	mr_buf_release(&r->body);
	mr_arena_free(r->pub.arena);
	r->pub.arena = NULL;
	/* The address that a proxy reported was in the arena. */
	r->pub.client_ip = r->conn->peer.text;
	mr_http_budget_give(&r->server->budget, &r->held);
}

/* A client that reads its answer too slowly keeps the answer in memory. */
static void expect_reading(struct request *r)
{
	int64_t now = now_us(r->server);
	int64_t seconds = r->server->config.idle_timeout_s + r->resp.body.len / SLOWEST_BYTES_S;

	mr_http_deadlines_answer(&r->conn->watched, now, now + seconds * 1000000);
}

static enum MHD_Result answer(struct request *r)
{
	struct mr_http_response *resp = &r->resp;
	bool is_stream = resp->stream;
	struct MHD_Response *mhd = new_response(r);
	enum MHD_Result rc;

	if (!mhd)
		return MHD_NO;
	mr_http_budget_add(&r->server->budget, &r->held, resp->body.len);
	if (!mr_http_response_get_header(resp, "Cache-Control"))
		mr_http_response_header(resp, "Cache-Control", "no-store");
	for (size_t i = 0; i < resp->headers_len; i++)
		mhd_library.add_response_header(mhd, resp->headers[i].name, resp->headers[i].value);
	mhd_library.add_response_header(mhd, "X-Request-Id", r->pub.id);
	mhd_library.add_response_header(mhd, "X-Content-Type-Options", "nosniff");
	if (r->must_close || atomic_load(&r->server->traffic.stopping))
		mhd_library.add_response_header(mhd, MHD_HTTP_HEADER_CONNECTION, "close");
	rc = mhd_library.queue_response(r->mhd, (unsigned)resp->status, mhd);
	mhd_library.destroy_response(mhd);
	r->was_answered = rc == MHD_YES;
	/* A stream may stay for hours: keep only what its end needs. */
	if (is_stream)
		forget(r);
	else
		expect_reading(r);
	return rc;
}

/* ---- work ---- */

static void work(void *job)
{
	struct request *r = job;

	bool may = r->pub.principal ||
		mr_http_access_settle(r->pub.access, &r->pub, &r->resp) == MR_HTTP_ENTERED;

	if (may && !r->is_settling)
		r->pub.match.route->handler(&r->pub, &r->resp);
	r->phase = may && r->is_settling ? PHASE_RECEIVE : PHASE_READY;
	mhd_library.resume_connection(r->mhd);
}

/* The server stops before a worker came to it. */
static void drop(void *job)
{
	struct request *r = job;

	mr_http_response_error(&r->resp, 503, "The server is stopping");
	r->phase = PHASE_READY;
	mhd_library.resume_connection(r->mhd);
}

static const char no_memory[] = "The server has too much in flight to take this request";

static void refuse_for_now(struct request *r, const char *why)
{
	mr_http_response_error(&r->resp, 503, "%s", why);
	mr_http_response_header(&r->resp, "Retry-After", "1");
	r->phase = PHASE_READY;
}

static enum MHD_Result submit(struct request *r)
{
	mr_http_deadlines_rest(&r->conn->watched);
	r->phase = PHASE_WORK;
	mhd_library.suspend_connection(r->mhd);
	if (!mr_http_worker_submit(r->server->workers, r)) {
		refuse_for_now(r, "The server is busy");
		mhd_library.resume_connection(r->mhd);
	}
	return MHD_YES;
}

/* The request is here: answer it, or have it worked on. */
static enum MHD_Result proceed(struct request *r)
{
	mr_http_deadlines_rest(&r->conn->watched);
	if (r->phase == PHASE_READY)
		return answer(r);
	r->pub.body = mr_buf_bytes(&r->body);
	if (r->pub.match.route->flags & MR_ROUTE_INLINE && r->pub.principal) {
		r->pub.match.route->handler(&r->pub, &r->resp);
		r->phase = PHASE_READY;
		return answer(r);
	}
	if (!mr_http_budget_take_values(&r->server->budget, &r->held, r->pub.body)) {
		refuse_for_now(r, no_memory);
		return answer(r);
	}
	return submit(r);
}

/* ---- the request ---- */

struct collector {
	struct request *r;
	struct mr_http_arrival arrival;
	size_t max;
};

static enum MHD_Result collect_header(void *arg, enum MHD_ValueKind kind, const char *name,
	const char *value)
{
	struct collector *c = arg;
	struct mr_http_request *req = &c->r->pub;

	(void)kind;
	if (req->headers_len == c->max)
		return MHD_NO;
	value = value ? value : "";
	req->headers[req->headers_len++] = (struct mr_http_header){ name, value };
	mr_http_host_check_count(&c->arrival.framing, name, value);
	return MHD_YES;
}

static enum MHD_Result collect_query(void *arg, enum MHD_ValueKind kind, const char *name,
	const char *value)
{
	struct collector *c = arg;
	struct mr_http_request *req = &c->r->pub;
	struct mr_http_param *param = &req->query[req->query_len];

	(void)kind;
	if (req->query_len == c->max)
		return MHD_NO;
	value = value ? value : "";
	param->name = mr_http_route_decode(req->arena, name, strlen(name));
	param->value = mr_http_route_decode(req->arena, value, strlen(value));
	if (!param->name || !param->value)
		c->arrival.is_query_bad = true;
	else
		req->query_len++;
	return MHD_YES;
}

/* Headers and query, as many as there are. */
static void collect(struct collector *c)
{
	struct request *r = c->r;
	int count = mhd_library.get_connection_values(r->mhd, MHD_HEADER_KIND, NULL, NULL);

	c->max = count > 0 ? (size_t)count : 0;
	r->pub.headers = mr_arena_array(r->pub.arena, c->max, sizeof(*r->pub.headers));
	mhd_library.get_connection_values(r->mhd, MHD_HEADER_KIND, collect_header, c);
	count = mhd_library.get_connection_values(r->mhd, MHD_GET_ARGUMENT_KIND, NULL, NULL);
	if (count <= 0)
		return;
	c->max = (size_t)count;
	r->pub.query = mr_arena_array(r->pub.arena, c->max, sizeof(*r->pub.query));
	mhd_library.get_connection_values(r->mhd, MHD_GET_ARGUMENT_KIND, collect_query, c);
}

static void judge(struct request *r, const char *version)
{
	struct collector c = { .r = r };
	struct mr_http_address local = { 0 };
	const union MHD_ConnectionInfo *info =
		mhd_library.get_connection_info(r->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	enum mr_http_verdict verdict;

	collect(&c);
	c.arrival.header_bytes = info ? info->header_size : 0;
	c.arrival.malformed = mr_http_wire_take(&r->conn->wire, c.arrival.header_bytes);
	c.arrival.framing.is_http_1_0 = strcmp(version, "HTTP/1.0") == 0;
	if (r->server->answers_local) {
		mr_http_listen_local(r->conn->watched.fd, &local);
		c.arrival.local = local.text;
	}
	verdict = mr_http_admit(&r->server->rules, &c.arrival, &r->pub, &r->resp);
	if (verdict != MR_HTTP_WELCOME)
		r->phase = PHASE_READY;
	r->must_close = verdict == MR_HTTP_CUT;
}

/* The connection has been shut down already; what was received on it is ignored. */
static void refuse_stranger(struct request *r)
{
	mr_http_response_error(&r->resp, 403, "Forbidden");
	r->phase = PHASE_READY;
	r->must_close = true;
}

/* From now on the client is to send its body, if it has one. */
static void expect_body(struct request *r, int64_t now)
{
	mr_http_deadlines_expect(&r->conn->watched, now,
		now + (int64_t)r->server->config.receive_timeout_s * 1000000);
}

static struct request *begin(struct mr_http_server *server, struct MHD_Connection *mhd,
	const char *path, const char *method, const char *version)
{
	struct mr_arena *arena = mr_arena_new();
	struct request *r = must_alloc(sizeof(*r));
	const union MHD_ConnectionInfo *info =
		mhd_library.get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	r->server = server;
	r->mhd = mhd;
	r->conn = info->socket_context;
	r->begun_us = now_us(server);
	mr_buf_init(&r->body, server->config.max_body_bytes);
	mr_http_request_make_id(server->id_base + atomic_fetch_add(&server->id_count, 1), r->id);
	r->resp.arena = arena;
	r->resp.status = 200;
	r->pub.arena = arena;
	r->pub.app = server->app;
	r->pub.id = r->id;
	r->pub.method = method;
	r->pub.path = path;
	r->pub.pattern = "";
	r->pub.client_ip = r->conn->peer.text;
	r->pub.is_loopback = r->conn->peer.is_loopback;
	r->pub.is_same_user = r->conn->is_same_user;
	r->pub.streams = server->streams;
	r->pub.workers = server->workers;
	r->pub.traffic = &server->traffic;
	r->pub.fd = r->conn->watched.fd;
	expect_body(r, r->begun_us);
	mr_http_drain_begin_request(&server->traffic);
	if (r->conn->peer.is_unix && !r->conn->is_same_user)
		refuse_stranger(r);
	else
		judge(r, version);
	return r;
}

static bool has_body(const struct request *r)
{
	const char *length = mr_http_request_header(&r->pub, "Content-Length");

	return length ? strcmp(length, "0") != 0
		      : mr_http_request_header(&r->pub, "Transfer-Encoding") != NULL;
}

/* Is there memory for what the headers announce? Routes that answer at once need none. */
static bool take_share(struct request *r)
{
	const char *text = mr_http_request_header(&r->pub, "Content-Length");
	int64_t len = 0;

	if (has_body(r))
		return !text || !mr_str_to_int(text, &len) ||
			mr_http_budget_take_body(&r->server->budget, &r->held, (uint64_t)len);
	return r->pub.match.route->flags & MR_ROUTE_INLINE ||
		mr_http_budget_has_room(&r->server->budget);
}

/* The headers have been decided upon: let the body come, to be kept or dropped, or answer now. */
static enum MHD_Result open_body(struct request *r)
{
	if (r->phase == PHASE_RECEIVE && !take_share(r))
		refuse_for_now(r, no_memory);
	/* The client sent "Expect: 100-continue" and waits: refuse it before it sends the body. */
	if (r->phase == PHASE_READY && mr_http_request_header(&r->pub, "Expect"))
		r->must_close = true;
	/* An answer queued in this call closes the connection; the next call's keeps it open. */
	return r->must_close ? proceed(r) : MHD_YES;
}

static enum MHD_Result settle_first(struct request *r)
{
	r->is_settling = true;
	return submit(r);
}

static enum MHD_Result take_body(struct request *r, const char *data, size_t *len)
{
	size_t max = r->server->config.max_body_bytes;

	r->body_seen += *len;
	if (r->body_seen > max && r->phase == PHASE_RECEIVE) {
		mr_http_admit_too_long(&r->pub, max, &r->resp);
		r->phase = PHASE_READY;
		mr_buf_release(&r->body);
	}
	if (r->phase == PHASE_RECEIVE &&
		!mr_http_budget_take_body(&r->server->budget, &r->held, r->body_seen)) {
		refuse_for_now(r, no_memory);
		mr_buf_release(&r->body);
	}
	if (r->phase == PHASE_RECEIVE)
		mr_buf_add(&r->body, data, *len);
	else if (r->body_seen > (uint64_t)max + MR_HTTP_DRAIN_BYTES)
		return MHD_NO;
	*len = 0;
	return MHD_YES;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *mhd, const char *path,
	const char *method, const char *version, const char *body, size_t *body_len, void **state)
{
	struct request *r = *state;

	if (!r) {
		r = *state = begin(arg, mhd, path, method, version);
		if (r->phase == PHASE_RECEIVE && !r->pub.principal && has_body(r))
			return settle_first(r);
		return open_body(r);
	}
	if (*body_len)
		return take_body(r, body, body_len);
	if (r->is_settling) {
		r->is_settling = false;
		expect_body(r, now_us(r->server));
		return open_body(r);
	}
	return proceed(r);
}

/* ---- the end of a request ---- */

/* Until the next request's headers are there. */
static void expect_request(const struct mr_http_server *server, struct connection *conn,
	int64_t now)
{
	const struct mr_http_config *config = &server->config;

	/* The library's own timeout handles silence; past both limits together, the client sends
	 * a few bytes at a time. */
	mr_http_deadlines_expect(&conn->watched, now,
		now + (int64_t)(config->idle_timeout_s + config->receive_timeout_s) * 1000000);
}

static void finish(void *arg, struct MHD_Connection *mhd, void **state,
	enum MHD_RequestTerminationCode code)
{
	struct mr_http_server *server = arg;
	struct request *r = *state;
	int64_t now;
	int status;

	(void)mhd;
	(void)code;
	if (!r)
		return;
	*state = NULL;
	now = now_us(server);
	status = r->was_answered ? r->resp.status : CLIENT_LEFT;
	if (server->config.log_requests && mr_log_wants(MR_LOG_INFO))
		mr_http_request_log(&r->pub, status, now - r->begun_us);
	if (server->config.observe) {
		struct mr_http_finished finished = { r->pub.method, r->pub.pattern, status,
			now - r->begun_us, r->sent };

		server->config.observe(server->app, &finished);
	}
	expect_request(server, r->conn, now);
	/* A stream that was opened but never became part of the response. */
	if (r->resp.stream)
		mr_http_stream_detach(r->resp.stream);
	forget(r);
	free(r);
	mr_http_drain_end_request(&server->traffic);
}

/* ---- connections ---- */

static void look_who_connects(struct connection *conn)
{
	conn->is_same_user = mr_local_socket_is_ours(conn->watched.fd);
	if (conn->is_same_user)
		return;
	mr_log(MR_LOG_WARN, "socket_refused",
		"a process of another user was refused on the socket");
	shutdown(conn->watched.fd, SHUT_RDWR);
}

static void open_connection(struct mr_http_server *server, struct MHD_Connection *mhd,
	void **context)
{
	const union MHD_ConnectionInfo *info;
	struct connection *conn = must_alloc(sizeof(*conn));
	unsigned timeout_ms = PEER_TIMEOUT_MS;
	unsigned max = server->config.max_connections;

	info = mhd_library.get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	conn->watched.fd = info->connect_fd;
	info = mhd_library.get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	mr_http_listen_describe(info->client_addr, &conn->peer);
	if (conn->peer.is_unix)
		look_who_connects(conn);
	expect_request(server, conn, now_us(server));
	/* A stream's client may disappear without closing the connection: the kernel notices
	 * when data stays unacknowledged. */
	(void)setsockopt(conn->watched.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms,
		sizeof(timeout_ms));
	*context = conn;
	conn->tap = conn->peer.is_unix ? server->socket_tap : server->tap;
	mr_http_tap_open(conn->tap, conn->watched.fd, &conn->wire);
	/* At its limit the library accepts no connection until one is closed. */
	if (mr_http_drain_open_connection(&server->traffic) > max - max / SPARE)
		mr_http_deadlines_make_room(server->watch);
	mr_http_deadlines_add(server->watch, &conn->watched);
}

static void on_connection(void *arg, struct MHD_Connection *mhd, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	struct mr_http_server *server = arg;
	struct connection *conn = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		open_connection(server, mhd, context);
		return;
	}
	mr_http_tap_close(conn->tap, conn->watched.fd);
	mr_http_deadlines_remove(server->watch, &conn->watched);
	*context = NULL;
	free(conn);
	mr_http_drain_close_connection(&server->traffic);
}

/* Paths and queries are decoded by us, once, where a bad escape can be refused. */
static size_t keep_escapes(void *arg, struct MHD_Connection *mhd, char *text)
{
	(void)arg;
	(void)mhd;
	return strlen(text);
}

/* ---- start and stop ---- */

static struct mr_http_server *new_server(const struct mr_http_config *config,
	const struct mr_http_route *routes, size_t count, void *app)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_http_server *server = mr_arena_alloc(arena, sizeof(*server));

	server->arena = arena;
	server->config = mr_http_config_copy(arena, config);
	server->rules = (struct mr_http_rules){
		.guard.hosts = server->config.allowed_hosts,
		.guard.origins = mr_http_config_origins(arena, &server->config),
		.cors = server->config.cors,
		.access = server->config.access,
		.routes = routes,
		.routes_len = count,
		.max_header_bytes = config->max_header_bytes,
		.max_body_bytes = config->max_body_bytes,
	};
	server->app = app;
	server->listen_fd = -1;
	server->tap_arena = mr_arena_new();
	server->tap = mr_http_tap_new(server->tap_arena);
	server->socket_tap_arena = mr_arena_new();
	server->socket_tap = mr_http_tap_new(server->socket_tap_arena);
	server->budget.max = config->max_inflight_bytes;
	mr_rand_fill(config->rand, &server->id_base, sizeof(server->id_base));
	mr_http_drain_init(&server->traffic);
	return server;
}

static enum mr_code open_socket(struct mr_http_server *server, struct mr_err *err)
{
	struct mr_http_address address;
	enum mr_code rc = MR_OK;

	if (server->config.handed_fd < 0)
		rc = mr_http_listen_open(server->config.host, server->config.port,
			&server->listen_fd, err);
	else if ((server->listen_fd = fcntl(server->config.handed_fd, F_DUPFD_CLOEXEC, 0)) < 0)
		rc = mr_err_os(err, errno, "cannot listen on the socket that was handed over");
	if (rc)
		return rc;
	mr_http_listen_local(server->listen_fd, &address);
	server->port = address.port;
	server->answers_local = address.is_any;
	server->rules.guard.bound = address.is_any ? NULL : server->config.host;
	server->url = mr_arena_printf(server->arena,
		strchr(address.text, ':') ? "http://[%s]:%d" : "http://%s:%d", address.text,
		address.port);
	return MR_OK;
}

static void load_library(void)
{
	(void)!mr_mhd_load(&mhd_library, &mhd_missing);
}

static enum mr_code need_library(struct mr_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_library);
	if (mhd_missing.code)
		*err = mhd_missing;
	return mhd_missing.code;
}

static struct MHD_Daemon *start_daemon(struct mr_http_server *server, int listen_fd)
{
	const struct mr_http_config *config = &server->config;

	return mhd_library.start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
			MHD_USE_ITC,
		0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, listen_fd,
		MHD_OPTION_NOTIFY_COMPLETED, finish, server, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		/* Of a connection's memory the headers get half. */
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, config->max_header_bytes * 2,
		MHD_OPTION_CONNECTION_LIMIT, config->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
		config->idle_timeout_s, MHD_OPTION_END);
}

static enum mr_code start_threads(struct mr_http_server *server, struct mr_err *err)
{
	const struct mr_http_config *config = &server->config;
	struct mr_http_streams_config streams = {
		.max = config->max_streams,
		.max_bytes = config->max_stream_bytes,
		.keepalive_us = (int64_t)config->keepalive_ms * 1000,
		.clock = config->clock,
	};
	struct mr_http_worker_config workers = {
		.threads = config->workers,
		.more = config->more_workers,
		.waits = config->max_waits,
		.queue = config->worker_queue,
	};
	int tick_ms = config->keepalive_ms < 2000 ? (int)config->keepalive_ms / 2 : 1000;
	enum mr_code rc = mr_http_streams_new(&streams, &server->streams, err);

	if (!rc)
		rc = mr_http_deadlines_start(server->streams, config->clock, tick_ms,
			&server->watch, err);
	if (!rc)
		rc = mr_http_worker_start(&workers, work, &server->workers, err);
	if (!rc)
		server->daemon = start_daemon(server, server->listen_fd);
	if (!rc && !server->daemon)
		rc = mr_err_set(err, MR_EIO, "cannot start the HTTP server on %s", server->url);
	return rc;
}

enum mr_code mr_http_server_start(const struct mr_http_config *config,
	const struct mr_http_route *routes, size_t count, void *app, struct mr_http_server **out,
	struct mr_err *err)
{
	struct mr_http_server *server;
	sigset_t all, before;
	enum mr_code rc = mr_http_config_check(config, err);

	if (!rc)
		rc = need_library(err);
	if (!rc)
		rc = mr_http_route_check(routes, count, err);
	if (rc)
		return rc;
	server = new_server(config, routes, count, app);
	rc = open_socket(server, err);
	if (!rc) {
		/* Signals are for the program's own threads. */
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &before);
		rc = start_threads(server, err);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (rc) {
		mr_http_server_free(server);
		return rc;
	}
	*out = server;
	return MR_OK;
}

/* Accept on server->socket, or give it up. */
static enum mr_code start_socket(struct mr_http_server *server, const char *path,
	struct mr_err *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	server->socket_daemon = start_daemon(server, mr_http_socket_fd(server->socket));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (server->socket_daemon)
		return MR_OK;
	/* Nothing would accept on the socket: remove it, so that clients fall back to TCP. */
	mr_http_socket_free(server->socket);
	server->socket = NULL;
	return mr_err_set(err, MR_EIO, "cannot start the HTTP server on %s", path);
}

enum mr_code mr_http_server_open_socket(struct mr_http_server *server, const char *path,
	bool is_own, struct mr_err *err)
{
	enum mr_code rc =
		mr_http_socket_open(path, is_own, server->config.clock, &server->socket, err);

	return rc ? rc : start_socket(server, path, err);
}

enum mr_code mr_http_server_use_socket(struct mr_http_server *server, int fd, const char **out_path,
	struct mr_err *err)
{
	enum mr_code rc = mr_http_socket_use(fd, out_path, &server->socket, err);

	return rc ? rc : start_socket(server, *out_path, err);
}

int mr_http_server_port(const struct mr_http_server *server)
{
	return server->port;
}

const char *mr_http_server_url(const struct mr_http_server *server)
{
	return server->url;
}

void mr_http_server_stats(struct mr_http_server *server, struct mr_http_stats *out)
{
	pthread_mutex_lock(&server->traffic.lock);
	out->connections = server->traffic.connections;
	out->requests = server->traffic.requests;
	pthread_mutex_unlock(&server->traffic.lock);
	out->inflight_bytes = atomic_load(&server->budget.used);
	out->streams = mr_http_streams_count(server->streams);
}

void mr_http_server_stop(struct mr_http_server *server, unsigned grace_ms)
{
	if (!mr_http_drain_stop(&server->traffic))
		return;
	if (server->socket_daemon)
		mhd_library.quiesce_daemon(server->socket_daemon);
	mr_http_socket_end(server->socket);
	if (server->daemon) {
		mhd_library.quiesce_daemon(server->daemon);
		/* Not closed yet: the reading thread may be about to ask it once more. What was
		 * handed over goes on listening, for the server that comes next. */
		if (server->config.handed_fd < 0)
			shutdown(server->listen_fd, SHUT_RDWR);
		mr_http_streams_finish(server->streams);
		mr_http_drain_wait(&server->traffic, grace_ms);
	}
	/* From here on nothing is suspended any more: no worker takes it, and all streams are
	 * ending. */
	if (server->workers)
		mr_http_worker_stop(server->workers, drop);
	if (server->daemon) {
		if (grace_ms)
			mr_http_drain_wait(&server->traffic, FLUSH_MS);
		mhd_library.stop_daemon(server->daemon);
	}
	if (server->socket_daemon)
		mhd_library.stop_daemon(server->socket_daemon);
	mr_http_deadlines_stop(server->watch);
}

void mr_http_server_free(struct mr_http_server *server)
{
	if (!server)
		return;
	mr_http_server_stop(server, 0);
	if (server->listen_fd >= 0)
		close(server->listen_fd);
	mr_http_socket_free(server->socket);
	mr_http_worker_free(server->workers);
	mr_http_streams_free(server->streams);
	mr_http_drain_release(&server->traffic);
	mr_arena_free(server->tap_arena);
	mr_arena_free(server->socket_tap_arena);
	mr_arena_free(server->arena);
}
