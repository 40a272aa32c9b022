/*
 * surface/mcp/listening.c - subscriptions/listen: a stream of the changes a client of the second
 * generation wants to hear of.
 */
#include "surface/mcp/endpoint_private.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/method.h"
#include "surface/mcp/resources.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 64 << 10, WAITING_BYTES = 1 << 20 };

#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

struct mr_mcp_listening {
	struct mr_mcp_listener listener; /* first: it is the listening */
	struct mr_mcp_endpoint *endpoint;
	struct mr_arena *arena;
	const struct mr_value *id; /* of the request */
	struct mr_http_stream *http;
	/* Nothing is sent before the acknowledgement: until then it waits here. */
	pthread_mutex_t lock;
	bool is_acknowledged;
	struct mr_buf waiting;
	/* Guarded by the endpoint's lock. */
	struct mr_mcp_listening *next, **at;
	bool is_closed;
};

/* What a client can ask for besides resources, and what it is then told. */
static const struct {
	const char *filter;
	const char *uri; /* in the hub */
	const char *method;
	enum mr_mcp_topic_kind topic;
} lists[] = {
	{ "toolsListChanged", MR_MCP_URI_TOOLS, "notifications/tools/list_changed",
		MR_MCP_TOPIC_OTHER },
	{ "promptsListChanged", MR_MCP_URI_PROMPTS, "notifications/prompts/list_changed",
		MR_MCP_TOPIC_OTHER },
	{ "resourcesListChanged", MR_MCP_URI_RESOURCES, "notifications/resources/list_changed",
		MR_MCP_TOPIC_MEMBERS },
};

static void put_id(const struct mr_mcp_listening *listening, struct mr_out *out)
{
	mr_out_map(out, "_meta");
	mr_out_value(out, SUBSCRIPTION_ID, listening->id);
	mr_out_end(out);
}

/* A client that has gone, or does not read, is let go by the stream. */
static void send_json(struct mr_mcp_listening *listening, const struct mr_buf *json)
{
	struct mr_err ignored;

	pthread_mutex_lock(&listening->lock);
	if (listening->is_acknowledged)
		(void)!mr_http_stream_event(listening->http, "message", NULL, mr_buf_text(json),
			&ignored);
	else
		(void)!mr_http_stream_format(&listening->waiting, "message", NULL,
			mr_buf_text(json), &ignored);
	pthread_mutex_unlock(&listening->lock);
}

static void send_acknowledgement(struct mr_mcp_listening *listening, const struct mr_buf *json)
{
	struct mr_err ignored;

	pthread_mutex_lock(&listening->lock);
	(void)!mr_http_stream_event(listening->http, "message", NULL, mr_buf_text(json), &ignored);
	(void)!mr_http_stream_send(listening->http, mr_buf_bytes(&listening->waiting), &ignored);
	mr_buf_release(&listening->waiting);
	listening->is_acknowledged = true;
	pthread_mutex_unlock(&listening->lock);
}

static void free_listening(struct mr_mcp_listening *listening)
{
	mr_buf_release(&listening->waiting);
	pthread_mutex_destroy(&listening->lock);
	mr_arena_free(listening->arena);
}

/* ---- being told ---- */

static void on_updated(struct mr_mcp_listener *listener, const char *uri)
{
	struct mr_mcp_listening *listening = (struct mr_mcp_listening *)listener;
	const char *method = "notifications/resources/updated";
	struct mr_buf json MR_CLEANUP(mr_buf_release);
	struct mr_out out;

	for (size_t i = 0; i < MR_LEN(lists); i++) {
		if (strcmp(lists[i].uri, uri) == 0) {
			method = lists[i].method;
			uri = NULL;
			break;
		}
	}
	mr_buf_init(&json, MESSAGE_BYTES);
	mr_out_init_json(&out, &json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, method);
	mr_out_map(&out, "params");
	put_id(listening, &out);
	if (uri)
		mr_out_text(&out, "uri", uri);
	mr_out_end(&out);
	mr_out_end(&out);
	if (!json.failed)
		send_json(listening, &json);
}

static void on_ended(void *arg)
{
	struct mr_mcp_listening *listening = arg;
	struct mr_mcp_endpoint *endpoint = listening->endpoint;

	mr_mcp_hub_unsubscribe(mr_mcp_hub(endpoint->mcp), NULL, &listening->listener);
	pthread_mutex_lock(&endpoint->lock);
	*listening->at = listening->next;
	if (listening->next)
		listening->next->at = listening->at;
	pthread_mutex_unlock(&endpoint->lock);
	if (!listening->is_closed)
		mr_http_stream_close(listening->http);
	free_listening(listening);
}

/* The response to the request: it comes at the end. */
static void send_result(struct mr_mcp_listening *listening)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release);
	struct mr_out out;

	mr_buf_init(&json, MESSAGE_BYTES);
	mr_out_init_json(&out, &json, MR_JSON_COMPACT);
	mr_rpc_begin(&out, listening->id);
	mr_out_map(&out, "result");
	mr_out_text(&out, "resultType", "complete");
	put_id(listening, &out);
	mr_out_end(&out);
	mr_out_end(&out);
	send_json(listening, &json);
}

