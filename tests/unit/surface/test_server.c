/* tests/unit/surface/test_server.c - a server with test routes, spoken to over raw sockets. */
#include "surface/http/server.h"

#include "base/log.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_S = 20, ROOM = 256 * 1024, STREAMS_MAX = 300 };

/* ---- the application ---- */

struct app {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned entered; /* handlers that wait at the gate */
	bool gate_open;
	unsigned ended;
	unsigned streams_len;
	struct mr_http_stream *streams[STREAMS_MAX];
	enum mr_code open_rc;
	unsigned observed;
	struct mr_http_finished last;
	char last_pattern[64];
};

static struct app app = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
static struct mr_http_server *server;

/* Wait, with an end, for `*counter` to reach `want`. */
static void wait_for(const unsigned *counter, unsigned want)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&app.lock);
	while (*counter < want) {
		if (pthread_cond_timedwait(&app.changed, &app.lock, &until) == ETIMEDOUT)
			test_fail(__FILE__, __LINE__, "waited too long: %u of %u", *counter, want);
	}
	pthread_mutex_unlock(&app.lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&app.lock);
	app.gate_open = true;
	pthread_cond_broadcast(&app.changed);
	pthread_mutex_unlock(&app.lock);
}

static void observe(void *arg, const struct mr_http_finished *finished)
{
	CHECK(arg == &app);
	pthread_mutex_lock(&app.lock);
	app.observed++;
	app.last = *finished;
	snprintf(app.last_pattern, sizeof(app.last_pattern), "%s", finished->pattern);
	pthread_cond_broadcast(&app.changed);
	pthread_mutex_unlock(&app.lock);
}

static void quick(const struct mr_http_request *req, struct mr_http_response *resp)
{
	CHECK(req->app == &app);
	mr_http_response_json(resp, 200, mr_bytes_text("{\"status\":\"alive\"}"));
}

static void gated(const struct mr_http_request *req, struct mr_http_response *resp)
{
	(void)req;
	pthread_mutex_lock(&app.lock);
	app.entered++;
	pthread_cond_broadcast(&app.changed);
	while (!app.gate_open)
		pthread_cond_wait(&app.changed, &app.lock);
	pthread_mutex_unlock(&app.lock);
	mr_http_response_json(resp, 200, mr_bytes_text("{\"gate\":\"open\"}"));
}

static void echo(const struct mr_http_request *req, struct mr_http_response *resp)
{
	mr_http_response_body(resp, 200, "application/octet-stream", req->body);
}

static void hello(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const char *q = mr_http_request_query(req, "q");
	const char *text = mr_arena_printf(req->arena, "name=%s q=%s flag=%s header=%s ip=%s %s",
		mr_http_request_param(req, "name"), q ? q : "(none)",
		mr_http_request_query(req, "flag") ? "yes" : "no",
		mr_http_request_header(req, "x-tEst"), req->client_ip,
		req->is_loopback ? "here" : "elsewhere");

	CHECK(!mr_http_request_param(req, "nobody"));
	mr_http_response_header(resp, "Cache-Control", "max-age=5");
	mr_http_response_header(resp, "X-Bad", "a\r\nSet-Cookie: b");
	mr_http_response_body(resp, 201, "text/plain", mr_bytes_text(text));
}

static void fails(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_err err;

	(void)req;
	mr_err_set(&err, MR_ENOTFOUND, "no \"mail\" here");
	mr_http_response_fail(resp, &err);
}

static void ended(void *arg)
{
	CHECK(arg == &app);
	pthread_mutex_lock(&app.lock);
	app.ended++;
	pthread_cond_broadcast(&app.changed);
	pthread_mutex_unlock(&app.lock);
}

static void stream(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_http_stream *opened;
	struct mr_err err;
	enum mr_code rc = mr_http_stream_open(req, resp, ended, &app, &opened, &err);

	pthread_mutex_lock(&app.lock);
	app.open_rc = rc;
	if (rc)
		mr_http_response_fail(resp, &err);
	else
		app.streams[app.streams_len++] = opened;
	pthread_cond_broadcast(&app.changed);
	pthread_mutex_unlock(&app.lock);
}

/* All there is to say, said in the handler. */
static void short_stream(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_http_stream *opened;
	struct mr_err err;

	CHECK_OK(mr_http_stream_open(req, resp, ended, &app, &opened, &err), err);
	mr_http_response_header(resp, "Mcp-Session-Id", "abc");
	CHECK_OK(mr_http_stream_event(opened, "message", "1", "{}", &err), err);
	mr_http_stream_close(opened);
}

/* Opens a stream, then thinks better of it. */
static void lost_stream(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_http_stream *opened;
	struct mr_err err;

	CHECK_OK(mr_http_stream_open(req, resp, ended, &app, &opened, &err), err);
	resp->stream = NULL;
	mr_http_stream_close(opened);
	resp->stream = opened;
}

static const struct mr_http_route routes[] = {
	{ "GET", "/quick", quick, MR_ROUTE_INLINE | MR_ROUTE_OPEN },
	{ "GET", "/worker", quick, 0 },
	{ "GET", "/gated", gated, 0 },
	{ "POST", "/echo", echo, 0 },
	{ "POST", "/echo-inline", echo, MR_ROUTE_INLINE },
	{ "GET", "/hello/{name}", hello, MR_ROUTE_SLASH },
	{ "GET", "/fails", fails, 0 },
	{ "GET", "/stream", stream, 0 },
	{ "GET", "/stream-inline", stream, MR_ROUTE_INLINE },
	{ "POST", "/short-stream", short_stream, 0 },
	{ "GET", "/lost-stream", lost_stream, 0 },
};

static struct mr_http_config defaults(void)
{
	struct mr_http_config config;

	mr_http_config_defaults(&config);
	config.observe = observe;
	return config;
}

static void start_with(const struct mr_http_config *config)
{
	struct mr_err err;

	CHECK_OK(mr_http_server_start(config, routes, MR_LEN(routes), &app, &server, &err), err);
}

static void start(void)
{
	struct mr_http_config config = defaults();

	start_with(&config);
}

