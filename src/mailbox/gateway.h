/*
 * mailbox/gateway.h - the gateway of an agent's session: its files, and how it is found (spec/
 * mailbox.md 17.6).
 *
 * A gateway is a process that serves one agent's mail over HTTP. Its files are in `gateway/` of the
 * session, and are those of the Houmao runtime. The record of the running instance is written once
 * the listener is bound and removed when the gateway stops; one that a killed gateway left is
 * recognised, by its process and by who answers at its port.
 */
#pragma once

#include "base/lock.h"
#include "mailbox/registry.h"
#include "mailbox/session.h"

/* Below the session's directory; see mr_mailbox_gateway_path(). */
#define MR_MAILBOX_GATEWAY_DIR      "gateway"
#define MR_MAILBOX_GATEWAY_LOGS     "gateway/logs"
#define MR_MAILBOX_GATEWAY_LOG      "gateway/logs/gateway.log"
#define MR_MAILBOX_GATEWAY_EVENTS   "gateway/events.jsonl"
#define MR_MAILBOX_GATEWAY_STATE    "gateway/state.json"
#define MR_MAILBOX_GATEWAY_QUEUE    "gateway/queue.sqlite"
#define MR_MAILBOX_GATEWAY_PROTOCOL "v1"

/* The absolute path of one of these. */
const char *mr_mailbox_gateway_path(struct mr_arena *arena,
	const struct mr_mailbox_session *session, const char *name);

/* --- finding one --- */

/* The gateway that a session's record of a running one names. */
struct mr_mailbox_gateway {
	const char *host;
	int64_t port;
	const char *base_url;
	const char *state_path;
};
/*
 * `*out` is set and true returned when the session's record names a gateway whose process may be
 * alive; whether it still answers is not looked at.
 */
bool mr_mailbox_gateway_find(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	struct mr_mailbox_gateway *out);
/* Does it answer, as a gateway, and as that of this session? Asks it over HTTP. */
bool mr_mailbox_gateway_answers(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	const struct mr_mailbox_gateway *gateway);

/* --- being one --- */

/* A running gateway. Its texts live as long as the session they were made from. */
struct mr_mailbox_gateway_instance {
	const struct mr_mailbox_session *session; /* as it was at the start */
	const char *registry;
	struct mr_lock lock; /* held while it runs: one gateway for each session */
	const char *host;
	int64_t port;
	/* The tmux window that it runs in, when that is one of the agent's session; or NULL. */
	const char *window_id, *window_index, *pane_id;
};
#define MR_MAILBOX_GATEWAY_INIT ((struct mr_mailbox_gateway_instance){ .lock = MR_LOCK_INIT })

/*
 * Before it listens: make its directory, and be the only one. MR_EBUSY: a gateway of this session
 * runs already, ours or the Houmao runtime's.
 */
MR_CHECK enum mr_code mr_mailbox_gateway_claim(struct mr_ctx *cx,
	const struct mr_mailbox_session *session, struct mr_mailbox_gateway_instance *out);
/*
 * Once it listens on instance->host and ->port: write its files, enter it into the agent's registry
 * record and into the environment of the agent's tmux session.
 */
MR_CHECK enum mr_code mr_mailbox_gateway_publish(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance);
/* The opposite, as far as it works; then the lock goes. What another gateway wrote since stays. */
void mr_mailbox_gateway_withdraw(struct mr_ctx *cx, struct mr_mailbox_gateway_instance *instance);

/*
 * What /v1/status shows, and state.json holds. Without an instance (NULL): that of a gateway that
 * is not there. `queue_depth` counts what waits to be typed into the agent's terminal.
 */
const struct mr_value *mr_mailbox_gateway_status(struct mr_ctx *cx,
	const struct mr_mailbox_session *session,
	const struct mr_mailbox_gateway_instance *instance, int64_t queue_depth);
