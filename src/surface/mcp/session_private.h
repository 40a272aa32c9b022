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

enum { MR_MCP_MESSAGE_BYTES = 4 << 20, MR_MCP_BUCKETS = 1024 };

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
	const char *owner; /* or NULL */

	/* Guarded by the table's lock. */
	struct mr_mcp_session *next;
	unsigned holders; /* the table is one */
	bool is_out;      /* of the table */
	int64_t used_us;

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

struct mr_mcp_sessions {
	const struct mr_clock *clock;
	struct mr_rand *rand;
	struct mr_mcp_hub *hub;
	pthread_mutex_t lock;
	bool stopping;
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
