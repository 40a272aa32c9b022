/*
 * surface/mcp/session.h - clients of the first generation, between their requests.
 *
 * A session has an id nobody can guess, what the client said of itself, at most one stream for what
 * the server has to say unasked, and the last events of its streams, so that a client that lost one
 * can ask for what it missed. Idle sessions end after an hour. Safe from any thread; a session that
 * was found stays until it is let go.
 */
#pragma once

#include "surface/http/stream.h"
#include "surface/mcp/mcp.h"

enum {
	MR_MCP_SESSIONS_MAX = 4096,
	MR_MCP_EVENTS = 1000,         /* kept for those who come back */
	MR_MCP_EVENT_BYTES = 4 << 20, /* all of a session's together */
	MR_MCP_IDLE_S = 3600,
	MR_MCP_EVENTS_S = 600,
};

struct mr_mcp_sessions;

struct mr_mcp_sessions *mr_mcp_sessions_new(const struct mr_clock *clock, struct mr_rand *rand);
/* Ends all; their streams are closed. */
void mr_mcp_sessions_free(struct mr_mcp_sessions *sessions);

/* A new one; MR_ELIMIT when there are too many that are not idle. Let go with _done(). */
MR_CHECK enum mr_code mr_mcp_session_open(struct mr_mcp_sessions *sessions,
	const struct mr_mcp_hello *hello, struct mr_mcp_session **out, struct mr_err *err);
/* NULL when there is none of that id, or no longer. Let go with _done(). */
struct mr_mcp_session *mr_mcp_session_find(struct mr_mcp_sessions *sessions, const char *id);
/* For MR_CLEANUP; NULL inside is fine. */
void mr_mcp_session_done(struct mr_mcp_session **session);
/* It ends: its id is unknown from now on, its stream is closed. */
void mr_mcp_session_end(struct mr_mcp_session *session);

const char *mr_mcp_session_id(const struct mr_mcp_session *session);
/* What it said of itself; `session` inside is set. */
const struct mr_mcp_client *mr_mcp_session_client(const struct mr_mcp_session *session);

/* The stream of GET becomes this one; MR_EEXISTS while there is another. */
MR_CHECK enum mr_code mr_mcp_session_listen(struct mr_mcp_session *session,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err);
/* A message for the client, unasked: sent when it listens, kept for when it does. */
void mr_mcp_session_tell(struct mr_mcp_session *session, struct mr_bytes json);
