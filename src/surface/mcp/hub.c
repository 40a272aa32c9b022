/* surface/mcp/hub.c */
#include "surface/mcp/hub.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

struct mr_mcp_subscription {
	struct mr_mcp_subscription *next, **at;
	struct mr_mcp_hub *hub;
	enum mr_mcp_topic topic;
	mr_mcp_heard *heard;
	void *arg;
	char uri[];
};

struct mr_mcp_hub {
	pthread_mutex_t lock;
	size_t count;
	uint64_t version;
	struct mr_mcp_subscription *buckets[BUCKETS];
};

static void *must_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p) {
		fprintf(stderr, "mailroom: out of memory (%zu bytes wanted)\n", size);
		abort();
	}
	return p;
}

struct mr_mcp_hub *mr_mcp_hub_new(void)
{
	struct mr_mcp_hub *hub = must_alloc(sizeof(*hub));

	pthread_mutex_init(&hub->lock, NULL);
	return hub;
}

void mr_mcp_hub_free(struct mr_mcp_hub *hub)
{
	if (!hub)
		return;
	pthread_mutex_destroy(&hub->lock);
	free(hub);
}

static struct mr_mcp_subscription **bucket_of(struct mr_mcp_hub *hub, enum mr_mcp_topic topic,
	const char *uri)
{
	uint64_t hash = 14695981039346656037u + (uint64_t)topic;

	for (; *uri; uri++)
		hash = (hash ^ (unsigned char)*uri) * 1099511628211u;
	return &hub->buckets[(hash ^ hash >> 32) % BUCKETS];
}

enum mr_code mr_mcp_hub_subscribe(struct mr_mcp_hub *hub, enum mr_mcp_topic topic, const char *uri,
	mr_mcp_heard *heard, void *arg, struct mr_mcp_subscription **out, struct mr_err *err)
{
	size_t len = uri ? strlen(uri) : 0;
	struct mr_mcp_subscription *mine = must_alloc(sizeof(*mine) + len + 1);
	enum mr_code rc = MR_OK;

	mine->hub = hub;
	mine->topic = topic;
	mine->heard = heard;
	mine->arg = arg;
	memcpy(mine->uri, uri ? uri : "", len);
	pthread_mutex_lock(&hub->lock);
	if (hub->count == MR_MCP_SUBSCRIPTIONS) {
		rc = mr_err_set(err, MR_ELIMIT, "%d subscriptions are open, which is the maximum",
			MR_MCP_SUBSCRIPTIONS);
	} else {
		mine->at = bucket_of(hub, topic, mine->uri);
		mine->next = *mine->at;
		if (mine->next)
			mine->next->at = &mine->next;
		*mine->at = mine;
		hub->count++;
		hub->version++;
	}
	pthread_mutex_unlock(&hub->lock);
	if (rc)
		free(mine);
	else
		*out = mine;
	return rc;
}

void mr_mcp_hub_unsubscribe(struct mr_mcp_subscription *subscription)
{
	struct mr_mcp_hub *hub;

	if (!subscription)
		return;
	hub = subscription->hub;
	pthread_mutex_lock(&hub->lock);
	*subscription->at = subscription->next;
	if (subscription->next)
		subscription->next->at = subscription->at;
	hub->count--;
	hub->version++;
	pthread_mutex_unlock(&hub->lock);
	free(subscription);
}

void mr_mcp_hub_publish(struct mr_mcp_hub *hub, enum mr_mcp_topic topic, const char *uri)
{
	struct mr_mcp_subscription *at;

	pthread_mutex_lock(&hub->lock);
	for (at = *bucket_of(hub, topic, uri ? uri : ""); at; at = at->next) {
		if (at->topic == topic && strcmp(at->uri, uri ? uri : "") == 0)
			at->heard(at->arg, topic, uri);
	}
	pthread_mutex_unlock(&hub->lock);
}

/* Is there one of the same URI further down its bucket? */
static bool comes_again(const struct mr_mcp_subscription *subscription)
{
	const struct mr_mcp_subscription *at = subscription->next;

	while (at && (at->topic != MR_MCP_RESOURCE || strcmp(at->uri, subscription->uri) != 0))
		at = at->next;
	return at;
}

struct mr_texts mr_mcp_hub_uris(struct mr_mcp_hub *hub, struct mr_arena *arena,
	uint64_t *out_version)
{
	struct mr_texts uris = { 0 };

	pthread_mutex_lock(&hub->lock);
	uris.items = mr_arena_array(arena, hub->count + 1, sizeof(*uris.items));
	for (size_t i = 0; i < BUCKETS; i++) {
		const struct mr_mcp_subscription *at = hub->buckets[i];

		for (; at; at = at->next) {
			if (at->topic == MR_MCP_RESOURCE && !comes_again(at))
				uris.items[uris.len++] = mr_arena_strdup(arena, at->uri);
		}
	}
	*out_version = hub->version;
	pthread_mutex_unlock(&hub->lock);
	return uris;
}
