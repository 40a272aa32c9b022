/* tests/unit/surface/test_admit.c - what a server refuses, and its limits, over raw sockets. */
#include "http_app.h"

#include "test.h"
#include "text/time.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

	app_start();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct client *c = app_client();
		int status = client_ask(c, table[i].request);

		if (status != table[i].status)
			test_fail(__FILE__, __LINE__, "%s: %d", table[i].request, status);
		if (table[i].body)
			CHECK_STR(c->body, table[i].body);
		client_close(c);
	}
	app_stop();
}

static void goes_on_after_a_refusal(void)
{
	struct client *c;

	app_start();
	c = app_client();
	CHECK_INT(client_ask(c, "GET /nothing HTTP/1.1\r\n" HOST "\r\n"), 404);
	CHECK_INT(client_ask(c, "DELETE /hello/x HTTP/1.1\r\n" HOST "\r\n"), 405);
	CHECK_STR(client_header(c, "Allow"), "GET, HEAD");
	CHECK_INT(client_ask(c, "POST /quick HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi"),
		405);
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\nHost: evil.com\r\n\r\n"), 403);
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	/* After bad framing it must not. */
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST HOST "\r\n"), 400);
	CHECK_STR(client_header(c, "Connection"), "close");
	CHECK(client_has_ended(c));
	client_close(c);
	app_stop();
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
	struct mr_http_config config = app_config();
	struct client *c;

	config.access = app_access("s3cret");
	app_start_with(&config);
	c = app_client();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(client_ask(c, table[i].request), table[i].status);
		if (c->status == 401) {
			CHECK_STR(c->body, "{\"detail\":\"Unauthorized\"}");
			CHECK_STR(client_header(c, "WWW-Authenticate"), "Bearer");
		}
	}
	client_close(c);
	app_stop();
	mr_http_access_free(config.access);
}

/* HS256 with the secret "s3cret": {"role":"admin"}, and the same with another secret. */
#define GOOD                                                                                       \
	"eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYWRtaW4ifQ."                                             \
	"F5h7WnBVNXk-KQRhLS6rHlJYDBo7YlsnF-rXzONWZ38"
#define FORGED                                                                                     \
	"eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYWRtaW4ifQ."                                             \
	"VTOT4HnM0Sou4fHkG3u2QWpIart7cdHV8l_7aH0VmL0"

/* Checked by a worker, on routes too that are answered at once otherwise. */
static void wants_a_signed_token(void)
{
	static const struct {
		const char *request;
		int status;
	} table[] = {
		{ "GET /quick HTTP/1.1\r\n" HOST "\r\n", 200 },
		{ "GET /worker HTTP/1.1\r\n" HOST "\r\n", 401 },
		{ "GET /worker HTTP/1.1\r\n" HOST "Authorization: Bearer " GOOD "\r\n\r\n", 200 },
		{ "GET /worker HTTP/1.1\r\n" HOST "Authorization: Bearer " FORGED "\r\n\r\n", 401 },
		{ "POST /echo-inline HTTP/1.1\r\n" HOST "Content-Length: 2\r\n"
		  "Authorization: Bearer " GOOD "\r\n\r\nhi",
			200 },
		{ "POST /echo-inline HTTP/1.1\r\n" HOST "Content-Length: 2\r\n"
		  "Authorization: Bearer " FORGED "\r\n\r\nhi",
			401 },
		{ "POST /echo-inline HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi", 401 },
		{ "GET /nothing HTTP/1.1\r\n" HOST "Authorization: Bearer " GOOD "\r\n\r\n", 404 },
		{ "GET /nothing HTTP/1.1\r\n" HOST "\r\n", 401 },
	};
	struct mr_http_config config = app_config();
	struct mr_http_access_config access;
	struct mr_err err;
	struct client *c;

	mr_http_access_defaults(&access);
	access.with_jwt = true;
	access.jwt_secret = "s3cret";
	CHECK_OK(mr_http_access_new(&access, &config.access, &err), err);
	app_start_with(&config);
	c = app_client();
	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_INT(client_ask(c, table[i].request), table[i].status);
	client_close(c);
	app_stop();
	mr_http_access_free(config.access);
}

/* ---- bodies and limits ---- */

static void reads_chunked_bodies(void)
{
	struct client *c;

	app_start();
	c = app_client();
	CHECK_INT(client_ask(c,
			  "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
			  "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"),
		200);
	CHECK_STR(c->body, "abcdefg");
	client_say(c,
		"POST /echo-inline HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nx");
	client_say(c, "\r\n2\r\nyz\r\n0\r\n\r\n");
	CHECK_INT(client_hear_response(c, true), 200);
	CHECK_STR(c->body, "xyz");
	client_close(c);
	app_stop();
}

