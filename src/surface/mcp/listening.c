/*
 * surface/mcp/listening.c - subscriptions/listen: a stream of the changes that a client of the
 * second generation subscribed to.
 */
#include "surface/mcp/endpoint_private.h"
#include "surface/mcp/wanted.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_BYTES = 1 << 20 };

struct mr_mcp_listening {
	struct mr_mcp_listener listener; /* first, so that it can be cast to its listening */
	struct mr_mcp_endpoint *endpoint;
	struct mr_arena *arena;
	const struct mr_value *id; /* of the request */
	struct mr_http_stream *http;
	/* Notifications before the acknowledgement are kept here until it has been sent. */
	pthread_mutex_t lock;
	bool is_acknowledged;
	struct mr_buf waiting;
	/* Guarded by the endpoint's lock. */
	struct mr_mcp_listening *next, **at;
	bool is_closed;
};

/* A failure is ignored: the stream itself drops a client that has gone or does not read. */
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
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&json, MR_MCP_WANTED_BYTES);
	mr_mcp_wanted_change(listening->id, uri, &json);
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

static void send_result(struct mr_mcp_listening *listening)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&json, MR_MCP_WANTED_BYTES);
	mr_mcp_wanted_end(listening->id, &json);
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
	const struct mr_value *filter = mr_mcp_wanted_filter(ex);
	struct mr_mcp_listening *listening;
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&json, MR_MCP_ANSWER_BYTES);
	if (!filter) {
		mr_mcp_post_refuse(post->resp, 200, post->messages[0].id, ex->rpc_code, NULL, "%s",
			ex->call.cx.err.msg);
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
	mr_mcp_wanted_begin(ex, filter, listening->id, &listening->listener, &json);
	send_acknowledgement(listening, &json);
}
