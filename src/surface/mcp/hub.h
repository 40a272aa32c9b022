/*
 * surface/mcp/hub.h - who wants to know when a resource changes.
 *
 * One thread, woken by the kernel when the team's database has changed, finds out whose resources
 * these changes concern and tells them. What changes several times before they can be told is told
 * once. It begins with the first subscription to something of the team.
 */
#pragma once

#include "op/team/watching.h"

/*
 * Somebody who can be told something unasked: a session, a stream that listens, the other end of
 * stdio. A transport puts one into its own struct.
 */
struct mr_mcp_listener {
	/*
	 * `uri`, as it was subscribed to, has changed. On the hub's thread, or on that of who
	 * publishes: it must not block and must not call the hub.
	 */
	void (*updated)(struct mr_mcp_listener *listener, const char *uri);
	/* logging/setLevel: the level (enum mr_mcp_level) of its later requests; or NULL. On the
	 * thread of the request. */
	void (*set_level)(struct mr_mcp_listener *listener, int level);
};

enum {
	MR_MCP_SUBSCRIPTIONS = 64,       /* of one listener */
	MR_MCP_SUBSCRIPTIONS_ALL = 65536 /* of all */
};

struct mr_mcp_hub;

/* `app` must outlive it. */
struct mr_mcp_hub *mr_mcp_hub_new(const struct mr_app *app);
/* Ends the thread. NULL is fine. */
void mr_mcp_hub_free(struct mr_mcp_hub *hub);

/*
 * From now on the listener is told when `uri` changes, which is when `topic` does, or when
 * mr_mcp_hub_publish() says so; twice is once. Texts are copied. MR_ELIMIT: too many. From any
 * thread.
 */
MR_CHECK enum mr_code mr_mcp_hub_subscribe(struct mr_mcp_hub *hub, struct mr_call *call,
	const char *uri, const struct mr_team_topic *topic, struct mr_mcp_listener *listener);
/* No longer; `uri` NULL: of nothing. When it returns the listener is not being told anything, and
 * will not be. What was not subscribed to is fine. */
void mr_mcp_hub_unsubscribe(struct mr_mcp_hub *hub, const char *uri,
	struct mr_mcp_listener *listener);
/* Tell all who subscribed to it. From any thread. */
void mr_mcp_hub_publish(struct mr_mcp_hub *hub, const char *uri);
