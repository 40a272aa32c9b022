/*
 * surface/http/watch.h - the thread that looks after time: it hangs up on clients that take too
 * long to send a request, notices clients that left their stream, and breaks the silence of
 * streams.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdint.h>

struct mr_http_streams;
struct mr_http_watch;

/* Part of a connection. */
struct mr_http_watched {
	int fd;
	/* Of the request being awaited or received, on the monotonic clock; 0 when there is none.
	 * May be set at any time. */
	_Atomic(int64_t) deadline_us;
	int64_t left_us; /* the watch's own */
	struct mr_http_watched *next;
	struct mr_http_watched *prev;
};

/* `tick_ms` is how late it may be. */
MR_CHECK enum mr_code mr_http_watch_start(struct mr_http_streams *streams,
	const struct mr_clock *clock, int tick_ms, struct mr_http_watch **out, struct mr_err *err);
/* NULL is fine. */
void mr_http_watch_stop(struct mr_http_watch *watch);

void mr_http_watch_add(struct mr_http_watch *watch, struct mr_http_watched *watched);
/* Before its descriptor is closed. */
void mr_http_watch_remove(struct mr_http_watch *watch, struct mr_http_watched *watched);
