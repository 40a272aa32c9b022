/* tests/unit/surface/http_app.c */
#include "http_app.h"

#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { WAIT_S = 20 };

struct app app = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
struct mr_http_server *server;

/* Wait, with an end, for `*counter` to reach `want`. */
void app_wait_for(const unsigned *counter, unsigned want)
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

void app_open_gate(void)
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

const struct mr_http_route app_routes[APP_ROUTES] = {
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

struct mr_http_config app_config(void)
{
	struct mr_http_config config;

	mr_http_config_defaults(&config);
	config.observe = observe;
	return config;
}

struct mr_http_access *app_access(const char *token)
{
	struct mr_http_token one = { token, MR_ROLE_ADMIN };
	struct mr_http_access_config config;
	struct mr_http_access *access;
	struct mr_err err;

	mr_http_access_defaults(&config);
	config.tokens = &one;
	config.tokens_len = 1;
	config.allow_local = false;
	CHECK_OK(mr_http_access_new(&config, &access, &err), err);
	return access;
}

void app_start_with(const struct mr_http_config *config)
{
	struct mr_err err;

	CHECK_OK(mr_http_server_start(config, app_routes, APP_ROUTES, &app, &server, &err), err);
}

void app_start(void)
{
	struct mr_http_config config = app_config();

	app_start_with(&config);
}

void app_stop(void)
{
	mr_http_server_stop(server, 2000);
	mr_http_server_stop(server, 2000);
	mr_http_server_free(server);
}

struct client *app_client(void)
{
	return client_open_at("127.0.0.1", mr_http_server_port(server));
}

/* One request on a connection of its own. */
int app_ask_once(const char *text)
{
	struct client *c = app_client();
	int status = client_ask(c, text);

	client_close(c);
	return status;
}

struct client *app_open_stream(void)
{
	struct client *c = app_client();
	unsigned before = app.streams_len;

	client_say(c, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
	CHECK(client_hear_head(c));
	CHECK_INT(c->status, 200);
	app_wait_for(&app.streams_len, before + 1);
	return c;
}
