/*
 * text/event_stream.h - the events of a text/event-stream (the HTML standard, 9.2.6), from bytes as
 * they arrive. Pure.
 */
#pragma once

#include "base/buf.h"

enum {
	MR_EVENT_LINE_BYTES = 64 << 10,
	MR_EVENT_DATA_BYTES = 256 << 10,
	MR_EVENT_ID_BYTES = 1024,
};

struct mr_event {
	const char *type; /* "message" where none is named */
	const char *data; /* its lines; a NUL ends it */
	const char *id;   /* of the last event that had one; "" */
};

struct mr_event_stream {
	void (*take)(void *arg, const struct mr_event *event);
	void *arg;
	int64_t retry_ms; /* that the server asks for; -1: it does not */
	/* Internal. */
	struct mr_buf line, type, data, id, last_id;
	bool has_data, after_cr, after_first;
};

/* `take` is called for each event, which is valid until it returns. */
void mr_event_stream_init(struct mr_event_stream *stream,
	void (*take)(void *arg, const struct mr_event *event), void *arg);
/* For MR_CLEANUP. */
void mr_event_stream_release(struct mr_event_stream *stream);
/* A new connection: what was begun is forgotten, the last id stays. */
void mr_event_stream_restart(struct mr_event_stream *stream);
/* The id of the last event, for Last-Event-ID; "" when there was none. */
const char *mr_event_stream_last_id(const struct mr_event_stream *stream);
/* Bytes that came. MR_ELIMIT: a line or an event is too long; then nothing more can be read. */
MR_CHECK enum mr_code mr_event_stream_feed(struct mr_event_stream *stream, struct mr_bytes bytes,
	struct mr_err *err);
