/* surface/http/drain.h - how much is under way, and waiting until it is over. */
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

/* From now on it is to come to an end; false when that was said before. */
bool mr_http_drain_stop(struct mr_http_drain *traffic);
/* After that: wait for what is under way, and a moment for what may already be on the wire, but no
 * longer than `ms`. */
void mr_http_drain_wait(struct mr_http_drain *traffic, unsigned ms);
