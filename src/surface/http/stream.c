/*
 * surface/http/stream.c - Server-sent event streams: a bounded queue per client, keep-alive
 * comments, and removal of closed clients.
 *
 * Locks: the registry's, then a stream's, then the HTTP library's. `ended` runs under none.
 */
#include "surface/http/stream.h"

#include "base/oom.h"
#include "surface/http/stream_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENT_BYTES = 16 * 1024 * 1024, REAPED_AT_ONCE = 64 };

struct mr_http_stream {
	pthread_mutex_t lock;
	unsigned holders;
	struct mr_buf queue;
	size_t taken;     /* bytes of `queue` already sent */
	bool closing;     /* nothing more will be queued */
	bool cut;         /* the client is to be let go, or has gone */
	bool parked;      /* the connection sleeps until there is something to send */
	void *connection; /* NULL before attach and after detach */
	int fd;
	const struct mr_http_stream_link *link;
	int64_t last_us; /* something was queued */
	mr_http_stream_ended *ended;
	void *arg;
	struct mr_http_streams *home; /* the server's; not to be used after detach */
	unsigned slot;
};

struct mr_http_streams {
	struct mr_http_streams_config config;
	pthread_mutex_t lock;
	bool finished;
	int epoll;
	unsigned used; /* slots ever used; the rest have never held a stream */
	unsigned free_len;
	unsigned *free_slots;          /* used before and free again */
	struct mr_http_stream **slots; /* NULL where free */
};

static void *must_alloc(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		mr_oom(count * size);
	return p;
}

enum mr_code mr_http_streams_new(const struct mr_http_streams_config *config,
	struct mr_http_streams **out, struct mr_err *err)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct mr_http_streams *streams;

	if (epoll < 0)
		return mr_err_os(err, errno, "cannot create an epoll instance for streams");
	streams = must_alloc(1, sizeof(*streams));
	streams->config = *config;
	streams->epoll = epoll;
	streams->slots = must_alloc(config->max, sizeof(struct mr_http_stream *));
	streams->free_slots = must_alloc(config->max, sizeof(*streams->free_slots));
	pthread_mutex_init(&streams->lock, NULL);
	*out = streams;
	return MR_OK;
}

void mr_http_streams_free(struct mr_http_streams *streams)
{
	if (!streams)
		return;
	close(streams->epoll);
	pthread_mutex_destroy(&streams->lock);
	free(streams->slots);
	free(streams->free_slots);
	free(streams);
}

unsigned mr_http_streams_count(struct mr_http_streams *streams)
{
	unsigned count;

	pthread_mutex_lock(&streams->lock);
	count = streams->used - streams->free_len;
	pthread_mutex_unlock(&streams->lock);
	return count;
}

int mr_http_streams_fd(const struct mr_http_streams *streams)
{
	return streams->epoll;
}

static int64_t now_us(const struct mr_http_streams *streams)
{
	return mr_clock_mono_us(streams->config.clock);
}

static enum mr_code add(struct mr_http_streams *streams, struct mr_http_stream *stream,
	struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&streams->lock);
	if (streams->finished) {
		rc = mr_err_set(err, MR_EBUSY, "the server is stopping");
	} else if (streams->free_len == 0 && streams->used == streams->config.max) {
		rc = mr_err_set(err, MR_ELIMIT, "%u streams are open, which is the maximum",
			streams->config.max);
	} else {
		stream->slot = streams->free_len ? streams->free_slots[--streams->free_len]
						 : streams->used++;
		streams->slots[stream->slot] = stream;
	}
	pthread_mutex_unlock(&streams->lock);
	return rc;
}

