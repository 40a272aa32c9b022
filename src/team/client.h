/*
 * team/client.h - sessions of clients that several servers share, and what servers tell each other
 * about them.
 *
 * A client whose requests go through a load balancer meets another server each time. So what a
 * session is (surface/mcp/session.h) is kept in the database, and servers relay to each other what
 * belongs to a request that one of them works on. Ids of sessions are kept as digests: whoever
 * knows one can use it. None of this is used where the database is a file.
 */
#pragma once

#include "team/store/root.h"
#include "team/topic.h"

enum {
	MR_TEAM_CLIENT_IDLE_S = 3600, /* a session that was not used for so long is over */
	MR_TEAM_RELAYED_S = 600,      /* what was relayed is kept for so long */
	MR_TEAM_RELAYED_BATCH = 200,
};

struct mr_team_subscription {
	const char *uri;
	struct mr_team_topic topic; /* without its mark */
};
struct mr_team_client {
	const char *owner; /* or NULL */
	const char *hello; /* what the client said of itself, in the words of who stored it */
	int64_t level;
	struct mr_team_subscription *subscriptions;
	size_t subscription_count;
};

/* As it is kept. */
const char *mr_team_client_digest(struct mr_arena *arena, const char *id);
/* What all servers of the team know, and nobody else: for sealing what clients carry. */
MR_CHECK enum mr_code mr_team_client_secret(struct mr_ctx *cx, struct mr_team *team,
	const char **out);
/* A new session; sessions that are over are forgotten. */
MR_CHECK enum mr_code mr_team_client_put(struct mr_ctx *cx, struct mr_team *team,
	const char *digest, const struct mr_team_client *client);
/* `*found`: there is one, and it is not over. */
MR_CHECK enum mr_code mr_team_client_get(struct mr_ctx *cx, struct mr_team *team,
	const char *digest, bool *found, struct mr_team_client *out);

/* What other servers are told with a change, and in what order. */
struct mr_team_relayed {
	int64_t id;
	const char *digest; /* of the session */
	const char *sender; /* which server */
	const char *kind;   /* what it is, in the words of who sends it */
	const char *body;
};
struct mr_team_relayeds {
	struct mr_team_relayed *items; /* oldest first */
	size_t len;
};

/* A change of a session, which is told to the other servers; `relayed` has no id yet. */
enum mr_team_client_act {
	MR_TEAM_CLIENT_RELAY, /* nothing is stored */
	MR_TEAM_CLIENT_TOUCH, /* it was used */
	MR_TEAM_CLIENT_LEVEL,
	MR_TEAM_CLIENT_SUBSCRIBE,
	MR_TEAM_CLIENT_UNSUBSCRIBE,
	MR_TEAM_CLIENT_END,
};
struct mr_team_client_change {
	enum mr_team_client_act act;
	struct mr_team_relayed relayed; /* nothing is told when its kind is NULL */
	int64_t level;
	struct mr_team_subscription subscription; /* its uri alone to end one */
};
MR_CHECK enum mr_code mr_team_client_change(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_client_change *change);
/* The newest that was relayed. */
MR_CHECK enum mr_code mr_team_relayed_last(struct mr_ctx *cx, struct mr_team *team, int64_t *out);
/* Wait until others than `self` have relayed something after `*after`, which moves on, or until
 * cx->is_over; the code that makes it true calls mr_team_topics_wake(). */
MR_CHECK enum mr_code mr_team_relayed_wait(struct mr_ctx *cx, struct mr_team *team,
	const char *self, int64_t *after, struct mr_team_relayeds *out);
