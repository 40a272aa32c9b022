/*
 * surface/mcp/hub.h - subscriptions to resources, and the notifications about their changes.
 *
 * One thread, woken by the kernel when the team's database has changed, finds out which subscribed
 * resources have changed and notifies their subscribers. Several changes before a notification
 * result in one notification. The thread starts with the first subscription to a resource of the
 * team.
 */
#pragma once

#include "op/team/watching.h"

/*
 * A receiver of unsolicited messages: a session, a listening stream, or the client on stdio. A
 * transport embeds one in its own struct.
 */
struct mr_mcp_listener {
	/*
	 * `uri`, as it was subscribed to, has changed. Runs on the hub's thread, or on the
	 * publisher's: it must not block and must not call the hub.
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
 * Notify the listener when `uri` changes, that is when `topic` does, or when mr_mcp_hub_publish()
 * is called; subscribing twice is the same as once. Texts are copied. `team` is the program's,
 * which outlives the hub; a topic of the kind NONE needs none. MR_ELIMIT: too many subscriptions.
 * From any thread.
 */
MR_CHECK enum mr_code mr_mcp_hub_subscribe(struct mr_mcp_hub *hub, struct mr_call *call,
	struct mr_team *team, const char *uri, const struct mr_team_topic *topic,
	struct mr_mcp_listener *listener);
/* The topic of a subscription, in the arena; false when the listener has none to `uri`. */
bool mr_mcp_hub_topic(struct mr_mcp_hub *hub, struct mr_arena *arena, const char *uri,
	const struct mr_mcp_listener *listener, struct mr_team_topic *out);
/* End those of the listener's subscriptions that are not among `uris`. */
void mr_mcp_hub_retain(struct mr_mcp_hub *hub, struct mr_mcp_listener *listener,
	const struct mr_texts *uris);
/* Notify the listener of all that it subscribed to. */
void mr_mcp_hub_tell_all(struct mr_mcp_hub *hub, struct mr_mcp_listener *listener);
/* End the subscription, or with `uri` NULL all of the listener's. When it returns, no
 * notification is under way and none will follow. A `uri` that was not subscribed to is fine. */
void mr_mcp_hub_unsubscribe(struct mr_mcp_hub *hub, const char *uri,
	struct mr_mcp_listener *listener);
/* Notify all its subscribers. From any thread. */
void mr_mcp_hub_publish(struct mr_mcp_hub *hub, const char *uri);