static void release(struct mr_http_stream *stream)
{
	bool last;

	pthread_mutex_lock(&stream->lock);
	last = --stream->holders == 0;
	pthread_mutex_unlock(&stream->lock);
	if (!last)
		return;
	mr_buf_release(&stream->queue);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

enum mr_code mr_http_stream_open(const struct mr_http_request *req, struct mr_http_response *resp,
	mr_http_stream_ended *ended, void *arg, struct mr_http_stream **out, struct mr_err *err)
{
	struct mr_http_stream *stream = must_alloc(1, sizeof(*stream));
	enum mr_code rc;

	pthread_mutex_init(&stream->lock, NULL);
	mr_buf_init(&stream->queue, req->streams->config.max_bytes);
	stream->holders = 2;
	stream->ended = ended;
	stream->arg = arg;
	stream->home = req->streams;
	stream->fd = -1;
	stream->last_us = now_us(req->streams);
	rc = add(req->streams, stream, err);
	if (rc) {
		stream->holders = 1;
		release(stream);
		return rc;
	}
	resp->stream = stream;
	resp->status = 200;
	mr_http_response_header(resp, "Content-Type", "text/event-stream");
	mr_http_response_header(resp, "Cache-Control", "no-cache, no-transform");
	mr_http_response_header(resp, "X-Accel-Buffering", "no");
	*out = stream;
	return MR_OK;
}

/* Under the stream's lock. */
static void wake(struct mr_http_stream *stream)
{
	if (!stream->parked)
		return;
	stream->parked = false;
	stream->link->resume(stream->connection);
}

/* Under the stream's lock. The connection may be stuck in a write: only this ends it. */
static void cut(struct mr_http_stream *stream)
{
	stream->cut = true;
	if (stream->connection)
		shutdown(stream->fd, SHUT_RDWR);
	wake(stream);
}

/* Under the stream's lock. */
static enum mr_code append(struct mr_http_stream *stream, struct mr_bytes bytes, struct mr_err *err)
{
	size_t waiting = stream->queue.len - stream->taken;

	if (stream->cut || stream->closing)
		return mr_err_set(err, MR_ENOTFOUND, "the stream has ended");
	if (bytes.len > stream->queue.max - waiting) {
		enum mr_code rc = mr_err_set(err, MR_ELIMIT,
			"the client does not read its stream: %zu bytes wait, of at most %zu",
			waiting, stream->queue.max);

		cut(stream);
		return rc;
	}
	if (stream->taken && bytes.len > stream->queue.max - stream->queue.len) {
		memmove(stream->queue.data, stream->queue.data + stream->taken, waiting);
		stream->queue.len = waiting;
		stream->taken = 0;
	}
	mr_buf_add(&stream->queue, bytes.data, bytes.len);
	wake(stream);
	return MR_OK;
}

enum mr_code mr_http_stream_send(struct mr_http_stream *stream, struct mr_bytes bytes,
	struct mr_err *err)
{
	enum mr_code rc;

	pthread_mutex_lock(&stream->lock);
	rc = append(stream, bytes, err);
	/* The server's clock is there as long as its side is. */
	if (!rc && stream->connection)
		stream->last_us = now_us(stream->home);
	pthread_mutex_unlock(&stream->lock);
	return rc;
}

static void put_field(struct mr_buf *buf, const char *name, const char *text, size_t len)
{
	mr_buf_puts(buf, name);
	mr_buf_puts(buf, ": ");
	mr_buf_add(buf, text, len);
	mr_buf_putc(buf, '\n');
}

enum mr_code mr_http_stream_format(struct mr_buf *buf, const char *event, const char *id,
	const char *data, struct mr_err *err)
{
	if ((event && strpbrk(event, "\r\n")) || (id && strpbrk(id, "\r\n")))
		return mr_err_set(err, MR_EINVAL, "an event's %s must be one line",
			event && strpbrk(event, "\r\n") ? "name" : "id");
	if (event)
		put_field(buf, "event", event, strlen(event));
	if (id)
		put_field(buf, "id", id, strlen(id));
	while (data) {
		size_t len = strcspn(data, "\r\n");

		put_field(buf, "data", data, len);
		data += len;
		if (!*data)
			break;
		data += data[0] == '\r' && data[1] == '\n' ? 2 : 1;
	}
	mr_buf_putc(buf, '\n');
	return mr_buf_check(buf, "an event", err);
}

enum mr_code mr_http_stream_event(struct mr_http_stream *stream, const char *event, const char *id,
	const char *data, struct mr_err *err)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&buf, EVENT_BYTES);
	rc = mr_http_stream_format(&buf, event, id, data, err);
	return rc ? rc : mr_http_stream_send(stream, mr_buf_bytes(&buf), err);
}

/* No more will be queued. */
static void finish(struct mr_http_stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	stream->closing = true;
	wake(stream);
	pthread_mutex_unlock(&stream->lock);
}

void mr_http_stream_close(struct mr_http_stream *stream)
{
	if (!stream)
		return;
	finish(stream);
	release(stream);
}

