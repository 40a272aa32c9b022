/*
 * surface/mcp/session.h - clients of the first generation, between their requests.
 *
 * A session has an id nobody can guess, what the client said of itself, one stream for what the
 * server has to say unasked, one for each long call, the last events of them all (events.h), and
 * the questions the client has not answered yet. Idle sessions end after an hour. Safe from any
 * thread; a session that was found stays until it is let go, also when it has ended.
 */
#pragma once

#include "surface/http/stream.h"
#include "surface/mcp/mcp.h"

enum {
	MR_MCP_SESSIONS_MAX = 4096,
	MR_MCP_IDLE_S = 3600,
	MR_MCP_UNUSED_S = 60,  /* after which it makes room for another, when there is none */
	MR_MCP_RETRY_MS = 500, /* after which a client that was hung up on comes back */
};

struct mr_mcp_sessions;

/* When a session ends, its subscriptions in `hub` (or NULL) are ended. */
struct mr_mcp_sessions *mr_mcp_sessions_new(const struct mr_clock *clock, struct mr_rand *rand,
	struct mr_mcp_hub *hub);
/* Ends all sessions, so that no thread waits for a client any more. */
void mr_mcp_sessions_stop(struct mr_mcp_sessions *sessions);
/* After the server has stopped: nobody holds one any more. */
void mr_mcp_sessions_free(struct mr_mcp_sessions *sessions);

/* A new session of that principal (or NULL); MR_ELIMIT when too many are in use, MR_EBUSY after
 * stop. Release it with _done(). */
MR_CHECK enum mr_code mr_mcp_session_open(struct mr_mcp_sessions *sessions, const char *owner,
	const struct mr_mcp_hello *hello, struct mr_mcp_session **out, struct mr_err *err);
/* NULL when that principal has none of that id, or no longer. Let go with _done(). */
struct mr_mcp_session *mr_mcp_session_find(struct mr_mcp_sessions *sessions, const char *owner,
	const char *id);
/* One more that holds it; let go with _done(). */
struct mr_mcp_session *mr_mcp_session_hold(struct mr_mcp_session *session);
/* For MR_CLEANUP; NULL inside is fine. */
void mr_mcp_session_done(struct mr_mcp_session **session);
/* It ends: its id is unknown from now on, its streams are closed, its questions given up. */
void mr_mcp_session_end(struct mr_mcp_session *session);

const char *mr_mcp_session_id(const struct mr_mcp_session *session);
/* What it said of itself, now; texts live as long as the session. */
struct mr_mcp_client mr_mcp_session_client(struct mr_mcp_session *session);
/* enum mr_mcp_level: what it wants to hear from now on. */
void mr_mcp_session_set_level(struct mr_mcp_session *session, int level);

/* The stream of GET becomes this one; MR_EEXISTS while there is another. */
MR_CHECK enum mr_code mr_mcp_session_listen(struct mr_mcp_session *session,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err);
/*
 * GET with Last-Event-ID: later events of that stream, and then what else comes on it; a connection
 * it still has is let go. MR_ENOTFOUND when the id is none of this session's, or no longer.
 */
MR_CHECK enum mr_code mr_mcp_session_resume(struct mr_mcp_session *session, const char *last_id,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err);
/* A message for the client, unasked: sent when it listens, kept for when it does. Messages are
 * compact JSON, followed by a NUL that is not counted. */
void mr_mcp_session_tell(struct mr_mcp_session *session, struct mr_bytes json);

/* A stream that carries what belongs to one request. */
struct mr_mcp_outlet;

/* The response becomes the stream. `request_id` names it for _cancel(); copied. */
MR_CHECK enum mr_code mr_mcp_session_stream(struct mr_mcp_session *session,
	const struct mr_value *request_id, const struct mr_http_request *req,
	struct mr_http_response *resp, struct mr_mcp_outlet **out, struct mr_err *err);
/* Sent, and kept for a client that has gone; MR_ENOTFOUND when the session has ended. */
MR_CHECK enum mr_code mr_mcp_outlet_send(struct mr_mcp_outlet *outlet, struct mr_bytes json,
	struct mr_err *err);
/* Hang up on the client, which comes back and asks for what is sent from now on. */
void mr_mcp_outlet_pause(struct mr_mcp_outlet *outlet);
/* Is the answer not wanted any more: cancelled, or the session has ended? */
bool mr_mcp_outlet_is_over(struct mr_mcp_outlet *outlet);
/* All is sent. Frees it. */
void mr_mcp_outlet_end(struct mr_mcp_outlet *outlet);

/*
 * Ask the client and wait for its answer, at most `timeout_ms`. MR_ENOTFOUND when the session ends
 * or the request is cancelled, MR_ETIMEOUT, MR_EREMOTE with what the client said instead.
 */
MR_CHECK enum mr_code mr_mcp_outlet_ask(struct mr_mcp_outlet *outlet, struct mr_arena *arena,
	const char *method, const struct mr_value *params, unsigned timeout_ms,
	const struct mr_value **out, struct mr_err *err);
/* The client answers a question. False when it is none of this server's. */
bool mr_mcp_session_answered(struct mr_mcp_session *session, const struct mr_rpc *response);
/* The client does not want the answer to this request any more. False when this server does not
 * work on it. */
bool mr_mcp_session_cancel(struct mr_mcp_session *session, const struct mr_value *request_id);
