/* surface/http/drain.h - counts what is in progress, and waits until all of it has ended. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mr_http_drain {
	_Atomic(bool) stopping;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t quiet; /* the last request or connection has ended */
	unsigned requests;    /* begun and not finished */
	unsigned connections;
	int64_t last_ms; /* the last request ended; on the system's clock */
};

void mr_http_drain_init(struct mr_http_drain *traffic);
void mr_http_drain_release(struct mr_http_drain *traffic);

void mr_http_drain_begin_request(struct mr_http_drain *traffic);
void mr_http_drain_end_request(struct mr_http_drain *traffic);
/* How many there are now. */
unsigned mr_http_drain_open_connection(struct mr_http_drain *traffic);
void mr_http_drain_close_connection(struct mr_http_drain *traffic);

/* Mark the server as stopping; false when it was already. */
bool mr_http_drain_stop(struct mr_http_drain *traffic);
/* After that: wait for the requests in progress, and a moment for those that may be on the wire,
 * but no longer than `ms`. */
void mr_http_drain_wait(struct mr_http_drain *traffic, unsigned ms);