static void carries_large_bodies(void)
{
	enum { LARGE = 200 * 1000 };
	char *body = malloc(LARGE);
	struct client *c;

	for (size_t i = 0; i < LARGE; i++)
		body[i] = (char)(i * 7 + i / 251);
	app_start();
	c = app_client();
	for (int i = 0; i < 2; i++) {
		client_say(c, i ? "POST /echo-inline HTTP/1.1\r\n" : "POST /echo HTTP/1.1\r\n");
		client_say(c, HOST "Content-Length: 200000\r\nExpect: 100-continue\r\n\r\n");
		CHECK_INT(client_hear_response(c, false), 100);
		client_say_bytes(c, body, LARGE);
		CHECK_INT(client_hear_response(c, true), 200);
		CHECK_INT(c->body_len, LARGE);
		CHECK(memcmp(c->body, body, LARGE) == 0);
	}
	free(body);
	client_close(c);
	app_stop();
}

static void refuses_bodies_past_the_limit(void)
{
	struct mr_http_config config = app_config();
	struct client *c;
	char large[2000];

	memset(large, 'x', sizeof(large));
	config.max_body_bytes = 1000;
	app_start_with(&config);
	c = app_client();
	/* By Content-Length: the body is dropped, the connection goes on. */
	client_say(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2000\r\n\r\n");
	client_say_bytes(c, large, 2000);
	CHECK_INT(client_hear_response(c, true), 413);
	CHECK_STR(c->body, "{\"detail\":\"The body is larger than 1000 bytes\"}");
	/* By what arrives. */
	client_say(c, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n7d0\r\n");
	client_say_bytes(c, large, 2000);
	client_say(c, "\r\n0\r\n\r\n");
	CHECK_INT(client_hear_response(c, true), 413);
	CHECK_STR(c->body, "{\"detail\":\"The body is larger than 1000 bytes\"}");
	/* The limit itself is fine. */
	client_say(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n");
	client_say_bytes(c, large, 1000);
	CHECK_INT(client_hear_response(c, true), 200);
	/* A client that asks first is told first. */
	CHECK_INT(client_ask(c,
			  "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n"
			  "Expect: 100-continue\r\n\r\n"),
		413);
	CHECK(client_has_ended(c));
	client_close(c);
	c = app_client();
	/* Far too much is not waited for. */
	CHECK_INT(client_ask(c,
			  "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 9000000000\r\n\r\n"),
		413);
	CHECK(client_has_ended(c));
	client_close(c);
	app_stop();
}

static void hangs_up_on_endless_bodies(void)
{
	struct mr_http_config config = app_config();
	struct client *c;
	char chunk[16 * 1024 + 16];
	ssize_t n = 0;

	memset(chunk, 'x', sizeof(chunk));
	memcpy(chunk, "4000\r\n", 6);
	memcpy(chunk + 6 + 0x4000, "\r\n", 2);
	config.max_body_bytes = 1000;
	app_start_with(&config);
	c = app_client();
	client_say(c, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 10000 && n >= 0; i++)
		n = send(c->fd, chunk, 6 + 0x4000 + 2, MSG_NOSIGNAL);
	CHECK(n < 0 && (errno == EPIPE || errno == ECONNRESET));
	client_close(c);
	CHECK_INT(app_ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_stop();
}

static void refuses_headers_past_the_limit(void)
{
	static const size_t sizes[] = { 9000, 60000 };
	struct client *c;
	char *large = malloc(60000);

	memset(large, 'x', 60000);
	app_start();
	c = app_client();
	/* Just below is fine. */
	client_say(c, "GET /quick HTTP/1.1\r\n" HOST "X-Large: ");
	client_say_bytes(c, large, 8000);
	client_say(c, "\r\n\r\n");
	CHECK_INT(client_hear_response(c, true), 200);
	client_close(c);
	for (size_t i = 0; i < MR_LEN(sizes); i++) {
		c = app_client();
		client_say(c, "GET /quick HTTP/1.1\r\n" HOST "X-Large: ");
		/* The server may hang up before it has read all. */
		(void)!send(c->fd, large, sizes[i], MSG_NOSIGNAL);
		(void)!send(c->fd, "\r\n\r\n", 4, MSG_NOSIGNAL);
		CHECK_INT(client_hear_response(c, true), 431);
		client_close(c);
	}
	free(large);
	CHECK_INT(app_ask_once("GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_stop();
}

static void limits_connections(void)
{
	struct mr_http_config config = app_config();
	struct client *first, *second, *third;
	struct pollfd p = { .events = POLLIN };
	struct mr_http_stats stats;

	config.max_connections = 2;
	app_start_with(&config);
	first = app_client();
	second = app_client();
	CHECK_INT(client_ask(first, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	CHECK_INT(client_ask(second, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	mr_http_server_stats(server, &stats);
	CHECK_INT(stats.connections, 2);
	CHECK_INT(stats.streams, 0);
	third = app_client();
	client_say(third, "GET /quick HTTP/1.1\r\n" HOST "\r\n");
	p.fd = third->fd;
	CHECK_INT(poll(&p, 1, 50), 0);
	/* It waits for a place. */
	CHECK_INT(client_ask(first, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	client_close(first);
	CHECK_INT(client_hear_response(third, true), 200);
	client_close(second);
	client_close(third);
	app_stop();
}

/* Who has been silent longest goes; who is worked for does not. */
static void makes_room_for_who_comes(void)
{
	enum { MAX = 32, MANY = 3 * MAX };
	struct mr_http_config config = app_config();
	struct client *clients[MANY], *worked, *slow;
	struct mr_http_stats stats;

	config.max_connections = MAX;
	app_start_with(&config);
	worked = app_client();
	client_say(worked, "GET /gated HTTP/1.1\r\n" HOST "\r\n");
	app_wait_for(&app.entered, 1);
	slow = app_client();
	client_say(slow, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5000\r\n\r\nab");
	for (int i = 0; i < MANY; i++) {
		clients[i] = app_client();
		CHECK_INT(client_ask(clients[i], "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	}
	mr_http_server_stats(server, &stats);
	CHECK(stats.connections <= MAX);
	CHECK(client_has_ended(slow));
	for (int i = 0; i < MANY - MAX; i++)
		CHECK(client_has_ended(clients[i]));
	CHECK_INT(client_ask(clients[MANY - 1], "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_open_gate();
	CHECK_INT(client_hear_response(worked, true), 200);
	for (int i = 0; i < MANY; i++)
		client_close(clients[i]);
	client_close(worked);
	client_close(slow);
	app_stop();
}

static void hangs_up_on_slow_senders(void)
{
	static const struct {
		const char *beginning;
		const char *trickle; /* sent again and again: it is never silent for long */
	} table[] = {
		{ "", "" },
		{ "GET /quick HT", "" },
		{ "GET /quick", "a" },
		{ "GET /quick HTTP/1.1\r\nHost: loc", "a" },
		{ "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5000\r\n\r\nab", "a" },
	};
	struct mr_http_config config = app_config();

	config.idle_timeout_s = 1;
	config.receive_timeout_s = 1;
	config.keepalive_ms = 100;
	app_start_with(&config);
	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct client *c = app_client();
		struct pollfd p = { .fd = c->fd, .events = POLLIN };

		client_say(c, table[i].beginning);
		for (int k = 0; k < 400 && poll(&p, 1, 50) == 0; k++)
			(void)!send(c->fd, table[i].trickle, strlen(table[i].trickle),
				MSG_NOSIGNAL);
		CHECK(poll(&p, 1, 0) == 1);
		CHECK(client_has_ended(c));
		client_close(c);
	}
	app_stop();
}

static _Atomic(int64_t) now = MR_TIME_S;

static int64_t read_now(const struct mr_clock *clock)
{
	(void)clock;
	return atomic_load(&now);
}

/* It is never silent, but at that pace the answer would be in memory for hours. */
static void hangs_up_on_slow_readers(void)
{
	enum { LARGE = 32 << 20, READ_S = LARGE / (16 << 10) };
	const struct mr_clock clock = { read_now, read_now };
	struct mr_http_config config = app_config();
	struct client *c;
	char *body = calloc(1, LARGE);
	size_t got = 0;
	ssize_t n;

	config.clock = &clock;
	config.max_body_bytes = LARGE;
	config.keepalive_ms = 100;
	app_start_with(&config);
	c = app_client();
	client_say(c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 33554432\r\n\r\n");
	client_say_bytes(c, body, LARGE);
	CHECK(client_hear_head(c));
	atomic_store(&now, (READ_S + 60) * MR_TIME_S);
	for (int i = 0; i < 100; i++)
		CHECK(recv(c->fd, body, 1000, 0) > 0);
	atomic_store(&now, (READ_S + 62) * MR_TIME_S);
	app_wait_for(&app.observed, 1);
	while ((n = recv(c->fd, body, LARGE, 0)) > 0)
		got += (size_t)n;
	CHECK(got < LARGE / 2);
	client_close(c);
	free(body);
	app_stop();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(refuses),
		TEST(goes_on_after_a_refusal),
		TEST(wants_the_token),
		TEST(wants_a_signed_token),
		TEST(reads_chunked_bodies),
		TEST(carries_large_bodies),
		TEST(refuses_bodies_past_the_limit),
		TEST(hangs_up_on_endless_bodies),
		TEST(refuses_headers_past_the_limit),
		TEST(limits_connections),
		TEST(makes_room_for_who_comes),
		TEST(hangs_up_on_slow_senders),
		TEST(hangs_up_on_slow_readers),
	};
	return test_main(tests, MR_LEN(tests));
}
