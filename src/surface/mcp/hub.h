/*
 * surface/mcp/hub.h - who wants to hear of which changes.
 *
 * What changes is published here once; whoever subscribed to it is called. Sessions and streams
 * subscribe, whatever watches the data publishes. Safe from any thread.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum mr_mcp_topic {
	MR_MCP_RESOURCE, /* with a URI: what stands there has changed */
	MR_MCP_TOOLS,    /* the list of them */
	MR_MCP_PROMPTS,
	MR_MCP_RESOURCES,
};

enum { MR_MCP_SUBSCRIPTIONS = 65536 };

struct mr_mcp_hub;
struct mr_mcp_subscription;

/* Runs on the publisher's thread, under the hub's lock: it must not block, nor call the hub. `uri`
 * is NULL for lists. */
typedef void mr_mcp_heard(void *arg, enum mr_mcp_topic topic, const char *uri);

struct mr_mcp_hub *mr_mcp_hub_new(void);
/* When nobody is subscribed any more. NULL is fine. */
void mr_mcp_hub_free(struct mr_mcp_hub *hub);

/* `uri` is NULL but for MR_MCP_RESOURCE; copied. MR_ELIMIT when there are too many. */
MR_CHECK enum mr_code mr_mcp_hub_subscribe(struct mr_mcp_hub *hub, enum mr_mcp_topic topic,
	const char *uri, mr_mcp_heard *heard, void *arg, struct mr_mcp_subscription **out,
	struct mr_err *err);
/* When it returns, `heard` is not running and will not be called again. NULL is fine. */
void mr_mcp_hub_unsubscribe(struct mr_mcp_subscription *subscription);

/* Tell everybody who subscribed to exactly this. */
void mr_mcp_hub_publish(struct mr_mcp_hub *hub, enum mr_mcp_topic topic, const char *uri);

/* For whoever watches the data: the URIs somebody wants to hear of, each once, and a number that
 * changes whenever the list may have. */
struct mr_texts mr_mcp_hub_uris(struct mr_mcp_hub *hub, struct mr_arena *arena,
	uint64_t *out_version);