void mr_mcp_listening_stop(struct mr_mcp_endpoint *endpoint)
{
	pthread_mutex_lock(&endpoint->lock);
	for (struct mr_mcp_listening *at = endpoint->listenings; at; at = at->next) {
		if (at->is_closed)
			continue;
		send_result(at);
		at->is_closed = true;
		mr_http_stream_close(at->http);
	}
	pthread_mutex_unlock(&endpoint->lock);
}

/* ---- the request ---- */

static bool wants(const struct mr_value *filter, const char *key)
{
	const struct mr_value *value = mr_value_get(filter, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static bool is_list_uri(const char *uri)
{
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		if (strcmp(lists[i].uri, uri) == 0)
			return true;
	}
	return false;
}

/* Subscribe to one resource that stands in the filter; false when there is no such thing. */
static bool subscribe(struct mr_mcp_exchange *ex, struct mr_mcp_listening *listening,
	const struct mr_value *uri)
{
	struct mr_mcp_topic topic;

	return uri->kind == MR_TEXT && !is_list_uri(uri->text) &&
		!mr_mcp_resource_topic(ex, uri->text, &topic) &&
		!mr_mcp_hub_subscribe(mr_mcp_hub(ex->mcp), &ex->call, uri->text, &topic,
			&listening->listener);
}

/* Subscribe to all that is wanted and served, and say what that is. */
static void acknowledge(struct mr_mcp_exchange *ex, struct mr_mcp_listening *listening,
	const struct mr_value *filter, struct mr_buf *json)
{
	const struct mr_value *uris = mr_value_get(filter, "resourceSubscriptions");
	struct mr_mcp_hub *hub = mr_mcp_hub(ex->mcp);
	struct mr_out out;

	mr_out_init_json(&out, json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, "notifications/subscriptions/acknowledged");
	mr_out_map(&out, "params");
	put_id(listening, &out);
	mr_out_map(&out, "notifications");
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		const struct mr_mcp_topic topic = { .kind = lists[i].topic };

		if (wants(filter, lists[i].filter) &&
			!mr_mcp_hub_subscribe(hub, &ex->call, lists[i].uri, &topic,
				&listening->listener))
			mr_out_bool(&out, lists[i].filter, true);
	}
	if (uris && uris->kind == MR_LIST) {
		mr_out_list(&out, "resourceSubscriptions");
		for (size_t i = 0; i < uris->list.len; i++) {
			if (subscribe(ex, listening, &uris->list.items[i]))
				mr_out_value(&out, NULL, &uris->list.items[i]);
		}
		mr_out_end(&out);
	}
	mr_out_end(&out);
	mr_out_end(&out);
	mr_out_end(&out);
}

static struct mr_mcp_listening *make(struct mr_mcp_post *post)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_mcp_listening *listening = mr_arena_alloc(arena, sizeof(*listening));
	const struct mr_value *id = post->messages[0].id;
	struct mr_value *copy = mr_arena_memdup(arena, id, sizeof(*id));

	if (copy->kind == MR_TEXT)
		copy->text = mr_arena_strdup(arena, id->text);
	pthread_mutex_init(&listening->lock, NULL);
	mr_buf_init(&listening->waiting, WAITING_BYTES);
	listening->listener.updated = on_updated;
	listening->arena = arena;
	listening->endpoint = post->endpoint;
	listening->id = copy;
	return listening;
}

static void add(struct mr_mcp_endpoint *endpoint, struct mr_mcp_listening *listening)
{
	pthread_mutex_lock(&endpoint->lock);
	listening->next = endpoint->listenings;
	listening->at = &endpoint->listenings;
	if (listening->next)
		listening->next->at = &listening->next;
	endpoint->listenings = listening;
	pthread_mutex_unlock(&endpoint->lock);
}

void mr_mcp_post_listen(struct mr_mcp_post *post, struct mr_mcp_exchange *ex)
{
	const struct mr_value *filter = mr_value_get(ex->params, "notifications");
	struct mr_mcp_listening *listening;
	struct mr_buf json MR_CLEANUP(mr_buf_release);
	struct mr_err err;

	mr_buf_init(&json, MR_MCP_ANSWER_BYTES);
	if (!filter || filter->kind != MR_MAP) {
		mr_mcp_post_refuse(post->resp, 200, post->messages[0].id, MR_RPC_PARAMS, NULL,
			"notifications must be an object");
		return;
	}
	listening = make(post);
	if (mr_http_stream_open(post->req, post->resp, on_ended, listening, &listening->http,
		    &err)) {
		free_listening(listening);
		mr_mcp_post_refuse(post->resp, 503, post->messages[0].id, MR_RPC_TRANSPORT, NULL,
			"%s", err.msg);
		return;
	}
	add(post->endpoint, listening);
	acknowledge(ex, listening, filter, &json);
	send_acknowledgement(listening, &json);
}
