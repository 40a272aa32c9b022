/*
 * surface/http/stream.h - a response that stays open: server-sent events.
 *
 * A handler opens a stream instead of setting a body; then any thread may send on it. Nothing
 * blocks: bytes wait in a bounded queue, and a client that does not read its stream is cut off when
 * the queue is full. An idle stream costs no thread. Silence is filled with a comment now and then.
 *
 * Two sides hold a stream: the server while the client is connected, and the opener until
 * mr_http_stream_close(). So sending to a client that has gone is safe: it fails with MR_ENOTFOUND.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "surface/http/request.h"

/*
 * The server has let go of the stream: the client went, was too slow, or all has been sent after
 * mr_http_stream_close(), or the server stops. Called exactly once per stream, also after
 * mr_http_stream_close(), so `arg` must live until then. It runs where requests are read: it must
 * not block, and may call mr_http_stream_close().
 */
typedef void mr_http_stream_ended(void *arg);

/*
 * Make the response a stream (status 200, text/event-stream, more headers may be set). `ended` may
 * be NULL. MR_ELIMIT when too many are open, MR_EBUSY while the server stops: `resp` is then
 * untouched and `ended` is not called. The caller must close `*out` once. The request and its arena
 * end with the handler: what the stream needs later must be copied.
 */
MR_CHECK enum mr_code mr_http_stream_open(const struct mr_http_request *req,
	struct mr_http_response *resp, mr_http_stream_ended *ended, void *arg,
	struct mr_http_stream **out, struct mr_err *err);

/*
 * Queue bytes. MR_ENOTFOUND when the client has gone; MR_ELIMIT when the queue would pass its
 * maximum: the client is cut off then.
 */
MR_CHECK enum mr_code mr_http_stream_send(struct mr_http_stream *stream, struct mr_bytes bytes,
	struct mr_err *err);
/*
 * Queue one event. `event` and `id` may be NULL; each line of `data` (NULL: none) becomes a line of
 * the event. MR_EINVAL when `event` or `id` has a line break; else as mr_http_stream_send().
 */
MR_CHECK enum mr_code mr_http_stream_event(struct mr_http_stream *stream, const char *event,
	const char *id, const char *data, struct mr_err *err);
/* The event's bytes, appended to `buf`. */
MR_CHECK enum mr_code mr_http_stream_format(struct mr_buf *buf, const char *event, const char *id,
	const char *data, struct mr_err *err);

/* Send what is queued, end the response, give up the handle. NULL is fine. */
void mr_http_stream_close(struct mr_http_stream *stream);
