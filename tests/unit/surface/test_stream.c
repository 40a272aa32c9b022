/* tests/unit/surface/test_stream.c */
#include "http_app.h"

#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

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

	app_start();
	c = app_open_stream();
	CHECK_STR(client_header(c, "Content-Type"), "text/event-stream");
	CHECK_STR(client_header(c, "Cache-Control"), "no-cache, no-transform");
	CHECK_STR(client_header(c, "X-Accel-Buffering"), "no");
	CHECK_OK(mr_http_stream_send(app.streams[0], mr_bytes_text("data: first\n\n"), &err), err);
	client_hear_text(c, "data: first\n\n");
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&senders[i], NULL, send_events, app.streams[0]) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(senders[i], NULL);
	CHECK_OK(mr_http_stream_event(app.streams[0], NULL, NULL, "last", &err), err);
	mr_http_stream_close(app.streams[0]);
	while (client_hear_chunk(c))
		;
	for (const char *at = c->body; (at = strstr(at, "event: message\nid: ")); at++)
		count++;
	CHECK_INT(count, 200);
	CHECK(strstr(c->body, "event: message\nid: 99\ndata: {\"a\":1}\n\n"));
	CHECK_STR(strstr(c->body, "data: last"), "data: last\n\n");
	app_wait_for(&app.ended, 1);
	/* The connection goes on. */
	CHECK_INT(client_ask(c, "GET /quick HTTP/1.1\r\n" HOST "\r\n"), 200);
	client_close(c);
	app_stop();
	CHECK_INT(app.ended, 1);
}

static void answers_with_a_short_stream(void)
{
	struct client *c;

	app_start();
	c = app_client();
	for (int i = 0; i < 2; i++) {
		CHECK_INT(client_ask(c,
				  "POST /short-stream HTTP/1.1\r\n" HOST
				  "Content-Length: 2\r\n\r\nhi"),
			200);
		CHECK_STR(c->body, "event: message\nid: 1\ndata: {}\n\n");
		CHECK_STR(client_header(c, "Mcp-Session-Id"), "abc");
	}
	app_wait_for(&app.ended, 2);
	/* Without chunks the end of the connection is the end. */
	CHECK_INT(client_ask(c,
			  "POST /short-stream HTTP/1.0\r\n" HOST "Content-Length: 2\r\n\r\nhi"),
		200);
	while (client_hear(c))
		;
	CHECK_STR(c->got, "event: message\nid: 1\ndata: {}\n\n");
	app_wait_for(&app.ended, 3);
	CHECK_INT(app_ask_once("GET /lost-stream HTTP/1.1\r\n" HOST "\r\n"), 200);
	app_wait_for(&app.ended, 4);
	client_close(c);
	app_stop();
}

static void notices_that_a_client_left(void)
{
	struct client *c;
	struct mr_err err;

	app_start();
	c = app_open_stream();
	client_close(c);
	/* Long before the next comment. */
	app_wait_for(&app.ended, 1);
	CHECK(mr_http_stream_send(app.streams[0], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	CHECK_STR(err.msg, "the stream has ended");
	mr_http_stream_close(app.streams[0]);
	c = app_client();
	client_say(c, "GET /stream-inline HTTP/1.1\r\n" HOST "\r\n");
	CHECK(client_hear_head(c));
	shutdown(c->fd, SHUT_WR);
	app_wait_for(&app.ended, 2);
	client_close(c);
	app_stop();
	/* Safe even when the server is no more. */
	CHECK(mr_http_stream_send(app.streams[1], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	mr_http_stream_close(app.streams[1]);
	mr_http_stream_close(NULL);
}

static void drops_slow_readers(void)
{
	struct mr_http_config config = app_config();
	struct client *slow, *other;
	char piece[8 * 1024];
	struct mr_err err;
	enum mr_code rc = MR_OK;

	memset(piece, 'x', sizeof(piece));
	config.max_stream_bytes = 64 * 1024;
	app_start_with(&config);
	slow = app_open_stream();
	other = app_open_stream();
	/* The kernel takes some megabytes first. */
	for (int i = 0; i < 100000 && rc == MR_OK; i++)
		rc = mr_http_stream_send(app.streams[0], mr_bytes_of(piece, sizeof(piece)), &err);
	CHECK(rc == MR_ELIMIT);
	CHECK(strstr(err.msg, "the client does not read its stream"));
	app_wait_for(&app.ended, 1);
	CHECK(mr_http_stream_send(app.streams[0], mr_bytes_text("x"), &err) == MR_ENOTFOUND);
	CHECK_OK(mr_http_stream_send(app.streams[1], mr_bytes_text(": here\n\n"), &err), err);
	client_hear_text(other, ": here\n\n");
	/* One event larger than the queue can ever be. */
	rc = MR_OK;
	for (int i = 0; i < 9 && rc == MR_OK; i++) {
		char whole[65 * 1024] = { 0 };

		rc = mr_http_stream_send(app.streams[1], mr_bytes_of(whole, sizeof(whole)), &err);
	}
	CHECK(rc == MR_ELIMIT);
	app_wait_for(&app.ended, 2);
	mr_http_stream_close(app.streams[0]);
	mr_http_stream_close(app.streams[1]);
	client_close(slow);
	client_close(other);
	app_stop();
}

static void breaks_the_silence(void)
{
	struct mr_http_config config = app_config();
	struct client *c;

	config.keepalive_ms = 20;
	app_start_with(&config);
	c = app_open_stream();
	client_hear_text(c, ": keepalive\n\n: keepalive\n\n: keepalive\n\n");
	mr_http_stream_close(app.streams[0]);
	while (client_hear_chunk(c))
		;
	client_close(c);
	app_stop();
}

static void holds_many_idle_streams(void)
{
	enum { MANY = 250 };
	struct mr_http_config config = app_config();
	struct client *clients[MANY], *c;
	struct mr_err err;

	config.max_streams = MANY;
	config.workers = 1;
	app_start_with(&config);
	for (int i = 0; i < MANY; i++)
		clients[i] = app_open_stream();
	c = app_client();
	CHECK_INT(client_ask(c, "GET /stream HTTP/1.1\r\n" HOST "\r\n"),
		mr_code_http_status(MR_ELIMIT));
	CHECK_STR(c->body, "{\"detail\":\"250 streams are open, which is the maximum\"}");
	CHECK_INT(client_ask(c, "GET /worker HTTP/1.1\r\n" HOST "\r\n"), 200);
	for (int i = 0; i < MANY; i++)
		CHECK_OK(mr_http_stream_event(app.streams[i], NULL, NULL, "hello", &err), err);
	for (int i = 0; i < MANY; i++)
		client_hear_text(clients[i], "data: hello\n\n");
	for (int i = 0; i < MANY; i += 2)
		client_close(clients[i]);
	app_wait_for(&app.ended, MANY / 2);
	/* There is room again. */
	client_close(app_open_stream());
	app_wait_for(&app.ended, MANY / 2 + 1);
	for (unsigned i = 0; i < app.streams_len; i++)
		mr_http_stream_close(app.streams[i]);
	app_wait_for(&app.ended, MANY + 1);
	for (int i = 1; i < MANY; i += 2)
		client_close(clients[i]);
	client_close(c);
	app_stop();
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
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
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

int main(void)
{
	static const struct test tests[] = {
		TEST(streams_events_from_other_threads),
		TEST(answers_with_a_short_stream),
		TEST(notices_that_a_client_left),
		TEST(drops_slow_readers),
		TEST(breaks_the_silence),
		TEST(holds_many_idle_streams),
		TEST(formats_events),
	};
	return test_main(tests, MR_LEN(tests));
}
