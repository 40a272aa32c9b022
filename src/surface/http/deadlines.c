/*
 * surface/http/deadlines.c - The thread that closes connections of slow clients, notices closed
 * streams, and sends keep-alive comments.
 */
#include "surface/http/deadlines.h"

#include "surface/http/stream_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct mr_http_deadlines {
	pthread_mutex_t lock;
	struct mr_http_deadline *first;
	struct mr_http_streams *streams;
	const struct mr_clock *clock;
	int tick_ms;
	int stop_fd;
	pthread_t thread;
};

bool mr_http_deadlines_has_left(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/*
 * The HTTP library does not notice that a client closed its side when that arrives together with
 * data. A connection that still waits for the rest of its request one tick later waits in vain.
 */
static bool waits_in_vain(struct mr_http_deadline *w, int64_t deadline)
{
	bool known = w->left_us == deadline;

	if (atomic_load(&w->is_answer))
		return false;
	w->left_us = mr_http_deadlines_has_left(w->fd) ? deadline : 0;
	return known && w->left_us;
}

static void hang_up(struct mr_http_deadlines *watch)
{
	int64_t now = mr_clock_mono_us(watch->clock);

	pthread_mutex_lock(&watch->lock);
	for (struct mr_http_deadline *w = watch->first; w; w = w->next) {
		int64_t deadline = atomic_load(&w->deadline_us);

		if (deadline && (now > deadline || waits_in_vain(w, deadline)))
			shutdown(w->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&watch->lock);
}

static void *look_after(void *arg)
{
	struct mr_http_deadlines *watch = arg;
	struct pollfd fds[] = {
		{ .fd = watch->stop_fd, .events = POLLIN },
		{ .fd = mr_http_streams_fd(watch->streams), .events = POLLIN },
	};
	int64_t ticked = mr_clock_mono_ms(mr_clock_system());

	for (;;) {
		int rc = poll(fds, MR_LEN(fds), watch->tick_ms);
		int64_t now = mr_clock_mono_ms(mr_clock_system());

		if (rc > 0 && fds[0].revents)
			return NULL;
		if (rc > 0 && fds[1].revents)
			mr_http_streams_reap(watch->streams);
		/* New connections wake this thread, but must not make it tick more often. */
		if (now - ticked < watch->tick_ms)
			continue;
		ticked = now;
		hang_up(watch);
		mr_http_streams_keep_alive(watch->streams);
	}
}

enum mr_code mr_http_deadlines_start(struct mr_http_streams *streams, const struct mr_clock *clock,
	int tick_ms, struct mr_http_deadlines **out, struct mr_err *err)
{
	struct mr_http_deadlines *watch = calloc(1, sizeof(*watch));
	int rc;

	if (!watch)
		return mr_err_set(err, MR_ELIMIT, "no memory for the server");
	watch->streams = streams;
	watch->clock = clock;
	watch->tick_ms = tick_ms;
	watch->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (watch->stop_fd < 0) {
		rc = errno;
		free(watch);
		return mr_err_os(err, rc, "eventfd");
	}
	pthread_mutex_init(&watch->lock, NULL);
	rc = pthread_create(&watch->thread, NULL, look_after, watch);
	if (rc) {
		close(watch->stop_fd);
		pthread_mutex_destroy(&watch->lock);
		free(watch);
		return mr_err_os(err, rc, "cannot start the server's watch thread");
	}
	*out = watch;
	return MR_OK;
}

void mr_http_deadlines_stop(struct mr_http_deadlines *watch)
{
	if (!watch)
		return;
	eventfd_write(watch->stop_fd, 1);
	pthread_join(watch->thread, NULL);
	close(watch->stop_fd);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

void mr_http_deadlines_add(struct mr_http_deadlines *watch, struct mr_http_deadline *watched)
{
	pthread_mutex_lock(&watch->lock);
	watched->prev = NULL;
	watched->next = watch->first;
	if (watch->first)
		watch->first->prev = watched;
	watch->first = watched;
	pthread_mutex_unlock(&watch->lock);
}

void mr_http_deadlines_remove(struct mr_http_deadlines *watch, struct mr_http_deadline *watched)
{
	pthread_mutex_lock(&watch->lock);
	if (watched->prev)
		watched->prev->next = watched->next;
	else
		watch->first = watched->next;
	if (watched->next)
		watched->next->prev = watched->prev;
	pthread_mutex_unlock(&watch->lock);
}

void mr_http_deadlines_expect(struct mr_http_deadline *watched, int64_t now_us, int64_t deadline_us)
{
	atomic_store(&watched->is_answer, false);
	atomic_store(&watched->deadline_us, deadline_us);
	atomic_store(&watched->since_us, now_us);
}

void mr_http_deadlines_answer(struct mr_http_deadline *watched, int64_t now_us, int64_t deadline_us)
{
	atomic_store(&watched->is_answer, true);
	atomic_store(&watched->deadline_us, deadline_us);
	atomic_store(&watched->since_us, now_us);
}

void mr_http_deadlines_rest(struct mr_http_deadline *watched)
{
	atomic_store(&watched->since_us, 0);
	atomic_store(&watched->deadline_us, 0);
}

void mr_http_deadlines_make_room(struct mr_http_deadlines *watch)
{
	struct mr_http_deadline *found = NULL;
	int64_t oldest = INT64_MAX;

	pthread_mutex_lock(&watch->lock);
	for (struct mr_http_deadline *w = watch->first; w; w = w->next) {
		int64_t since = atomic_load(&w->since_us);

		if (since && since < oldest) {
			oldest = since;
			found = w;
		}
	}
	if (found) {
		/* So that it is not chosen again while it is being closed. */
		mr_http_deadlines_rest(found);
		shutdown(found->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&watch->lock);
}
