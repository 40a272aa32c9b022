/*
 * surface/http/drain.c - Counts open connections and running requests, so that a stopping server
 * can wait until they have ended.
 */
#include "surface/http/drain.h"

#include "base/clock.h"

#include <time.h>

enum { LINGER_MS = 100 }; /* for requests that are on their way */

void mr_http_drain_init(struct mr_http_drain *traffic)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&traffic->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&traffic->quiet, &attr);
	pthread_condattr_destroy(&attr);
}

void mr_http_drain_release(struct mr_http_drain *traffic)
{
	pthread_cond_destroy(&traffic->quiet);
	pthread_mutex_destroy(&traffic->lock);
}

void mr_http_drain_begin_request(struct mr_http_drain *traffic)
{
	pthread_mutex_lock(&traffic->lock);
	traffic->requests++;
	pthread_mutex_unlock(&traffic->lock);
}

void mr_http_drain_end_request(struct mr_http_drain *traffic)
{
	pthread_mutex_lock(&traffic->lock);
	if (--traffic->requests == 0 && atomic_load(&traffic->stopping)) {
		traffic->last_ms = mr_clock_mono_ms(mr_clock_system());
		pthread_cond_broadcast(&traffic->quiet);
	}
	pthread_mutex_unlock(&traffic->lock);
}

unsigned mr_http_drain_open_connection(struct mr_http_drain *traffic)
{
	unsigned count;

	pthread_mutex_lock(&traffic->lock);
	count = ++traffic->connections;
	pthread_mutex_unlock(&traffic->lock);
	return count;
}

void mr_http_drain_close_connection(struct mr_http_drain *traffic)
{
	pthread_mutex_lock(&traffic->lock);
	if (--traffic->connections == 0)
		pthread_cond_broadcast(&traffic->quiet);
	pthread_mutex_unlock(&traffic->lock);
}

bool mr_http_drain_stop(struct mr_http_drain *traffic)
{
	bool again;

	pthread_mutex_lock(&traffic->lock);
	again = atomic_exchange(&traffic->stopping, true);
	traffic->last_ms = mr_clock_mono_ms(mr_clock_system());
	pthread_mutex_unlock(&traffic->lock);
	return !again;
}

/* Under the lock. */
static void wait_until(struct mr_http_drain *traffic, int64_t until_ms)
{
	struct timespec ts = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };

	pthread_cond_timedwait(&traffic->quiet, &traffic->lock, &ts);
}

void mr_http_drain_wait(struct mr_http_drain *traffic, unsigned ms)
{
	int64_t end_ms = mr_clock_mono_ms(mr_clock_system()) + ms;

	pthread_mutex_lock(&traffic->lock);
	for (;;) {
		int64_t now = mr_clock_mono_ms(mr_clock_system());
		int64_t until = end_ms;

		if (traffic->requests == 0 && traffic->connections == 0)
			break;
		if (traffic->requests == 0 && traffic->last_ms + LINGER_MS < until)
			until = traffic->last_ms + LINGER_MS;
		if (now >= until)
			break;
		wait_until(traffic, until);
	}
	pthread_mutex_unlock(&traffic->lock);
}
