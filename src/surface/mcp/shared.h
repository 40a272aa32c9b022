/*
 * surface/mcp/shared.h - sessions of clients that meet another server of the team at each request.
 *
 * Where the team's database is on a server, a session is written there when it begins, with its
 * level and subscriptions, and any server takes it up when it is named. A thread hears what other
 * servers relay: that a session has changed or ended, an answer or a cancellation for a request
 * that this one works on, and that the client of a stream has come back elsewhere. Where the
 * database is a file nothing of this happens: sessions are this process's alone.
 */
#pragma once

#include "op/call.h"
#include "surface/mcp/session.h"

struct mr_mcp_shared;

struct mr_mcp_shared *mr_mcp_shared_new(struct mr_mcp *mcp, struct mr_mcp_sessions *sessions);
/* Ends the thread. NULL is fine. */
void mr_mcp_shared_free(struct mr_mcp_shared *shared);

/* Before a session is opened, or anything is sealed: so that it fits what other servers do. */
MR_CHECK enum mr_code mr_mcp_shared_ready(struct mr_mcp_shared *shared, struct mr_call *call);
/* A session has been opened. */
MR_CHECK enum mr_code mr_mcp_shared_opened(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const char *owner, const struct mr_mcp_hello *hello);
/* As mr_mcp_session_find(), whichever server opened it. MR_ENOTFOUND, or the error of asking. */
MR_CHECK enum mr_code mr_mcp_shared_find(struct mr_mcp_shared *shared, struct mr_call *call,
	const char *owner, const char *id, struct mr_mcp_session **out);
/* This request of the session was answered: what it changed is for all servers. */
void mr_mcp_shared_answered(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const struct mr_rpc *request);
/* The client answers a question, or cancels a request, of which this server knows nothing. */
void mr_mcp_shared_pass(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const struct mr_rpc *message, const struct mr_value *body);
/* The client has ended the session. */
void mr_mcp_shared_ended(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session);
/*
 * The client comes back for a stream that this server does not have. True when another one has
 * handed it over, so that it can be resumed here; waits some seconds for that. `*anew`: it was the
 * session's own stream, which begins anew here, with news of everything subscribed to.
 */
bool mr_mcp_shared_claim(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const char *last_id, bool *anew);
