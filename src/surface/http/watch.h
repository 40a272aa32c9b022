/*
 * surface/http/watch.h - the thread that looks after time: it hangs up on clients that take too
 * long to send a request, notices clients that left their stream, and breaks the silence of
 * streams.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mr_http_streams;
struct mr_http_watch;

/* Part of a connection. */
struct mr_http_watched {
	int fd;
	/* The functions below set these, on the monotonic clock. */
	_Atomic(int64_t) since_us;    /* it is the client's turn; 0 when it is ours */
	_Atomic(int64_t) deadline_us; /* of that */
	_Atomic(bool) is_answer;      /* it has to read, and may have said all it will */
	int64_t left_us;              /* the watch's own */
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

/* From now on the client is to send a request, or the rest of it. */
void mr_http_watch_expect(struct mr_http_watched *watched, int64_t now_us, int64_t deadline_us);
/* It is to read an answer. */
void mr_http_watch_answer(struct mr_http_watched *watched, int64_t now_us, int64_t deadline_us);
/* Nothing is expected of it. */
void mr_http_watch_rest(struct mr_http_watched *watched);
/* Hang up on the client that has kept us waiting longest, if any does. */
void mr_http_watch_make_room(struct mr_http_watch *watch);
/* Has the client said its last, and have we read it? */
bool mr_http_watch_has_left(int fd);
