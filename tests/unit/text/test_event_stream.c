/* tests/unit/text/test_event_stream.c */
#include "text/event_stream.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

static void note(void *arg, const struct mr_event *event)
{
	mr_buf_printf(arg, "[%s|%s|%s]", event->type, event->data, event->id);
}

static void events_are_read(void)
{
	static const struct {
		const char *bytes, *events;
	} cases[] = {
		{ "data: one\n\n", "[message|one|]" },
		{ "data:one\r\ndata\r\ndata:  two\r\n\r\n", "[message|one\n\n two|]" },
		{ "event: state\rdata: {}\r\r", "[state|{}|]" },
		{ ": a comment\n\nevent: ping\n\ndata: x\n\n", "[message|x|]" },
		{ "\xef\xbb\xbf"
		  "data: x\n\n",
			"[message|x|]" },
		{ "data: x\n\n\xef\xbb\xbf"
		  "data: y\n\n",
			"[message|x|]" },
		{ "id: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n",
			"[message|x|1][message|y|1][message|z|]" },
		{ "unknown: x\ndata: x\nevent: \n\n", "[message|x|]" },
		{ "data: half", "" },
		{ "data: half\n", "" },
		{ "data: a\n\ndata: b", "[message|a|]" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_event_stream stream MR_CLEANUP(mr_event_stream_release) = { 0 };
		struct mr_buf seen MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_err err;

		mr_buf_init(&seen, 1000);
		mr_event_stream_init(&stream, note, &seen);
		CHECK_OK(mr_event_stream_feed(&stream, mr_bytes_text(cases[i].bytes), &err), err);
		CHECK_STR(mr_buf_text(&seen), cases[i].events);
	}
}

static void what_the_server_asks_for_is_kept(void)
{
	struct mr_event_stream stream MR_CLEANUP(mr_event_stream_release) = { 0 };
	struct mr_buf seen MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&seen, 1000);
	mr_event_stream_init(&stream, note, &seen);
	CHECK_INT(stream.retry_ms, -1);
	CHECK_STR(mr_event_stream_last_id(&stream), "");
	CHECK_OK(mr_event_stream_feed(&stream,
			 mr_bytes_text("retry: 250\nretry: 1s\nretry:\nid: 7\n"), &err),
		err);
	CHECK_INT(stream.retry_ms, 250);
	CHECK_STR(mr_event_stream_last_id(&stream), ""); /* its event is not over */
	CHECK_OK(mr_event_stream_feed(&stream, mr_bytes_text("\n"), &err), err);
	CHECK_STR(mr_event_stream_last_id(&stream), "7");
	/* One with a NUL, and one that is begun when the connection ends, count for nothing. */
	CHECK_OK(mr_event_stream_feed(&stream, mr_bytes_of("id: 8\0\n\n", 8), &err), err);
	CHECK_OK(mr_event_stream_feed(&stream, mr_bytes_text("id: 9\ndata: x\nda"), &err), err);
	mr_event_stream_restart(&stream);
	CHECK_OK(mr_event_stream_feed(&stream, mr_bytes_text("data: y\n\n"), &err), err);
	CHECK_STR(mr_buf_text(&seen), "[message|y|7]");
}

static void long_ones_end_the_stream(void)
{
	struct mr_event_stream stream MR_CLEANUP(mr_event_stream_release) = { 0 };
	struct mr_buf seen MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;
	char line[1001];

	memset(line, 'x', sizeof(line));
	memcpy(line, "data: ", 6);
	line[sizeof(line) - 1] = '\n';
	mr_buf_init(&seen, 1000);
	mr_event_stream_init(&stream, note, &seen);
	for (int i = 0; i < 65; i++)
		CHECK_OK(mr_event_stream_feed(&stream, mr_bytes_of(line, 1000), &err), err);
	CHECK_INT(mr_event_stream_feed(&stream, mr_bytes_of(line, 1000), &err), MR_ELIMIT);
	CHECK_STR(err.msg, "a line of the event stream is longer than 65536 bytes");
	CHECK_INT(mr_event_stream_feed(&stream, mr_bytes_text("\n\n"), &err), MR_ELIMIT);
	mr_event_stream_restart(&stream);
	for (int i = 0; i < 300; i++) {
		if (mr_event_stream_feed(&stream, mr_bytes_of(line, sizeof(line)), &err)) {
			CHECK_STR(err.msg, "an event is longer than 262144 bytes");
			return;
		}
	}
	CHECK(false);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(events_are_read),
		TEST(what_the_server_asks_for_is_kept),
		TEST(long_ones_end_the_stream),
	};

	return test_main(tests, MR_LEN(tests));
}
