/* tests/unit/surface/test_server.c - a server spoken to over raw sockets; its streams:
 * test_stream.c */
#include "http_app.h"

#include "base/log.h"
#include "test.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- requests ---- */

static void keeps_connections_alive(void)
{
	struct client *c;

	app_start();
	c = app_client();
	for (int i = 0; i < 5; i++) {
		CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
		CHECK_STR(c->body, "{\"status\":\"alive\"}");
		CHECK_INT(client_ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
		CHECK_INT(client_ask(c,
				  "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"),
			200);
		CHECK_STR(c->body, "abc");
		CHECK_INT(client_ask(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
			200);
		CHECK_STR(c->body, "");
	}
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"), 200);
	CHECK(client_has_ended(c));
	app_wait_for(&app.observed, 21);
	CHECK_STR(app.last_pattern, "/quick");
	CHECK_INT(app.last.status, 200);
	CHECK_INT(app.last.bytes, 18);
	CHECK(app.last.duration_us >= 0);
	client_close(c);
	app_stop();
}

static void answers_pipelined_requests_in_order(void)
{
	struct client *c;

	app_start();
	c = app_client();
	client_say(c,
		"GET /hello/a HTTP/1.1\r\n" HOST "\r\n"
		"GET /quick HTTP/1.1\r\n" HOST "\r\n"
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi"
		"GET /nothing HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(client_hear_response(c, true), 201);
	CHECK_INT(client_hear_response(c, true), 200);
	CHECK_INT(client_hear_response(c, true), 200);
	CHECK_STR(c->body, "hi");
	CHECK_INT(client_hear_response(c, true), 404);
	client_close(c);
	app_stop();
}

static void says_what_every_response_says(void)
{
	struct client *c;
	char first[64];

	app_start();
	c = app_client();
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_STR(client_header(c, "Content-Type"), "application/json");
	CHECK_STR(client_header(c, "X-Content-Type-Options"), "nosniff");
	CHECK_STR(client_header(c, "Cache-Control"), "no-store");
	CHECK_STR(client_header(c, "Server"), NULL);
	CHECK_INT(strlen(client_header(c, "X-Request-Id")), 16);
	snprintf(first, sizeof(first), "%s", client_header(c, "X-Request-Id"));
	CHECK_INT(client_ask(c, "GET /nothing HTTP/1.1\r\n" HOST "\r\n"), 404);
	CHECK(strcmp(client_header(c, "X-Request-Id"), first) != 0);
	CHECK_STR(client_header(c, "X-Content-Type-Options"), "nosniff");
	CHECK_STR(c->body, "{\"detail\":\"Not Found\"}");
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "X-Request-Id: my.id-7\r\n\r\n"),
		200);
	CHECK_STR(client_header(c, "X-Request-Id"), "my.id-7");
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "X-Request-Id: a\"b\r\n\r\n"), 200);
	CHECK_INT(strlen(client_header(c, "X-Request-Id")), 16);
	CHECK_INT(client_ask(c, "GET /fails HTTP/1.1\r\n" HOST "\r\n"), 404);
	CHECK_STR(c->body, "{\"detail\":\"no \\\"mail\\\" here\"}");
	client_close(c);
	app_stop();
}

static void gives_handlers_what_they_need(void)
{
	struct client *c;

	app_start();
	c = app_client();
	CHECK_INT(client_ask(c,
			  "GET /hello/Blue%20Fox/?flag&q=a+b%2Bc%26d&q=2 HTTP/1.1\r\n" HOST
			  "X-Test: yes\r\n\r\n"),
		201);
	CHECK_STR(c->body, "name=Blue Fox q=a b+c&d flag=yes header=yes ip=127.0.0.1 here");
	CHECK_STR(client_header(c, "Cache-Control"), "max-age=5");
	CHECK_STR(client_header(c, "X-Bad"), NULL);
	CHECK_STR(client_header(c, "Set-Cookie"), NULL);
	CHECK_INT(client_ask(c, "GET /hello/%2541?q=%2541 HTTP/1.1\r\n" HOST "X-Test: \r\n\r\n"),
		201);
	CHECK_STR(c->body, "name=%41 q=%41 flag=no header= ip=127.0.0.1 here");
	client_close(c);
	app_stop();
}

