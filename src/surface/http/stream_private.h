/* surface/http/stream_private.h - the server's side of streams; for surface/http only. */
#pragma once

#include "base/clock.h"
#include "surface/http/stream.h"

#include <stdint.h>
#include <sys/types.h>

/* How the connection below is put to sleep and woken. */
struct mr_http_stream_link {
	void (*suspend)(void *connection);
	void (*resume)(void *connection);
};

/* All open streams of a server. */
struct mr_http_streams_config {
	unsigned max;         /* streams */
	size_t max_bytes;     /* queued in one */
	int64_t keepalive_us; /* of silence, then a comment */
	const struct mr_clock *clock;
};

MR_CHECK enum mr_code mr_http_streams_new(const struct mr_http_streams_config *config,
	struct mr_http_streams **out, struct mr_err *err);
/* When no stream is open any more; NULL is fine. */
void mr_http_streams_free(struct mr_http_streams *streams);

/* How many are open. */
unsigned mr_http_streams_count(struct mr_http_streams *streams);
/* An epoll descriptor that becomes readable when a stream's client hangs up. */
int mr_http_streams_fd(const struct mr_http_streams *streams);
/* The descriptor was readable: release the streams whose clients have hung up. */
void mr_http_streams_reap(struct mr_http_streams *streams);
/* Send a comment on every stream that has been silent long enough. */
void mr_http_streams_keep_alive(struct mr_http_streams *streams);
/* The server stops: open no more, end those that are open once their queues are sent. */
void mr_http_streams_finish(struct mr_http_streams *streams);

/* The response goes out on this connection from now on. */
void mr_http_stream_attach(struct mr_http_stream *stream, void *connection, int fd,
	const struct mr_http_stream_link *link);

enum { MR_HTTP_STREAM_END = -1, MR_HTTP_STREAM_CUT = -2 };
/* Up to `room` bytes to send; 0 when there are none (the connection is then suspended); or one of
 * the above. */
ssize_t mr_http_stream_take(struct mr_http_stream *stream, char *out, size_t room);
/* The connection is done with it: calls `ended`, gives up the server's side. */
void mr_http_stream_detach(struct mr_http_stream *stream);
