/*
 * team/store/watch.c - wakes threads that wait for a change of the database.
 *
 * Each change sends a notice (mr_db_notify()) that wakes a listener in every process. A listener
 * costs a descriptor of which the kernel gives a user about a hundred. So all waiting threads of
 * this process share one: one of them waits in the kernel, the others wait for it, and when it
 * leaves another takes its place. Each watch compares its own count of notices with the listener's.
 */
#include "team/store/watch.h"

#include "base/fs.h"
#include "base/oom.h"
#include "data/db.h"
#include "team/store/root_private.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

struct mr_team_listener {
	pthread_mutex_t lock;
	pthread_cond_t woken; /* a notice has come, or no thread is in the kernel any more */
	struct mr_db_listener *notices;
	int wake;       /* an eventfd: gets the thread out of the kernel without a notice */
	uint64_t count; /* of notices, and of calls of mr_team_watch_ring() */
	bool polling;   /* a thread is in the kernel */
};

struct mr_team_watch {
	struct mr_team_listener *listener;
	uint64_t seen;
};

static enum mr_code make_listener(struct mr_ctx *cx, const char *database,
	struct mr_team_listener **out)
{
	struct mr_team_listener *listener;
	struct mr_db_listener *notices = NULL;
	pthread_condattr_t attr;
	int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	enum mr_code rc;

	if (wake < 0)
		return mr_err_os(&cx->err, errno, "cannot wait for changes of %s", database);
	rc = mr_db_listen(database, &notices, &cx->err);
	if (rc) {
		mr_fs_closep(&wake);
		return rc;
	}
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		mr_oom(sizeof(*listener));
	listener->notices = notices;
	listener->wake = wake;
	pthread_mutex_init(&listener->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&listener->woken, &attr);
	pthread_condattr_destroy(&attr);
	*out = listener;
	return MR_OK;
}

void mr_team_listener_close(struct mr_team *team)
{
	struct mr_team_listener *listener = team->listener;

	if (!listener)
		return;
	mr_db_listener_close(&listener->notices);
	mr_fs_closep(&listener->wake);
	pthread_cond_destroy(&listener->woken);
	pthread_mutex_destroy(&listener->lock);
	free(listener);
	team->listener = NULL;
}

/* The team's listener, made when it is first needed. */
static enum mr_code find_listener(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_listener **out)
{
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&team->lock);
	if (!team->listener)
		rc = make_listener(cx, team->config.database, &team->listener);
	*out = team->listener;
	pthread_mutex_unlock(&team->lock);
	return rc;
}

/* Count what has come. Under the lock, while no thread is in the kernel. */
static void take_notices(struct mr_team_listener *listener)
{
	eventfd_t ignored;

	(void)eventfd_read(listener->wake, &ignored);
	if (mr_db_listener_drain(listener->notices))
		listener->count++;
}

enum mr_code mr_team_watch_open(struct mr_ctx *cx, struct mr_team *team, struct mr_team_watch **out)
{
	struct mr_team_watch *watch;
	struct mr_team_listener *listener;
	enum mr_code rc = find_listener(cx, team, &listener);

	if (rc)
		return rc;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		mr_oom(sizeof(*watch));
	watch->listener = listener;
	pthread_mutex_lock(&listener->lock);
	/* Notices from before the watch was opened are not for it. */
	if (!listener->polling)
		take_notices(listener);
	watch->seen = listener->count;
	pthread_mutex_unlock(&listener->lock);
	*out = watch;
	return MR_OK;
}

void mr_team_watch_ring(struct mr_team *team)
{
	struct mr_team_listener *listener;

	pthread_mutex_lock(&team->lock);
	listener = team->listener;
	pthread_mutex_unlock(&team->lock);
	if (!listener)
		return;
	pthread_mutex_lock(&listener->lock);
	listener->count++;
	if (listener->polling)
		(void)eventfd_write(listener->wake, 1);
	pthread_cond_broadcast(&listener->woken);
	pthread_mutex_unlock(&listener->lock);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait in the kernel, for all threads. Under the lock, which is given back meanwhile. */
static enum mr_code poll_for_all(struct mr_ctx *cx, struct mr_team_listener *listener,
	int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = mr_db_listener_fd(listener->notices), .events = POLLIN },
		{ .fd = listener->wake, .events = POLLIN },
	};
	enum mr_code rc = MR_OK;

	listener->polling = true;
	pthread_mutex_unlock(&listener->lock);
	if (poll(fds, MR_LEN(fds), timeout_ms) < 0 && errno != EINTR)
		rc = mr_err_os(&cx->err, errno, "cannot wait for changes of the database");
	pthread_mutex_lock(&listener->lock);
	listener->polling = false;
	take_notices(listener);
	pthread_cond_broadcast(&listener->woken);
	return rc;
}

static void wait_for_poller(struct mr_team_listener *listener, int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000,
		.tv_nsec = (until_ms % 1000) * 1000000 };

	if (until_ms < 0)
		pthread_cond_wait(&listener->woken, &listener->lock);
	else
		pthread_cond_timedwait(&listener->woken, &listener->lock, &until);
}

enum mr_code mr_team_watch_wait(struct mr_ctx *cx, struct mr_team_watch *watch, int timeout_ms,
	bool *changed)
{
	struct mr_team_listener *listener = watch->listener;
	int64_t until_ms = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
	enum mr_code rc = MR_OK;
	bool looked = false;

	pthread_mutex_lock(&listener->lock);
	while (!rc && listener->count == watch->seen) {
		int64_t left_ms = until_ms < 0 ? -1 : until_ms - now_ms();

		if (until_ms >= 0 && left_ms <= 0 && looked)
			break;
		if (listener->polling)
			wait_for_poller(listener, until_ms);
		else
			rc = poll_for_all(cx, listener,
				left_ms < 0 && until_ms >= 0 ? 0 : (int)left_ms);
		looked = true;
	}
	*changed = listener->count != watch->seen;
	watch->seen = listener->count;
	pthread_mutex_unlock(&listener->lock);
	return rc;
}

void mr_team_watch_close(struct mr_team_watch **watch)
{
	free(*watch);
	*watch = NULL;
}
