/*
 * surface/http/deadlines.h - the thread that looks after time: it hangs up on clients that take too
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
struct mr_http_deadlines;

/* Part of a connection. */
struct mr_http_deadline {
	int fd;
	/* The functions below set these, on the monotonic clock. */
	_Atomic(int64_t) since_us;    /* it is the client's turn; 0 when it is ours */
	_Atomic(int64_t) deadline_us; /* of that */
	_Atomic(bool) is_answer;      /* the client is to read; it may have closed its side */
	int64_t left_us;              /* the watch's own */
	struct mr_http_deadline *next;
	struct mr_http_deadline *prev;
};

/* `tick_ms` is how late it may be. */
MR_CHECK enum mr_code mr_http_deadlines_start(struct mr_http_streams *streams,
	const struct mr_clock *clock, int tick_ms, struct mr_http_deadlines **out,
	struct mr_err *err);
/* NULL is fine. */
void mr_http_deadlines_stop(struct mr_http_deadlines *watch);

void mr_http_deadlines_add(struct mr_http_deadlines *watch, struct mr_http_deadline *watched);
/* Before its descriptor is closed. */
void mr_http_deadlines_remove(struct mr_http_deadlines *watch, struct mr_http_deadline *watched);

/* From now on the client is to send a request, or the rest of it. */
void mr_http_deadlines_expect(struct mr_http_deadline *watched, int64_t now_us,
	int64_t deadline_us);
/* It is to read an answer. */
void mr_http_deadlines_answer(struct mr_http_deadline *watched, int64_t now_us,
	int64_t deadline_us);
/* Nothing is expected of it. */
void mr_http_deadlines_rest(struct mr_http_deadline *watched);
/* Hang up on the client that has kept us waiting longest, if any does. */
void mr_http_deadlines_make_room(struct mr_http_deadlines *watch);
/* Has the client closed its side, and has all that it sent been read? */
bool mr_http_deadlines_has_left(int fd);
