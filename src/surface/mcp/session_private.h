/*
 * surface/mcp/session_private.h - what the files of a session share.
 *
 * Locks: a session's, then the table's or a stream's. The table's lock guards its entries and their
 * counts of holders; a session's lock guards its own changing fields.
 */
#pragma once

#include "surface/mcp/events.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/session.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	MR_MCP_MESSAGE_BYTES = 4 << 20,
	MR_MCP_BUCKETS = 1024,
	/* Each server that shares a session numbers its streams from another multiple on; a
	 * multiple itself is the stream of GET. */
	MR_MCP_STREAMS = 1 << 16,
};

/* A connection that carries a stream just now. The HTTP server has it until it ends. */
struct mr_mcp_link {
	struct mr_mcp_session *session; /* held */
	struct mr_http_stream *http;
	struct mr_mcp_outlet *outlet; /* NULL: it carries nothing any more, and http is closed */
};

struct mr_mcp_outlet {
	struct mr_mcp_outlet *next;
	struct mr_mcp_session *session; /* held, but by the session's own */
	uint64_t stream;
	struct mr_mcp_link *link; /* NULL while the client is away */
	char *request_id;         /* as JSON; NULL of the session's own */
	bool is_cancelled;
	bool is_remote; /* the client came back at another server, which gets the events */
	bool is_guest;  /* another server works on it */
	bool is_found;  /* of a guest: the other server has answered */
};

/* Something we asked, on the asker's stack. */
struct mr_mcp_question {
	struct mr_mcp_question *next;
	uint64_t number;
	struct mr_mcp_outlet *outlet;
	struct mr_buf answer; /* JSON */
	bool is_answered, is_error;
};

struct mr_mcp_session {
	struct mr_mcp_listener listener; /* first: it is the session */
	struct mr_mcp_sessions *all;
	struct mr_arena *arena; /* the ids, and what the client said */
	const char *id;
	const char *digest; /* by which other servers know it; NULL where none share it */
	const char *owner;  /* or NULL */

	/* Guarded by the table's lock. */
	struct mr_mcp_session *next;
	unsigned holders; /* the table is one */
	bool is_out;      /* of the table */
	int64_t used_us;
	int64_t touched_us; /* when other servers were last told that it is used */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* an answer, a cancellation, the end */
	bool ended;
	struct mr_mcp_client client;
	struct mr_mcp_events *events;
	struct mr_mcp_outlet unasked; /* the stream of GET */
	struct mr_mcp_outlet *outlets;
	struct mr_mcp_question *questions;
	uint64_t last_question;
};

/* Tell the other servers of a session. Under the session's lock. */
typedef void mr_mcp_session_relay(void *arg, struct mr_mcp_session *session, const char *kind,
	const char *body);

struct mr_mcp_sessions {
	const struct mr_clock *clock;
	struct mr_rand *rand;
	struct mr_mcp_hub *hub;
	pthread_mutex_t lock;
	bool stopping;
	pthread_mutex_t adopting;    /* taken before all others */
	mr_mcp_session_relay *relay; /* NULL: no other server shares the sessions */
	void *relay_arg;
	_Atomic(size_t) count;
	struct mr_mcp_session *buckets[MR_MCP_BUCKETS];
};

/* Zeroed; never NULL. */
void *mr_mcp_session_alloc(size_t size);
/* Under the session's lock: detach the connection from its stream; the caller closes it. */
struct mr_http_stream *mr_mcp_outlet_unlink(struct mr_mcp_outlet *outlet);
/* Under the session's lock: keep it, and send it while the client is there. */
void mr_mcp_outlet_put(struct mr_mcp_outlet *outlet, struct mr_bytes json);
/* Under the session's lock: is nobody waiting for the answer any more? */
bool mr_mcp_outlet_is_idle(const struct mr_mcp_outlet *outlet);
/* A value as JSON, to be freed. */
char *mr_mcp_session_json(const struct mr_value *value);
/* Under the session's lock: the same with its number, of a guest. */
void mr_mcp_outlet_put_at(struct mr_mcp_outlet *outlet, uint64_t number, struct mr_bytes json);

/* --- session_relay.c: sessions that several servers share --- */

/* From now on. */
void mr_mcp_sessions_share(struct mr_mcp_sessions *sessions, mr_mcp_session_relay *relay,
	void *arg);
/* The server where the client came back gets what it has not seen, and what follows. */
void mr_mcp_session_hand_over(struct mr_mcp_session *session, uint64_t stream, uint64_t number);
/* Under the session's lock: an event of a stream for another server. */
void mr_mcp_outlet_relay(struct mr_mcp_outlet *outlet, const char *kind, uint64_t number,
	const char *json);
/* Expect a stream that another server has; false when it is here. */
bool mr_mcp_session_expect(struct mr_mcp_session *session, uint64_t stream, uint64_t number);
/* When it ends: their clients come back elsewhere. Under the session's lock. */
void mr_mcp_session_leave_guests(struct mr_mcp_session *session);
/* When it is freed. */
void mr_mcp_session_drop_guests(struct mr_mcp_session *session);
/* Has another server handed it over within this time? If not, it is not expected any more. */
bool mr_mcp_session_wait_found(struct mr_mcp_session *session, uint64_t stream, int timeout_ms);
/* What another server relayed of a stream: "found", "event" or "over". */
void mr_mcp_session_arrived(struct mr_mcp_session *session, const char *kind, uint64_t stream,
	uint64_t number, const char *json);

/* --- session.c --- */

/* One that another server opened; held, as by mr_mcp_session_open(). */
MR_CHECK enum mr_code mr_mcp_session_adopt(struct mr_mcp_sessions *sessions, const char *owner,
	const char *id, const struct mr_mcp_hello *hello, struct mr_mcp_session **out,
	struct mr_err *err);
/* Held, or NULL. */
struct mr_mcp_session *mr_mcp_session_of_digest(struct mr_mcp_sessions *sessions,
	const char *digest);
/* True once in so many seconds. */
bool mr_mcp_session_is_due(struct mr_mcp_session *session, int64_t now_us, int64_t every_s);