static void stop(void)
{
	mr_http_server_stop(server, 2000);
	mr_http_server_stop(server, 2000);
	mr_http_server_free(server);
}

/* ---- the client ---- */

struct client {
	int fd;
	size_t len; /* bytes in `got` that are not read yet */
	char *got;
	int status;
	char head[16 * 1024];
	char *body;
	size_t body_len;
};

static struct client *connect_from(const char *host, int port)
{
	struct client *c = calloc(1, sizeof(*c));
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct timeval limit = { .tv_sec = WAIT_S };

	c->got = calloc(1, ROOM + 1);
	c->body = calloc(1, ROOM + 1);
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(inet_pton(AF_INET, host, &addr.sin_addr) == 1);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	CHECK(connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	return c;
}

static struct client *client(void)
{
	return connect_from("127.0.0.1", mr_http_server_port(server));
}

static void hang_up(struct client *c)
{
	close(c->fd);
	free(c->got);
	free(c->body);
	free(c);
}

static void say_bytes(struct client *c, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);

		CHECK(n > 0);
		at += n;
		len -= (size_t)n;
	}
}

static void say(struct client *c, const char *text)
{
	say_bytes(c, text, strlen(text));
}

/* One more piece from the server; false at the end. */
static bool hear(struct client *c)
{
	ssize_t n;

	CHECK(c->len < ROOM);
	n = recv(c->fd, c->got + c->len, ROOM - c->len, 0);
	if (n < 0 && errno == ECONNRESET)
		return false;
	if (n < 0)
		test_fail(__FILE__, __LINE__, "recv: %s", strerror(errno));
	c->len += (size_t)n;
	c->got[c->len] = '\0';
	return n > 0;
}

static void consume(struct client *c, size_t len)
{
	memmove(c->got, c->got + len, c->len - len + 1);
	c->len -= len;
}

static void hear_at_least(struct client *c, size_t len)
{
	while (c->len < len)
		CHECK(hear(c));
}

static const char *header(const struct client *c, const char *name)
{
	static char value[512];
	size_t len = strlen(name);

	for (const char *at = strstr(c->head, "\r\n"); at; at = strstr(at + 2, "\r\n")) {
		if (strncasecmp(at + 2, name, len) == 0 && at[2 + len] == ':') {
			const char *from = at + 2 + len + 1;

			from += strspn(from, " ");
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(from, "\r"), from);
			return value;
		}
	}
	return NULL;
}

/* The head of the next response; false when the server has hung up instead. */
static bool hear_head(struct client *c)
{
	char *end;

	while (!(end = strstr(c->got, "\r\n\r\n"))) {
		if (!hear(c))
			return false;
	}
	CHECK((size_t)(end - c->got) < sizeof(c->head) - 4);
	snprintf(c->head, sizeof(c->head), "%.*s", (int)(end - c->got) + 2, c->got);
	consume(c, (size_t)(end - c->got) + 4);
	CHECK(sscanf(c->head, "HTTP/1.1 %d", &c->status) == 1);
	return true;
}

/* The next chunk of the body, put at its end; 0 for the last. */
static size_t hear_chunk(struct client *c)
{
	char *line_end;
	size_t len;

	while (!(line_end = strstr(c->got, "\r\n")))
		CHECK(hear(c));
	len = strtoul(c->got, NULL, 16);
	consume(c, (size_t)(line_end - c->got) + 2);
	hear_at_least(c, len + 2);
	CHECK(c->body_len + len < ROOM);
	memcpy(c->body + c->body_len, c->got, len);
	c->body_len += len;
	c->body[c->body_len] = '\0';
	consume(c, len + 2);
	return len;
}

/* A whole response; its status. */
static int hear_response(struct client *c, bool has_body)
{
	const char *length;

	c->body_len = 0;
	c->body[0] = '\0';
	if (!hear_head(c))
		return 0;
	if (!has_body)
		return c->status;
	length = header(c, "Content-Length");
	if (length) {
		c->body_len = strtoul(length, NULL, 10);
		hear_at_least(c, c->body_len);
		memcpy(c->body, c->got, c->body_len);
		c->body[c->body_len] = '\0';
		consume(c, c->body_len);
	} else if (header(c, "Transfer-Encoding")) {
		while (hear_chunk(c))
			;
	}
	return c->status;
}

static int ask(struct client *c, const char *text)
{
	say(c, text);
	return hear_response(c, true);
}

static bool has_ended(struct client *c)
{
	return c->len == 0 && !hear(c);
}

/* One request on a connection of its own. */
static int ask_once(const char *text)
{
	struct client *c = client();
	int status = ask(c, text);

	hang_up(c);
	return status;
}

#define HOST "Host: localhost\r\n"

/* ---- requests ---- */