static void answers_head_like_get_without_a_body(void)
{
	struct client *c;

	app_start();
	c = app_client();
	client_say(c, "HEAD /quick HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(client_hear_response(c, false), 200);
	CHECK_STR(client_header(c, "Content-Length"), "18");
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	client_say(c, "HEAD /stream HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(client_hear_response(c, false), 200);
	app_wait_for(&app.ended, 1);
	mr_http_stream_close(app.streams[0]);
	client_close(c);
	app_stop();
}

/* ---- workers ---- */

static void slow_handlers_delay_nobody(void)
{
	struct client *slow[3], *c;

	app_start();
	for (unsigned i = 0; i < 3; i++) {
		slow[i] = app_client();
		client_say(slow[i], "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	}
	app_wait_for(&app.entered, 3);
	c = app_client();
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(client_ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_open_gate();
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(client_hear_response(slow[i], true), 200);
		CHECK_STR(slow[i]->body, "{\"gate\":\"open\"}");
		client_close(slow[i]);
	}
	client_close(c);
	app_stop();
}

static void says_when_it_is_busy(void)
{
	struct mr_http_config config = app_config();
	struct client *running, *queued, *c;

	config.workers = 1;
	config.more_workers = config.max_waits = 0;
	config.worker_queue = 1;
	app_start_with(&config);
	running = app_client();
	client_say(running, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	app_wait_for(&app.entered, 1);
	queued = app_client();
	client_say(queued, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	c = app_client();
	/* Inline answers show that the queued one has been read before. */
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(client_ask(c, "GET /gated HTTP/1.1\r\n" HOST "\r\n"), 503);
	CHECK_STR(client_header(c, "Retry-After"), "1");
	CHECK_STR(c->body, "{\"detail\":\"The server is busy\"}");
	app_open_gate();
	CHECK_INT(client_hear_response(running, true), 200);
	CHECK_INT(client_hear_response(queued, true), 200);
	CHECK_INT(client_ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
	client_close(running);
	client_close(queued);
	client_close(c);
	app_stop();
}

static void survives_clients_that_leave(void)
{
	enum { LEAVERS = 20 };
	struct mr_http_config config = app_config();
	struct client *c;

	config.keepalive_ms = 100;
	app_start_with(&config);
	for (int i = 0; i < LEAVERS; i++) {
		c = app_client();
		client_say(c,
			i % 2 ? "GET /gated HTTP/1.1\r\n" HOST "\r\n"
			      : "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc");
		if (i % 2)
			app_wait_for(&app.entered, i < 16 ? (unsigned)i / 2 + 1 : 8);
		client_close(c);
	}
	app_open_gate();
	app_wait_for(&app.observed, LEAVERS);
	CHECK_INT(app_ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_stop();
}

static void answers_clients_that_only_listen(void)
{
	static const char *const requests[] = {
		"GET /quick HTTP/1.1\r\n" HOST "\r\n",
		"GET /worker HTTP/1.1\r\n" HOST "\r\n",
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi",
	};
	struct mr_http_config config = app_config();

	config.keepalive_ms = 100;
	app_start_with(&config);
	for (size_t i = 0; i < MR_LEN(requests); i++) {
		struct client *c = app_client();

		client_say(c, requests[i]);
		shutdown(c->fd, SHUT_WR);
		CHECK_INT(client_hear_response(c, true), 200);
		CHECK(client_has_ended(c));
		client_close(c);
	}
	app_stop();
}

static void serves_many_at_once(void)
{
	enum { CLIENTS = 200 };
	struct client *clients[CLIENTS];

	app_start();
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < CLIENTS; i++) {
			if (round == 0)
				clients[i] = app_client();
			client_say(clients[i],
				i % 2 ? "GET /worker HTTP/1.1\r\n" HOST "\r\n"
				      : "POST /echo HTTP/1.1\r\n" HOST
					"Content-Length: 2\r\n\r\nhi");
		}
		for (int i = 0; i < CLIENTS; i++)
			CHECK_INT(client_hear_response(clients[i], true), 200);
	}
	for (int i = 0; i < CLIENTS; i++)
		client_close(clients[i]);
	app_stop();
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
	unsigned grace_ms = 20 * 1000;
	struct client *slow, *idle, *streaming;
	struct mr_err err;
	pthread_t stopper;

	app_start();
	slow = app_client();
	client_say(slow, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	app_wait_for(&app.entered, 1);
	idle = app_client();
	CHECK_INT(client_ask(idle, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	streaming = app_open_stream();
	CHECK_OK(mr_http_stream_event(app.streams[0], NULL, NULL, "bye", &err), err);
	CHECK(pthread_create(&stopper, NULL, stop_server, &grace_ms) == 0);

	/* The stream is ended properly, which shows that stop has begun. */
	while (client_hear_chunk(streaming))
		;
	CHECK_STR(streaming->body, "data: bye\n\n");
	app_wait_for(&app.ended, 1);
	while (!is_refused(mr_http_server_port(server)))
		;
	/* What comes on an open connection is still answered, once. */
	CHECK_INT(client_ask(idle, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_STR(client_header(idle, "Connection"), "close");
	CHECK(client_has_ended(idle));
	app_open_gate();
	CHECK_INT(client_hear_response(slow, true), 200);
	CHECK_STR(slow->body, "{\"gate\":\"open\"}");
	CHECK_STR(client_header(slow, "Connection"), "close");
	CHECK(client_has_ended(slow));
	pthread_join(stopper, NULL);
	CHECK(mr_http_stream_send(app.streams[0], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	mr_http_stream_close(app.streams[0]);
	client_close(slow);
	client_close(idle);
	client_close(streaming);
	mr_http_server_free(server);
}

static void stop_without_grace_refuses_what_has_not_begun(void)
{
	unsigned grace_ms = 50;
	struct mr_http_config config = app_config();
	struct client *running, *queued;
	pthread_t stopper;

	config.workers = 1;
	config.more_workers = config.max_waits = 0;
	app_start_with(&config);
	running = app_client();
	client_say(running, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	app_wait_for(&app.entered, 1);
	queued = app_client();
	client_say(queued, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
	CHECK_INT(app_ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(app_ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK(pthread_create(&stopper, NULL, stop_server, &grace_ms) == 0);
	CHECK_INT(client_hear_response(queued, true), 503);
	CHECK_STR(queued->body, "{\"detail\":\"The server is stopping\"}");
	/* The handler that runs is waited for, however long. */
	app_open_gate();
	CHECK_INT(client_hear_response(running, true), 200);
	pthread_join(stopper, NULL);
	client_close(running);
	client_close(queued);
	mr_http_server_free(server);
}

static void stops_with_everything_open(void)
{
	struct client *clients[30];

	app_start();
	for (int i = 0; i < 30; i++)
		clients[i] = i % 3 ? app_client() : app_open_stream();
	for (int i = 1; i < 30; i += 3)
		client_say(clients[i], "GET /quick HTT");
	mr_http_server_stop(server, 0);
	CHECK_INT(app.ended, 10);
	for (int i = 0; i < 30; i++)
		client_close(clients[i]);
	for (int i = 0; i < 10; i++)
		mr_http_stream_close(app.streams[i]);
	mr_http_server_free(server);
	mr_http_server_free(NULL);
}

static enum mr_code try_start(const struct mr_http_config *config, struct mr_err *err)
{
	struct mr_http_server *out = (struct mr_http_server *)(void *)&app;
	enum mr_code rc = mr_http_server_start(config, app_routes, APP_ROUTES, &app, &out, err);

	CHECK(rc != MR_OK);
	CHECK((void *)out == (void *)&app);
	return rc;
}

static void says_why_it_cannot_start(void)
{
	struct mr_http_config config = app_config();
	struct mr_http_route bad = { "GET", "nowhere", app_routes[0].handler, 0 };
	struct mr_err err;
	char want[256];

	app_start();
	config.port = mr_http_server_port(server);
	CHECK(try_start(&config, &err) == MR_EBUSY);
	snprintf(want, sizeof(want),
		"cannot listen on 127.0.0.1:%d: the port is in use; stop the server that has it or "
		"choose another port",
		config.port);
	CHECK_STR(err.msg, want);
	snprintf(want, sizeof(want), "http://127.0.0.1:%d", config.port);
	CHECK_STR(mr_http_server_url(server), want);
	app_stop();

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
	/* Root may, and the kernel may be told to let everybody. */
	config.host = "127.0.0.1";
	config.port = 1;
	if (mr_http_server_start(&config, app_routes, APP_ROUTES, &app, &server, &err) == MR_OK) {
		app_stop();
	} else {
		CHECK(err.code == MR_EPERM);
		CHECK_STR(err.msg,
			"cannot listen on 127.0.0.1:1: ports below 1024 need privileges; "
			"choose one from 1024 up");
	}
	config.port = 0;
	config.workers = 0;
	CHECK(try_start(&config, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "http: workers must be 1 to 1024, not 0");
	config.workers = 1;
	CHECK(mr_http_server_start(&config, &bad, 1, &app, &server, &err) == MR_EINVAL);
	CHECK_STR(err.msg, "route 0, nowhere: it must start with /");
}

static void binds_where_it_is_told(void)
{
	struct mr_http_config config = app_config();
	struct client *c;

	config.host = "localhost";
	app_start_with(&config);
	CHECK_INT(app_ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_stop();

	/* Bound to every address it answers to the one it was reached at, and no other. */
	config.host = "0.0.0.0";
	app_start_with(&config);
	c = client_open_at("127.0.0.7", mr_http_server_port(server));
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.7\r\n\r\n"), 200);
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.8\r\n\r\n"), 403);
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\nHost: 0.0.0.0\r\n\r\n"), 403);
	client_close(c);
	app_stop();

	config.host = "127.0.0.9";
	app_start_with(&config);
	c = client_open_at("127.0.0.9", mr_http_server_port(server));
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.9\r\n\r\n"), 200);
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\nHost: 127.0.0.7\r\n\r\n"), 403);
	client_close(c);
	app_stop();
}

static void serves_over_ipv6(void)
{
	struct mr_http_config config = app_config();
	struct client *c;
	struct mr_err err;

	config.host = "::1";
	if (mr_http_server_start(&config, app_routes, APP_ROUTES, &app, &server, &err)) {
		CHECK(strncmp(err.msg, "cannot listen on [::1]:0: ", 26) == 0);
		return; /* a machine without IPv6 */
	}
	CHECK(strncmp(mr_http_server_url(server), "http://[::1]:", 13) == 0);
	c = client_open_at("::1", mr_http_server_port(server));
	CHECK_INT(client_ask(c, "GET /hello/x HTTP/1.1\r\nHost: [::1]\r\nX-Test: 6\r\n\r\n"), 201);
	CHECK_STR(c->body, "name=x q=(none) flag=no header=6 ip=::1 here");
	client_close(c);
	app_stop();

	config.host = "::";
	app_start_with(&config);
	c = client_open_at("127.0.0.1", mr_http_server_port(server));
	CHECK_INT(client_ask(c, "GET /hello/x HTTP/1.1\r\n" HOST "X-Test: 4\r\n\r\n"), 201);
	CHECK_STR(c->body, "name=x q=(none) flag=no header=4 ip=127.0.0.1 here");
	client_close(c);
	app_stop();
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
	struct mr_http_config config = app_config();
	struct client *c;
	char request[2048];

	mr_log_start(MR_LOG_INFO, keep_log, NULL);
	config.log_requests = true;
	config.access = app_access("s3cret");
	app_start_with(&config);
	c = app_client();
	CHECK_INT(client_ask(c,
			  "GET /hello/x?q=private HTTP/1.1\r\n" HOST
			  "Authorization: Bearer s3cret\r\nX-Request-Id: r1\r\n\r\n"),
		201);
	app_wait_for(&app.observed, 1);
	CHECK(strstr(logged,
		"\"event\":\"http_request\",\"request_id\":\"r1\",\"method\":\"GET\","
		"\"path\":\"/hello/x\",\"status\":201,\"duration_ms\":"));
	CHECK(strstr(logged, "\"client_ip\":\"127.0.0.1\"}\n"));
	CHECK(!strstr(logged, "s3cret") && !strstr(logged, "private"));
	snprintf(request, sizeof(request), "GET /%01000d HTTP/1.1\r\n" HOST "\r\n", 0);
	CHECK_INT(client_ask(c, request), 401);
	app_wait_for(&app.observed, 2);
	CHECK(strstr(logged, "\"path\":\"/000") && strlen(logged) < 600);
	client_close(c);
	app_stop();
	mr_http_access_free(config.access);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(keeps_connections_alive),
		TEST(answers_pipelined_requests_in_order),
		TEST(says_what_every_response_says),
		TEST(gives_handlers_what_they_need),
		TEST(answers_head_like_get_without_a_body),
		TEST(slow_handlers_delay_nobody),
		TEST(says_when_it_is_busy),
		TEST(survives_clients_that_leave),
		TEST(answers_clients_that_only_listen),
		TEST(serves_many_at_once),
		TEST(stop_answers_what_is_in_flight),
		TEST(stop_without_grace_refuses_what_has_not_begun),
		TEST(stops_with_everything_open),
		TEST(says_why_it_cannot_start),
		TEST(binds_where_it_is_told),
		TEST(serves_over_ipv6),
		TEST(logs_requests_without_secrets),
	};
	return test_main(tests, MR_LEN(tests));
}
