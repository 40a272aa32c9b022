/*
 * net/event_source.h - events that a server pushes over HTTP (text/event-stream).
 *
 * One connection, for one thread; only mr_event_source_wake() may be called by others. Certificates
 * and host names are verified, redirects are the answer. A stream that ended can be opened again:
 * the server is told the last event that arrived.
 */
#pragma once

#include "base/err.h"
#include "text/event_stream.h"

struct mr_event_source;

struct mr_event_source_request {
	const char *url; /* http or https */
	/* "Name: value", NULL-terminated, or NULL. */
	const char *const *headers;
	const char *ca_file; /* further authorities, or NULL */
	int connect_ms;      /* for connecting and the head of the answer; > 0 */
};

/* `take` is called by mr_event_source_run(), for each event. */
MR_CHECK enum mr_code mr_event_source_new(void (*take)(void *arg, const struct mr_event *event),
	void *arg, struct mr_event_source **out, struct mr_err *err);
void mr_event_source_free(struct mr_event_source *source);
/* For MR_CLEANUP. */
void mr_event_source_freep(struct mr_event_source **source);

/*
 * Ask for the stream, and wait until the server begins to answer. `*out_status` is that of the
 * answer, 0 where there was none; `*out_location` is where it redirects to, or NULL, and valid
 * until the next call. MR_EREMOTE: the server cannot be reached, or the answer is no stream of
 * events.
 */
MR_CHECK enum mr_code mr_event_source_open(struct mr_event_source *source,
	const struct mr_event_source_request *request, int *out_status, const char **out_location,
	struct mr_err *err);
/* Take events for so long, or until it is woken. MR_EREMOTE: the stream has ended; MR_ELIMIT: an
 * event is too long. After an error it has to be opened again. */
MR_CHECK enum mr_code mr_event_source_run(struct mr_event_source *source, int timeout_ms,
	struct mr_err *err);
/* From any thread: end mr_event_source_run(), or mr_event_source_open(), now or when it is next
 * called. */
void mr_event_source_wake(struct mr_event_source *source);
/* Milliseconds since anything was heard. */
int64_t mr_event_source_silent_ms(const struct mr_event_source *source);
/* How long the server wants clients to wait before they open it again; -1: it does not say. */
int64_t mr_event_source_retry_ms(const struct mr_event_source *source);