static void keeps_connections_alive(void)
{
	struct client *c;

	start();
	c = client();
	for (int i = 0; i < 5; i++) {
		CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
		CHECK_STR(c->body, "{\"status\":\"alive\"}");
		CHECK_INT(ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
		CHECK_INT(ask(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"),
			200);
		CHECK_STR(c->body, "abc");
		CHECK_INT(ask(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"), 200);
		CHECK_STR(c->body, "");
	}
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"), 200);
	CHECK(has_ended(c));
	wait_for(&app.observed, 21);
	CHECK_STR(app.last_pattern, "/quick");
	CHECK_INT(app.last.status, 200);
	CHECK_INT(app.last.bytes, 18);
	CHECK(app.last.duration_us >= 0);
	hang_up(c);
	stop();
}

static void answers_pipelined_requests_in_order(void)
{
	struct client *c;

	start();
	c = client();
	say(c,
		"GET /hello/a HTTP/1.1\r\n" HOST "\r\n"
		"GET /quick HTTP/1.1\r\n" HOST "\r\n"
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi"
		"GET /nothing HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(hear_response(c, true), 201);
	CHECK_INT(hear_response(c, true), 200);
	CHECK_INT(hear_response(c, true), 200);
	CHECK_STR(c->body, "hi");
	CHECK_INT(hear_response(c, true), 404);
	hang_up(c);
	stop();
}

static void says_what_every_response_says(void)
{
	struct client *c;
	char first[64];

	start();
	c = client();
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_STR(header(c, "Content-Type"), "application/json");
	CHECK_STR(header(c, "X-Content-Type-Options"), "nosniff");
	CHECK_STR(header(c, "Cache-Control"), "no-store");
	CHECK_STR(header(c, "Server"), NULL);
	CHECK_INT(strlen(header(c, "X-Request-Id")), 16);
	snprintf(first, sizeof(first), "%s", header(c, "X-Request-Id"));
	CHECK_INT(ask(c, "GET /nothing HTTP/1.1\r\n" HOST "\r\n"), 404);
	CHECK(strcmp(header(c, "X-Request-Id"), first) != 0);
	CHECK_STR(header(c, "X-Content-Type-Options"), "nosniff");
	CHECK_STR(c->body, "{\"detail\":\"Not Found\"}");
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "X-Request-Id: my.id-7\r\n\r\n"), 200);
	CHECK_STR(header(c, "X-Request-Id"), "my.id-7");
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "X-Request-Id: a\"b\r\n\r\n"), 200);
	CHECK_INT(strlen(header(c, "X-Request-Id")), 16);
	CHECK_INT(ask(c, "GET /fails HTTP/1.1\r\n" HOST "\r\n"), 404);
	CHECK_STR(c->body, "{\"detail\":\"no \\\"mail\\\" here\"}");
	hang_up(c);
	stop();
}

static void gives_handlers_what_they_need(void)
{
	struct client *c;

	start();
	c = client();
	CHECK_INT(ask(c,
			  "GET /hello/Blue%20Fox/?flag&q=a+b%2Bc%26d&q=2 HTTP/1.1\r\n" HOST
			  "X-Test: yes\r\n\r\n"),
		201);
	CHECK_STR(c->body, "name=Blue Fox q=a b+c&d flag=yes header=yes ip=127.0.0.1 here");
	CHECK_STR(header(c, "Cache-Control"), "max-age=5");
	CHECK_STR(header(c, "X-Bad"), NULL);
	CHECK_STR(header(c, "Set-Cookie"), NULL);
	CHECK_INT(ask(c, "GET /hello/%2541?q=%2541 HTTP/1.1\r\n" HOST "X-Test: \r\n\r\n"), 201);
	CHECK_STR(c->body, "name=%41 q=%41 flag=no header= ip=127.0.0.1 here");
	hang_up(c);
	stop();
}

static void answers_head_like_get_without_a_body(void)
{
	struct client *c;

	start();
	c = client();
	say(c, "HEAD /quick HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(hear_response(c, false), 200);
	CHECK_STR(header(c, "Content-Length"), "18");
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	say(c, "HEAD /stream HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(hear_response(c, false), 200);
	wait_for(&app.ended, 1);
	mr_http_stream_close(app.streams[0]);
	hang_up(c);
	stop();
}

/* ---- what is refused ---- */

static void refuses(void)
{
	static const struct {
		const char *request;
		int status;
		const char *body; /* NULL: the library's own page */
	} table[] = {
		{ "GET /nothing HTTP/1.1\r\n" HOST "\r\n", 404, "{\"detail\":\"Not Found\"}" },
		{ "GET http://localhost/quick HTTP/1.1\r\n" HOST "\r\n", 400,
			"{\"detail\":\"The path cannot be read\"}" },
		{ "GET /hello/a%2Fb HTTP/1.1\r\n" HOST "\r\n", 400,
			"{\"detail\":\"The path cannot be read\"}" },
		{ "GET /hello/%zz HTTP/1.1\r\n" HOST "\r\n", 400,
			"{\"detail\":\"The path cannot be read\"}" },
		{ "GET /hello/%00 HTTP/1.1\r\n" HOST "\r\n", 400,
			"{\"detail\":\"The path cannot be read\"}" },
		{ "GET /hello/a?q=%f HTTP/1.1\r\n" HOST "\r\n", 400,
			"{\"detail\":\"The query cannot be read\"}" },
		{ "GET /hello/a?q=%ff HTTP/1.1\r\n" HOST "\r\n", 400,
			"{\"detail\":\"The query cannot be read\"}" },
		{ "POST /quick HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi", 405,
			"{\"detail\":\"Method Not Allowed\"}" },
		/* framing */
		{ "GET /quick HTTP/1.1\r\n\r\n", 400, NULL },
		{ "GET /quick HTTP/1.0\r\n\r\n", 400, "{\"detail\":\"no Host\"}" },
		{ "GET /quick HTTP/1.1\r\n" HOST HOST "\r\n", 400,
			"{\"detail\":\"more than one Host\"}" },
		{ "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			400,
			"{\"detail\":\"Content-Length and Transfer-Encoding exclude each "
			"other\"}" },
		{ "POST /echo HTTP/1.1\r\n" HOST
		  "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
			400, "{\"detail\":\"more than one Content-Length\"}" },
		{ "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			400, "{\"detail\":\"more than one Transfer-Encoding\"}" },
		{ "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", 400,
			"{\"detail\":\"the only Transfer-Encoding understood is chunked\"}" },
		{ "POST /echo HTTP/1.1\r\n" HOST "Content-Length: x\r\n\r\n", 400, NULL },
		{ "POST /echo HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 400, NULL },
		/* whence */
		{ "GET /quick HTTP/1.1\r\nHost: localhost.evil.com\r\n\r\n", 403,
			"{\"detail\":\"This Host is not served here\"}" },
		{ "GET /nothing HTTP/1.1\r\nHost: evil.com\r\n\r\n", 403,
			"{\"detail\":\"This Host is not served here\"}" },
		{ "PATCH /quick HTTP/1.1\r\nHost: 127.0.0.1.nip.io\r\n\r\n", 403,
			"{\"detail\":\"This Host is not served here\"}" },
		{ "POST /echo HTTP/1.1\r\nHost: evil.com\r\nContent-Length: 2\r\n\r\nhi", 403,
			"{\"detail\":\"This Host is not served here\"}" },
		{ "GET /quick HTTP/1.1\r\n" HOST "Origin: null\r\n\r\n", 403,
			"{\"detail\":\"Requests from this Origin are not allowed\"}" },
		{ "GET /quick HTTP/1.1\r\n" HOST "Origin: http://localhost@evil.com\r\n\r\n", 403,
			"{\"detail\":\"Requests from this Origin are not allowed\"}" },
		{ "GET /nothing HTTP/1.1\r\n" HOST "Origin: https://evil.com\r\n\r\n", 403,
			"{\"detail\":\"Requests from this Origin are not allowed\"}" },
		/* and what is not refused */
		{ "GET /quick HTTP/1.1\r\nHost: LOCALHOST:8765\r\n\r\n", 200,
			"{\"status\":\"alive\"}" },
		{ "GET /quick HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200, "{\"status\":\"alive\"}" },
		{ "GET /quick HTTP/1.1\r\n" HOST "Origin: http://127.0.0.1:9\r\n\r\n", 200,
			"{\"status\":\"alive\"}" },
		{ "GET /quick HTTP/1.0\r\n" HOST "\r\n", 200, "{\"status\":\"alive\"}" },
	};

	start();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct client *c = client();
		int status = ask(c, table[i].request);

		if (status != table[i].status)
			test_fail(__FILE__, __LINE__, "%s: %d", table[i].request, status);
		if (table[i].body)
			CHECK_STR(c->body, table[i].body);
		hang_up(c);
	}
	stop();
}

static void goes_on_after_a_refusal(void)
{
	struct client *c;

	start();
	c = client();
	CHECK_INT(ask(c, "GET /nothing HTTP/1.1\r\n" HOST "\r\n"), 404);
	CHECK_INT(ask(c, "DELETE /hello/x HTTP/1.1\r\n" HOST "\r\n"), 405);
	CHECK_STR(header(c, "Allow"), "GET, HEAD");
	CHECK_INT(ask(c, "POST /quick HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi"), 405);
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\nHost: evil.com\r\n\r\n"), 403);
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	/* After bad framing it must not. */
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST HOST "\r\n"), 400);
	CHECK_STR(header(c, "Connection"), "close");
	CHECK(has_ended(c));
	hang_up(c);
	stop();
}

static void wants_the_token(void)
{
	static const struct {
		const char *request;
		int status;
	} table[] = {
		{ "GET /quick HTTP/1.1\r\n" HOST "\r\n", 200 },
		{ "GET /worker HTTP/1.1\r\n" HOST "\r\n", 401 },
		{ "GET /nothing HTTP/1.1\r\n" HOST "\r\n", 401 },
		{ "GET /worker HTTP/1.1\r\n" HOST "Authorization: Bearer s3cret\r\n\r\n", 200 },
		{ "GET /worker HTTP/1.1\r\n" HOST "authorization: bearer s3cret\r\n\r\n", 200 },
		{ "GET /nothing HTTP/1.1\r\n" HOST "Authorization: Bearer s3cret\r\n\r\n", 404 },
		{ "GET /worker HTTP/1.1\r\n" HOST "Authorization: Bearer s3cre\r\n\r\n", 401 },
		{ "GET /worker HTTP/1.1\r\n" HOST "Authorization: Basic s3cret\r\n\r\n", 401 },
		{ "GET /worker HTTP/1.1\r\nHost: evil.com\r\n\r\n", 403 },
	};
	struct mr_http_config config = defaults();
	struct client *c;

	config.token = "s3cret";
	start_with(&config);
	c = client();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(ask(c, table[i].request), table[i].status);
		if (c->status == 401) {
			CHECK_STR(c->body, "{\"detail\":\"Unauthorized\"}");
			CHECK_STR(header(c, "WWW-Authenticate"), "Bearer");
		}
	}
	hang_up(c);
	stop();
}

/* ---- bodies and limits ---- */

static void reads_chunked_bodies(void)
{
	struct client *c;

	start();
	c = client();
	CHECK_INT(ask(c,
			  "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
			  "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"),
		200);
	CHECK_STR(c->body, "abcdefg");
	say(c, "POST /echo-inline HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nx");
	say(c, "\r\n2\r\nyz\r\n0\r\n\r\n");
	CHECK_INT(hear_response(c, true), 200);
	CHECK_STR(c->body, "xyz");
	hang_up(c);
	stop();
}

static void carries_large_bodies(void)
{
	enum { LARGE = 200 * 1000 };
	char *body = malloc(LARGE);
	struct client *c;

	for (size_t i = 0; i < LARGE; i++)
		body[i] = (char)(i * 7 + i / 251);
	start();
	c = client();
	for (int i = 0; i < 2; i++) {
		say(c, i ? "POST /echo-inline HTTP/1.1\r\n" : "POST /echo HTTP/1.1\r\n");
		say(c, HOST "Content-Length: 200000\r\nExpect: 100-continue\r\n\r\n");
		CHECK_INT(hear_response(c, false), 100);
		say_bytes(c, body, LARGE);
		CHECK_INT(hear_response(c, true), 200);
		CHECK_INT(c->body_len, LARGE);
		CHECK(memcmp(c->body, body, LARGE) == 0);
	}
	free(body);
	hang_up(c);
	stop();
}

static void refuses_bodies_past_the_limit(void)
{
	struct mr_http_config config = defaults();
	struct client *c;
	char large[2000];

	memset(large, 'x', sizeof(large));
	config.max_body_bytes = 1000;
	start_with(&config);
	c = client();
	/* By Content-Length: the body is dropped, the connection goes on. */
	say(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2000\r\n\r\n");
	say_bytes(c, large, 2000);
	CHECK_INT(hear_response(c, true), 413);
	CHECK_STR(c->body, "{\"detail\":\"The body is larger than 1000 bytes\"}");
	/* By what arrives. */
	say(c, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n7d0\r\n");
	say_bytes(c, large, 2000);
	say(c, "\r\n0\r\n\r\n");
	CHECK_INT(hear_response(c, true), 413);
	CHECK_STR(c->body, "{\"detail\":\"The body is larger than 1000 bytes\"}");
	/* The limit itself is fine. */
	say(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n");
	say_bytes(c, large, 1000);
	CHECK_INT(hear_response(c, true), 200);
	/* A client that asks first is told first. */
	CHECK_INT(ask(c,
			  "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n"
			  "Expect: 100-continue\r\n\r\n"),
		413);
	CHECK(has_ended(c));
	hang_up(c);
	c = client();
	/* Far too much is not waited for. */
	CHECK_INT(ask(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 9000000000\r\n\r\n"), 413);
	CHECK(has_ended(c));
	hang_up(c);
	stop();
}

static void hangs_up_on_endless_bodies(void)
{
	struct mr_http_config config = defaults();
	struct client *c;
	char chunk[16 * 1024 + 16];
	ssize_t n = 0;

	memset(chunk, 'x', sizeof(chunk));
	memcpy(chunk, "4000\r\n", 6);
	memcpy(chunk + 6 + 0x4000, "\r\n", 2);
	config.max_body_bytes = 1000;
	start_with(&config);
	c = client();
	say(c, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 10000 && n >= 0; i++)
		n = send(c->fd, chunk, 6 + 0x4000 + 2, MSG_NOSIGNAL);
	CHECK(n < 0 && (errno == EPIPE || errno == ECONNRESET));
	hang_up(c);
	CHECK_INT(ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	stop();
}

static void refuses_headers_past_the_limit(void)
{
	static const size_t sizes[] = { 9000, 60000 };
	struct client *c;
	char *large = malloc(60000);

	memset(large, 'x', 60000);
	start();
	c = client();
	/* Just below is fine. */
	say(c, "GET /quick HTTP/1.1\r\n" HOST "X-Large: ");
	say_bytes(c, large, 8000);
	say(c, "\r\n\r\n");
	CHECK_INT(hear_response(c, true), 200);
	hang_up(c);
	for (size_t i = 0; i < MR_LEN(sizes); i++) {
		c = client();
		say(c, "GET /quick HTTP/1.1\r\n" HOST "X-Large: ");
		/* The server may hang up before it has read all. */
		(void)!send(c->fd, large, sizes[i], MSG_NOSIGNAL);
		(void)!send(c->fd, "\r\n\r\n", 4, MSG_NOSIGNAL);
		CHECK_INT(hear_response(c, true), 431);
		hang_up(c);
	}
	free(large);
	CHECK_INT(ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	stop();
}

static void hangs_up_on_slow_senders(void)
{
	static const char *const beginnings[] = {
		"",
		"GET /quick HT",
		"GET /quick HTTP/1.1\r\nHost: loc",
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nab",
	};
	struct mr_http_config config = defaults();

	config.idle_timeout_s = 1;
	config.receive_timeout_s = 1;
	config.keepalive_ms = 100;
	start_with(&config);
	for (size_t i = 0; i < MR_LEN(beginnings); i++) {
		struct client *c = client();

		say(c, beginnings[i]);
		/* One byte now and then, so that it is never silent for long. */
		for (int k = 0; k < 200; k++) {
			struct pollfd p = { .fd = c->fd, .events = POLLIN };

			if (poll(&p, 1, 100) > 0)
				break;
			if (*beginnings[i])
				(void)!send(c->fd, k % 2 ? "-" : "a", k < 2 ? 1 : 0, MSG_NOSIGNAL);
		}
		while (hear(c))
			;
		hang_up(c);
	}
	stop();
}

/* ---- workers ---- */

static void slow_handlers_delay_nobody(void)
{
	struct client *slow[3], *c;

	start();
	for (unsigned i = 0; i < 3; i++) {
		slow[i] = client();
		say(slow[i], "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	}
	wait_for(&app.entered, 3);
	c = client();
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
	open_gate();
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(hear_response(slow[i], true), 200);
		CHECK_STR(slow[i]->body, "{\"gate\":\"open\"}");
		hang_up(slow[i]);
	}
	hang_up(c);
	stop();
}

static void says_when_it_is_busy(void)
{
	struct mr_http_config config = defaults();
	struct client *running, *queued, *c;

	config.workers = 1;
	config.worker_queue = 1;
	start_with(&config);
	running = client();
	say(running, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	wait_for(&app.entered, 1);
	queued = client();
	say(queued, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	c = client();
	/* Inline answers show that the queued one has been read before. */
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(ask(c, "GET /gated HTTP/1.1\r\n" HOST "\r\n"), 503);
	CHECK_STR(header(c, "Retry-After"), "1");
	CHECK_STR(c->body, "{\"detail\":\"The server is busy\"}");
	open_gate();
	CHECK_INT(hear_response(running, true), 200);
	CHECK_INT(hear_response(queued, true), 200);
	CHECK_INT(ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
	hang_up(running);
	hang_up(queued);
	hang_up(c);
	stop();
}

static void survives_clients_that_leave(void)
{
	enum { LEAVERS = 20 };
	struct mr_http_config config = defaults();
	struct client *c;

	config.keepalive_ms = 100;
	start_with(&config);
	for (int i = 0; i < LEAVERS; i++) {
		c = client();
		say(c,
			i % 2 ? "GET /gated HTTP/1.1\r\n" HOST "\r\n"
			      : "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc");
		if (i % 2)
			wait_for(&app.entered, i < 16 ? (unsigned)i / 2 + 1 : 8);
		hang_up(c);
	}
	open_gate();
	wait_for(&app.observed, LEAVERS);
	CHECK_INT(ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	stop();
}

static void answers_clients_that_only_listen(void)
{
	static const char *const requests[] = {
		"GET /quick HTTP/1.1\r\n" HOST "\r\n",
		"GET /worker HTTP/1.1\r\n" HOST "\r\n",
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi",
	};
	struct mr_http_config config = defaults();

	config.keepalive_ms = 100;
	start_with(&config);
	for (size_t i = 0; i < MR_LEN(requests); i++) {
		struct client *c = client();

		say(c, requests[i]);
		shutdown(c->fd, SHUT_WR);
		CHECK_INT(hear_response(c, true), 200);
		CHECK(has_ended(c));
		hang_up(c);
	}
	stop();
}

static void serves_many_at_once(void)
{
	enum { CLIENTS = 200 };
	struct client *clients[CLIENTS];

	start();
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < CLIENTS; i++) {
			if (round == 0)
				clients[i] = client();
			say(clients[i],
				i % 2 ? "GET /worker HTTP/1.1\r\n" HOST "\r\n"
				      : "POST /echo HTTP/1.1\r\n" HOST
					"Content-Length: 2\r\n\r\nhi");
		}
		for (int i = 0; i < CLIENTS; i++)
			CHECK_INT(hear_response(clients[i], true), 200);
	}
	for (int i = 0; i < CLIENTS; i++)
		hang_up(clients[i]);
	stop();
}

/* ---- streams ---- */

static struct client *open_stream(void)
{
	struct client *c = client();
	unsigned before = app.streams_len;

	say(c, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
	CHECK(hear_head(c));
	CHECK_INT(c->status, 200);
	wait_for(&app.streams_len, before + 1);
	return c;
}

static void hear_text(struct client *c, const char *text)
{
	while (!strstr(c->body, text))
		CHECK(hear_chunk(c));
}

static void *send_events(void *arg)
{
	struct mr_http_stream *to = arg;
	struct mr_err err;

	for (int i = 0; i < 100; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", i);
		CHECK_OK(mr_http_stream_event(to, "message", id, "{\"a\":1}", &err), err);
	}
	return NULL;
}

static void streams_events_from_other_threads(void)
{
	pthread_t senders[2];
	struct client *c;
	struct mr_err err;
	size_t count = 0;

	start();
	c = open_stream();
	CHECK_STR(header(c, "Content-Type"), "text/event-stream");
	CHECK_STR(header(c, "Cache-Control"), "no-cache, no-transform");
	CHECK_STR(header(c, "X-Accel-Buffering"), "no");
	CHECK_OK(mr_http_stream_send(app.streams[0], mr_bytes_text("data: first\n\n"), &err), err);
	hear_text(c, "data: first\n\n");
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&senders[i], NULL, send_events, app.streams[0]) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(senders[i], NULL);
	CHECK_OK(mr_http_stream_event(app.streams[0], NULL, NULL, "last", &err), err);
	mr_http_stream_close(app.streams[0]);
	while (hear_chunk(c))
		;
	for (const char *at = c->body; (at = strstr(at, "event: message\nid: ")); at++)
		count++;
	CHECK_INT(count, 200);
	CHECK(strstr(c->body, "event: message\nid: 99\ndata: {\"a\":1}\n\n"));
	CHECK_STR(strstr(c->body, "data: last"), "data: last\n\n");
	wait_for(&app.ended, 1);
	/* The connection goes on. */
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	hang_up(c);
	stop();
	CHECK_INT(app.ended, 1);
}

static void answers_with_a_short_stream(void)
{
	struct client *c;

	start();
	c = client();
	for (int i = 0; i < 2; i++) {
		CHECK_INT(ask(c,
				  "POST /short-stream HTTP/1.1\r\n" HOST
				  "Content-Length: 2\r\n\r\nhi"),
			200);
		CHECK_STR(c->body, "event: message\nid: 1\ndata: {}\n\n");
		CHECK_STR(header(c, "Mcp-Session-Id"), "abc");
	}
	wait_for(&app.ended, 2);
	/* Without chunks the end of the connection is the end. */
	CHECK_INT(ask(c, "POST /short-stream HTTP/1.0\r\n" HOST "Content-Length: 2\r\n\r\nhi"),
		200);
	while (hear(c))
		;
	CHECK_STR(c->got, "event: message\nid: 1\ndata: {}\n\n");
	wait_for(&app.ended, 3);
	CHECK_INT(ask_once("GET /lost-stream HTTP/1.1\r\n" HOST "\r\n"), 200);
	wait_for(&app.ended, 4);
	hang_up(c);
	stop();
}

static void notices_that_a_client_left(void)
{
	struct client *c;
	struct mr_err err;

	start();
	c = open_stream();
	hang_up(c);
	/* Long before the next comment. */
	wait_for(&app.ended, 1);
	CHECK(mr_http_stream_send(app.streams[0], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	CHECK_STR(err.msg, "the stream has ended");
	mr_http_stream_close(app.streams[0]);
	c = client();
	say(c, "GET /stream-inline HTTP/1.1\r\n" HOST "\r\n");
	CHECK(hear_head(c));
	shutdown(c->fd, SHUT_WR);
	wait_for(&app.ended, 2);
	hang_up(c);
	stop();
	/* Safe even when the server is no more. */
	CHECK(mr_http_stream_send(app.streams[1], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	mr_http_stream_close(app.streams[1]);
	mr_http_stream_close(NULL);
}

static void drops_slow_readers(void)
{
	struct mr_http_config config = defaults();
	struct client *slow, *other;
	char piece[8 * 1024];
	struct mr_err err;
	enum mr_code rc = MR_OK;

	memset(piece, 'x', sizeof(piece));
	config.max_stream_bytes = 64 * 1024;
	start_with(&config);
	slow = open_stream();
	other = open_stream();
	/* The kernel takes some megabytes first. */
	for (int i = 0; i < 100000 && rc == MR_OK; i++)
		rc = mr_http_stream_send(app.streams[0], mr_bytes_of(piece, sizeof(piece)), &err);
	CHECK(rc == MR_ELIMIT);
	CHECK(strstr(err.msg, "the client does not read its stream"));
	wait_for(&app.ended, 1);
	CHECK(mr_http_stream_send(app.streams[0], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	CHECK_OK(mr_http_stream_send(app.streams[1], mr_bytes_text(": here\n\n"), &err), err);
	hear_text(other, ": here\n\n");
	/* One event larger than the queue can ever be. */
	rc = MR_OK;
	for (int i = 0; i < 9 && rc == MR_OK; i++) {
		char whole[65 * 1024] = { 0 };

		rc = mr_http_stream_send(app.streams[1], mr_bytes_of(whole, sizeof(whole)), &err);
	}
	CHECK(rc == MR_ELIMIT);
	wait_for(&app.ended, 2);
	mr_http_stream_close(app.streams[0]);
	mr_http_stream_close(app.streams[1]);
	hang_up(slow);
	hang_up(other);
	stop();
}

static void breaks_the_silence(void)
{
	struct mr_http_config config = defaults();
	struct client *c;

	config.keepalive_ms = 20;
	start_with(&config);
	c = open_stream();
	hear_text(c, ": keepalive\n\n: keepalive\n\n: keepalive\n\n");
	mr_http_stream_close(app.streams[0]);
	while (hear_chunk(c))
		;
	hang_up(c);
	stop();
}

static void holds_many_idle_streams(void)
{
	enum { MANY = 250 };
	struct mr_http_config config = defaults();
	struct client *clients[MANY], *c;
	struct mr_err err;

	config.max_streams = MANY;
	config.workers = 1;
	start_with(&config);
	for (int i = 0; i < MANY; i++)
		clients[i] = open_stream();
	c = client();
	CHECK_INT(ask(c, "GET /stream HTTP/1.1\r\n" HOST "\r\n"), mr_code_http_status(MR_ELIMIT));
	CHECK_STR(c->body, "{\"detail\":\"250 streams are open, which is the maximum\"}");
	CHECK_INT(ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
	for (int i = 0; i < MANY; i++)
		CHECK_OK(mr_http_stream_event(app.streams[i], NULL, NULL, "hello", &err), err);
	for (int i = 0; i < MANY; i++)
		hear_text(clients[i], "data: hello\n\n");
	for (int i = 0; i < MANY; i += 2)
		hang_up(clients[i]);
	wait_for(&app.ended, MANY / 2);
	/* There is room again. */
	hang_up(open_stream());
	wait_for(&app.ended, MANY / 2 + 1);
	for (unsigned i = 0; i < app.streams_len; i++)
		mr_http_stream_close(app.streams[i]);
	wait_for(&app.ended, MANY + 1);
	for (int i = 1; i < MANY; i += 2)
		hang_up(clients[i]);
	hang_up(c);
	stop();
}

static void formats_events(void)
{
	static const struct {
		const char *event, *id, *data, *text;
	} table[] = {
		{ "message", "7", "{}", "event: message\nid: 7\ndata: {}\n\n" },
		{ NULL, NULL, "x", "data: x\n\n" },
		{ NULL, "1", "", "id: 1\ndata: \n\n" },
		{ "ping", NULL, NULL, "event: ping\n\n" },
		{ NULL, NULL, "a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n\n" },
		{ NULL, NULL, "a\n", "data: a\ndata: \n\n" },
		{ NULL, NULL, "\n\n", "data: \ndata: \ndata: \n\n" },
	};
	struct mr_buf buf MR_CLEANUP(mr_buf_release);
	struct mr_err err;

	mr_buf_init(&buf, 100);
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_OK(mr_http_stream_format(&buf, table[i].event, table[i].id, table[i].data,
				 &err),
			err);
		CHECK_STR(mr_buf_text(&buf), table[i].text);
		mr_buf_clear(&buf);
	}
	CHECK(mr_http_stream_format(&buf, "a\nb", NULL, NULL, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "an event's name must be one line");
	CHECK(mr_http_stream_format(&buf, NULL, "a\rb", NULL, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "an event's id must be one line");
	buf.max = 5;
	CHECK(mr_http_stream_format(&buf, NULL, NULL, "long", &err) == MR_ELIMIT);
}

/* ---- start and stop ---- */

static void *stop_server(void *arg)
{
	mr_http_server_stop(server, *(unsigned *)arg);
	return NULL;
}

static bool is_refused(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int rc = connect(fd, (struct sockaddr *)&addr, sizeof(addr));

	close(fd);
	return rc != 0;
}

static void stop_answers_what_is_in_flight(void)
{
	unsigned grace_ms = 1000 * WAIT_S;
	struct client *slow, *idle, *streaming;
	struct mr_err err;
	pthread_t stopper;

	start();
	slow = client();
	say(slow, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	wait_for(&app.entered, 1);
	idle = client();
	CHECK_INT(ask(idle, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	streaming = open_stream();
	CHECK_OK(mr_http_stream_event(app.streams[0], NULL, NULL, "bye", &err), err);
	CHECK(pthread_create(&stopper, NULL, stop_server, &grace_ms) == 0);

	/* The stream is ended properly, which shows that stop has begun. */
	while (hear_chunk(streaming))
		;
	CHECK_STR(streaming->body, "data: bye\n\n");
	wait_for(&app.ended, 1);
	while (!is_refused(mr_http_server_port(server)))
		;
	/* What comes on an open connection is still answered, once. */
	CHECK_INT(ask(idle, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_STR(header(idle, "Connection"), "close");
	CHECK(has_ended(idle));
	open_gate();
	CHECK_INT(hear_response(slow, true), 200);
	CHECK_STR(slow->body, "{\"gate\":\"open\"}");
	CHECK_STR(header(slow, "Connection"), "close");
	CHECK(has_ended(slow));
	pthread_join(stopper, NULL);
	CHECK(mr_http_stream_send(app.streams[0], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	mr_http_stream_close(app.streams[0]);
	hang_up(slow);
	hang_up(idle);
	hang_up(streaming);
	mr_http_server_free(server);
}

static void stop_without_grace_refuses_what_has_not_begun(void)
{
	unsigned grace_ms = 50;
	struct mr_http_config config = defaults();
	struct client *running, *queued;
	pthread_t stopper;

	config.workers = 1;
	start_with(&config);
	running = client();
	say(running, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	wait_for(&app.entered, 1);
	queued = client();
	say(queued, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK(pthread_create(&stopper, NULL, stop_server, &grace_ms) == 0);
	CHECK_INT(hear_response(queued, true), 503);
	CHECK_STR(queued->body, "{\"detail\":\"The server is stopping\"}");
	/* The handler that runs is waited for, however long. */
	open_gate();
	CHECK_INT(hear_response(running, true), 200);
	pthread_join(stopper, NULL);
	hang_up(running);
	hang_up(queued);
	mr_http_server_free(server);
}

static void stops_with_everything_open(void)
{
	struct client *clients[30];

	start();
	for (int i = 0; i < 30; i++)
		clients[i] = i % 3 ? client() : open_stream();
	for (int i = 1; i < 30; i += 3)
		say(clients[i], "GET /quick HTT");
	mr_http_server_stop(server, 0);
	CHECK_INT(app.ended, 10);
	for (int i = 0; i < 30; i++)
		hang_up(clients[i]);
	for (int i = 0; i < 10; i++)
		mr_http_stream_close(app.streams[i]);
	mr_http_server_free(server);
	mr_http_server_free(NULL);
}

static enum mr_code try_start(const struct mr_http_config *config, struct mr_err *err)
{
	struct mr_http_server *out = (struct mr_http_server *)(void *)&app;
	enum mr_code rc = mr_http_server_start(config, routes, MR_LEN(routes), &app, &out, err);

	CHECK(rc != MR_OK);
	CHECK((void *)out == (void *)&app);
	return rc;
}

static void says_why_it_cannot_start(void)
{
	struct mr_http_config config = defaults();
	struct mr_http_route bad = { "GET", "nowhere", quick, 0 };
	struct mr_err err;
	char want[256];

	start();
	config.port = mr_http_server_port(server);
	CHECK(try_start(&config, &err) == MR_EBUSY);
	snprintf(want, sizeof(want),
		"cannot listen on 127.0.0.1:%d: the port is in use; stop the server that has it or "
		"choose another port",
		config.port);
	CHECK_STR(err.msg, want);
	snprintf(want, sizeof(want), "http://127.0.0.1:%d", config.port);
	CHECK_STR(mr_http_server_url(server), want);
	stop();

	config.port = 70000;
	CHECK(try_start(&config, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "the port must be 0 to 65535, not 70000");
	config.port = 0;
	config.host = "no such host";
	CHECK(try_start(&config, &err) == MR_EINVAL);
	CHECK(strncmp(err.msg, "cannot listen on no such host:0: unknown host (", 47) == 0);
	config.host = "192.0.2.1";
	CHECK(try_start(&config, &err) == MR_EINVAL);
	CHECK_STR(err.msg,
		"cannot listen on 192.0.2.1:0: this machine has no such address; use "
		"127.0.0.1, or 0.0.0.0 for all of them");
	config.host = "127.0.0.1";
	config.workers = 0;
	CHECK(try_start(&config, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "http: workers must be 1 to 1024, not 0");
	config.workers = 1;
	config.token = "";
	CHECK(try_start(&config, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "http: the token is empty");
	config.token = NULL;
	CHECK(mr_http_server_start(&config, &bad, 1, &app, &server, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "route 0, nowhere: it must start with /");
}

static void binds_where_it_is_told(void)
{
	struct mr_http_config config = defaults();
	struct client *c;

	config.host = "localhost";
	start_with(&config);
	CHECK_INT(ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	stop();

	/* Bound to every address it answers to the one it was reached at, and no other. */
	config.host = "0.0.0.0";
	start_with(&config);
	c = connect_from("127.0.0.7", mr_http_server_port(server));
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.7\r\n\r\n"), 200);
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.8\r\n\r\n"), 403);
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\nHost: 0.0.0.0\r\n\r\n"), 403);
	hang_up(c);
	stop();

	config.host = "127.0.0.9";
	start_with(&config);
	c = connect_from("127.0.0.9", mr_http_server_port(server));
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.9\r\n\r\n"), 200);
	CHECK_INT(ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.7\r\n\r\n"), 403);
	hang_up(c);
	stop();
}

/* ---- the log ---- */

static char logged[4096];

static void keep_log(void *arg, const char *line, size_t len)
{
	(void)arg;
	snprintf(logged, sizeof(logged), "%.*s", (int)len, line);
}

static void logs_requests_without_secrets(void)
{
	struct mr_http_config config = defaults();
	struct client *c;
	char request[2048];

	mr_log_start(MR_LOG_INFO, keep_log, NULL);
	config.log_requests = true;
	config.token = "s3cret";
	start_with(&config);
	c = client();
	CHECK_INT(ask(c,
			  "GET /hello/x?q=private HTTP/1.1\r\n" HOST
			  "Authorization: Bearer s3cret\r\nX-Request-Id: r1\r\n\r\n"),
		201);
	wait_for(&app.observed, 1);
	CHECK(strstr(logged,
		"\"event\":\"http_request\",\"request_id\":\"r1\",\"method\":\"GET\","
		"\"path\":\"/hello/x\",\"status\":201,\"duration_ms\":"));
	CHECK(strstr(logged, "\"client_ip\":\"127.0.0.1\"}\n"));
	CHECK(!strstr(logged, "s3cret") && !strstr(logged, "private"));
	snprintf(request, sizeof(request), "GET /%01000d HTTP/1.1\r\n" HOST "\r\n", 0);
	CHECK_INT(ask(c, request), 401);
	wait_for(&app.observed, 2);
	CHECK(strstr(logged, "\"path\":\"/000") && strlen(logged) < 600);
	hang_up(c);
	stop();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(keeps_connections_alive),
		TEST(answers_pipelined_requests_in_order),
		TEST(says_what_every_response_says),
		TEST(gives_handlers_what_they_need),
		TEST(answers_head_like_get_without_a_body),
		TEST(refuses),
		TEST(goes_on_after_a_refusal),
		TEST(wants_the_token),
		TEST(reads_chunked_bodies),
		TEST(carries_large_bodies),
		TEST(refuses_bodies_past_the_limit),
		TEST(hangs_up_on_endless_bodies),
		TEST(refuses_headers_past_the_limit),
		TEST(hangs_up_on_slow_senders),
		TEST(slow_handlers_delay_nobody),
		TEST(says_when_it_is_busy),
		TEST(survives_clients_that_leave),
		TEST(answers_clients_that_only_listen),
		TEST(serves_many_at_once),
		TEST(streams_events_from_other_threads),
		TEST(answers_with_a_short_stream),
		TEST(notices_that_a_client_left),
		TEST(drops_slow_readers),
		TEST(breaks_the_silence),
		TEST(holds_many_idle_streams),
		TEST(formats_events),
		TEST(stop_answers_what_is_in_flight),
		TEST(stop_without_grace_refuses_what_has_not_begun),
		TEST(stops_with_everything_open),
		TEST(says_why_it_cannot_start),
		TEST(binds_where_it_is_told),
		TEST(logs_requests_without_secrets),
	};
	return test_main(tests, MR_LEN(tests));
}
