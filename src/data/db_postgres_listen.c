/* data/db_postgres_listen.c - notices by LISTEN, on a connection that is made anew when it is lost.
 */
#include "data/db_postgres_private.h"

#include "base/fs.h"
#include "text/database_url.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { RETRY_S = 1 };

/*
 * The descriptor that its owner waits for is an epoll's: it stays the same while the connection
 * behind it changes. While there is none, a timer in it says when to try again.
 */
struct pg_listener {
	struct mr_db_listener base;
	struct mr_arena *arena;
	struct mr_db_pq pq;
	const char *url, *shown;
	PGconn *conn; /* NULL while the server cannot be reached */
	int epoll, timer;
};

static struct pg_listener *listener_of(struct mr_db_listener *listener)
{
	return (struct pg_listener *)listener;
}

static void set_timer(struct pg_listener *self, int seconds)
{
	struct itimerspec when = { .it_value.tv_sec = seconds, .it_interval.tv_sec = seconds };

	timerfd_settime(self->timer, 0, &when, NULL);
}

static enum mr_code connect_now(struct pg_listener *self, struct mr_err *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct mr_db_options options = { .path = self->shown };
	enum mr_code rc =
		mr_db_postgres_connect(&self->pq, self->url, self->shown, &self->conn, err);
	PGresult *result;

	if (rc)
		return rc;
	result = self->pq.exec(self->conn, "LISTEN mailroom");
	if (self->pq.resultStatus(result) != PGRES_COMMAND_OK)
		rc = mr_db_postgres_fail(&self->pq, &options, self->conn, result, NULL, err);
	self->pq.clear(result);
	if (!rc && epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->pq.socket(self->conn), &event) != 0)
		rc = mr_err_os(err, errno, "cannot wait for notices of database %s", self->shown);
	if (!rc)
		return MR_OK;
	self->pq.finish(self->conn);
	self->conn = NULL;
	return rc;
}

/* Closing the socket takes it out of the epoll. */
static void disconnect(struct pg_listener *self)
{
	self->pq.finish(self->conn);
	self->conn = NULL;
	set_timer(self, RETRY_S);
}

enum mr_code mr_db_postgres_listen(const char *url, struct mr_db_listener **out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct pg_listener *self = mr_arena_alloc(arena, sizeof(*self));
	struct epoll_event event = { .events = EPOLLIN };
	enum mr_code rc = mr_db_pq_load(&self->pq, err);

	if (rc)
		return rc;
	self->url = mr_arena_strdup(arena, url);
	self->shown = mr_database_url_shown(arena, url);
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	self->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (self->epoll < 0 || self->timer < 0 ||
		epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->timer, &event) != 0)
		rc = mr_err_os(err, errno, "cannot wait for notices of database %s", self->shown);
	if (!rc)
		rc = connect_now(self, err);
	if (rc) {
		mr_fs_closep(&self->epoll);
		mr_fs_closep(&self->timer);
		return rc;
	}
	self->arena = arena;
	arena = NULL;
	*out = &self->base;
	return MR_OK;
}

int mr_db_postgres_listener_fd(const struct mr_db_listener *listener)
{
	return ((const struct pg_listener *)listener)->epoll;
}

/* Whatever happened while nobody listened counts as a notice. */
static bool try_again(struct pg_listener *self)
{
	struct mr_err ignored;
	uint64_t times;

	if (read(self->timer, &times, sizeof(times)) != sizeof(times))
		return false;
	if (connect_now(self, &ignored))
		return false;
	set_timer(self, 0);
	return true;
}

bool mr_db_postgres_listener_drain(struct mr_db_listener *listener)
{
	struct pg_listener *self = listener_of(listener);
	bool any = false;
	PGnotify *notice;

	if (!self->conn)
		return try_again(self);
	if (!self->pq.consumeInput(self->conn) || self->pq.status(self->conn) != CONNECTION_OK) {
		disconnect(self);
		return true;
	}
	while ((notice = self->pq.notifies(self->conn))) {
		any = true;
		self->pq.freemem(notice);
	}
	return any;
}

void mr_db_postgres_listener_close(struct mr_db_listener *listener)
{
	struct pg_listener *self = listener_of(listener);

	self->pq.finish(self->conn);
	mr_fs_closep(&self->epoll);
	mr_fs_closep(&self->timer);
	mr_arena_free(self->arena);
}