void mr_http_stream_attach(struct mr_http_stream *stream, void *connection, int fd,
	const struct mr_http_stream_link *link)
{
	struct epoll_event event = { .events = EPOLLRDHUP | EPOLLONESHOT,
		.data.u32 = stream->slot };

	pthread_mutex_lock(&stream->lock);
	stream->connection = connection;
	stream->fd = fd;
	stream->link = link;
	pthread_mutex_unlock(&stream->lock);
	/* When this fails, the next keep-alive comment finds out later that the client has gone. */
	(void)epoll_ctl(stream->home->epoll, EPOLL_CTL_ADD, fd, &event);
}

ssize_t mr_http_stream_take(struct mr_http_stream *stream, char *out, size_t room)
{
	size_t waiting;
	ssize_t result;

	pthread_mutex_lock(&stream->lock);
	waiting = stream->queue.len - stream->taken;
	if (stream->cut) {
		result = MR_HTTP_STREAM_CUT;
	} else if (waiting) {
		size_t len = waiting < room ? waiting : room;

		memcpy(out, stream->queue.data + stream->taken, len);
		stream->taken += len;
		if (len == waiting) {
			/* An idle stream keeps no queue. */
			mr_buf_release(&stream->queue);
			stream->taken = 0;
		}
		result = (ssize_t)len;
	} else if (stream->closing) {
		result = MR_HTTP_STREAM_END;
	} else {
		stream->parked = true;
		stream->link->suspend(stream->connection);
		result = 0;
	}
	pthread_mutex_unlock(&stream->lock);
	return result;
}

void mr_http_stream_detach(struct mr_http_stream *stream)
{
	struct mr_http_streams *home = stream->home;

	pthread_mutex_lock(&home->lock);
	if (stream->fd >= 0)
		(void)epoll_ctl(home->epoll, EPOLL_CTL_DEL, stream->fd, NULL);
	home->slots[stream->slot] = NULL;
	home->free_slots[home->free_len++] = stream->slot;
	pthread_mutex_unlock(&home->lock);

	pthread_mutex_lock(&stream->lock);
	stream->connection = NULL;
	stream->cut = true;
	stream->parked = false;
	pthread_mutex_unlock(&stream->lock);
	if (stream->ended)
		stream->ended(stream->arg);
	release(stream);
}

/* Has the client of this slot's stream hung up? The slot may hold another stream by now. */
static void reap_slot(struct mr_http_streams *streams, unsigned slot)
{
	struct mr_http_stream *stream;

	pthread_mutex_lock(&streams->lock);
	stream = streams->slots[slot];
	if (stream) {
		pthread_mutex_lock(&stream->lock);
		if (stream->connection) {
			struct pollfd p = { .fd = stream->fd, .events = POLLRDHUP };

			if (poll(&p, 1, 0) > 0)
				cut(stream);
		}
		pthread_mutex_unlock(&stream->lock);
	}
	pthread_mutex_unlock(&streams->lock);
}

void mr_http_streams_reap(struct mr_http_streams *streams)
{
	struct epoll_event events[REAPED_AT_ONCE];
	int count = epoll_wait(streams->epoll, events, REAPED_AT_ONCE, 0);

	for (int i = 0; i < count; i++)
		reap_slot(streams, events[i].data.u32);
}

void mr_http_streams_keep_alive(struct mr_http_streams *streams)
{
	static const char comment[] = ": keepalive\n\n";
	int64_t now = now_us(streams);
	struct mr_err err;

	pthread_mutex_lock(&streams->lock);
	for (unsigned i = 0; i < streams->used; i++) {
		struct mr_http_stream *stream = streams->slots[i];

		if (!stream)
			continue;
		pthread_mutex_lock(&stream->lock);
		/* What is not parked has something to send already. */
		if (stream->parked && now - stream->last_us >= streams->config.keepalive_us) {
			stream->last_us = now;
			(void)!append(stream, mr_bytes_text(comment), &err);
		}
		pthread_mutex_unlock(&stream->lock);
	}
	pthread_mutex_unlock(&streams->lock);
}

void mr_http_streams_finish(struct mr_http_streams *streams)
{
	pthread_mutex_lock(&streams->lock);
	streams->finished = true;
	for (unsigned i = 0; i < streams->used; i++) {
		if (streams->slots[i])
			finish(streams->slots[i]);
	}
	pthread_mutex_unlock(&streams->lock);
}
