/*
 * surface/mcp/long_call.c - requests that go on after their handler has returned.
 *
 * The response is a stream: of the session, where there is one, so that a client that lost it finds
 * the rest again; else of this connection alone, and then the call is over when the client goes.
 */
#include "base/oom.h"
#include "surface/http/access.h"
#include "surface/mcp/answer.h"
#include "surface/mcp/endpoint_private.h"

#include <stdlib.h>
#include <string.h>

enum { ASK_MS = 300 * 1000 };

/* The client at the other end of a connection without a session. */
struct peer {
	_Atomic(unsigned) holders;
	_Atomic(bool) has_gone;
};

struct long_call {
	struct mr_mcp_channel channel;
	struct mr_arena *arena;
	struct mr_mcp_endpoint *endpoint;
	struct mr_mcp_client client;
	struct mr_rpc *messages;
	size_t len;
	struct mr_call rights; /* what the request's calls get */
	/* One of the two. */
	struct mr_mcp_outlet *outlet;
	struct mr_http_stream *http;
	struct peer *peer;
};

static void let_go(struct peer *peer)
{
	if (atomic_fetch_sub(&peer->holders, 1) == 1)
		free(peer);
}

static void on_ended(void *arg)
{
	struct peer *peer = arg;

	atomic_store(&peer->has_gone, true);
	let_go(peer);
}

/* ---- the channel ---- */

static struct long_call *call_of(struct mr_mcp_channel *channel)
{
	return (struct long_call *)((char *)channel - offsetof(struct long_call, channel));
}

static enum mr_code send_message(struct mr_mcp_channel *channel, struct mr_bytes json,
	struct mr_err *err)
{
	struct long_call *call = call_of(channel);

	if (call->outlet)
		return mr_mcp_outlet_send(call->outlet, json, err);
	return mr_http_stream_event(call->http, "message", NULL, (const char *)json.data, err);
}

static enum mr_code ask(struct mr_mcp_channel *channel, struct mr_arena *arena, const char *method,
	const struct mr_value *params, const struct mr_value **out, struct mr_err *err)
{
	struct long_call *call = call_of(channel);

	if (!call->outlet)
		return mr_err_set(err, MR_ENOTFOUND, "a client without a session cannot be asked");
	return mr_mcp_outlet_ask(call->outlet, arena, method, params, ASK_MS, out, err);
}

static void pause_stream(struct mr_mcp_channel *channel)
{
	struct long_call *call = call_of(channel);

	if (call->outlet)
		mr_mcp_outlet_pause(call->outlet);
}

static bool is_over(struct mr_mcp_channel *channel)
{
	struct long_call *call = call_of(channel);

	if (atomic_load(&call->endpoint->stopping))
		return true;
	return call->outlet ? mr_mcp_outlet_is_over(call->outlet)
			    : atomic_load(&call->peer->has_gone);
}

/* ---- the thread ---- */

static bool call_is_over(void *arg)
{
	struct long_call *call = arg;

	return is_over(&call->channel);
}

static void answer(struct long_call *call, const struct mr_rpc *request)
{
	struct mr_mcp_exchange ex = { .mcp = call->endpoint->mcp, .client = &call->client };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err gone;

	ex.call = mr_dispatch_call(mr_mcp_app(call->endpoint->mcp), call->arena);
	call->rights.cx = ex.call.cx;
	ex.call = call->rights;
	ex.call.is_over = call_is_over;
	ex.call.is_over_arg = call;
	ex.channel = &call->channel;
	mr_buf_init(&text, MR_MCP_STREAMED_ANSWER_BYTES);
	mr_mcp_answer(&ex, request, &text);
	/* Whoever has gone does not need it. */
	(void)!send_message(&call->channel, mr_buf_bytes(&text), &gone);
}

static void end(struct long_call *call)
{
	struct mr_arena *arena = call->arena;

	if (call->outlet)
		mr_mcp_outlet_end(call->outlet);
	mr_http_stream_close(call->http);
	if (call->peer)
		let_go(call->peer);
	mr_mcp_session_done(&call->client.session);
	mr_arena_free(arena);
}

static void run(void *arg)
{
	struct long_call *call = arg;

	for (size_t i = 0; i < call->len; i++) {
		if (call->messages[i].kind == MR_RPC_REQUEST)
			answer(call, &call->messages[i]);
	}
	end(call);
}

/* ---- the start ---- */

static struct mr_texts copy_texts(struct mr_arena *arena, const struct mr_texts *texts)
{
	struct mr_texts copy = { mr_arena_array(arena, texts->len + 1, sizeof(*copy.items)),
		texts->len };

	for (size_t i = 0; i < texts->len; i++)
		copy.items[i] = mr_arena_strdup(arena, texts->items[i]);
	return copy;
}

static struct mr_principal_agents copy_agents(struct mr_arena *arena,
	const struct mr_principal_agents *agents)
{
	struct mr_principal_agents copy = {
		mr_arena_array(arena, agents->len + 1, sizeof(*copy.items)), agents->len
	};

	for (size_t i = 0; i < agents->len; i++)
		copy.items[i] = (struct mr_principal_agent){
			mr_arena_strdup(arena, agents->items[i].name),
			mr_arena_strdup(arena, agents->items[i].project),
		};
	return copy;
}

static struct mr_call copy_rights(struct mr_arena *arena, const struct mr_mcp_post *post)
{
	struct mr_call call = mr_dispatch_call(mr_mcp_app(post->endpoint->mcp), arena);
	struct mr_principal *principal;

	mr_http_access_call(post->req, &call);
	call.request_id = mr_arena_strdup(arena, call.request_id);
	call.traceparent = mr_arena_strdup(arena, call.traceparent);
	call.agent_token = mr_arena_strdup(arena, call.agent_token);
	if (post->client.session)
		call.session = mr_arena_strdup(arena, mr_mcp_session_id(post->client.session));
	if (!call.principal)
		return call;
	principal = mr_arena_memdup(arena, call.principal, sizeof(*principal));
	principal->name = mr_arena_strdup(arena, principal->name);
	principal->agents = copy_agents(arena, &principal->agents);
	principal->readonly_tools = copy_texts(arena, &principal->readonly_tools);
	call.principal = principal;
	return call;
}

/* The messages again, in memory that outlives the request: they were read once, so they can be. */
static struct long_call *make(const struct mr_mcp_post *post)
{
	struct mr_arena *arena = mr_arena_new();
	struct long_call *call = mr_arena_alloc(arena, sizeof(*call));
	const struct mr_value *body;
	struct mr_err err;

	call->arena = arena;
	call->channel = (struct mr_mcp_channel){ send_message, ask, pause_stream, is_over };
	call->endpoint = post->endpoint;
	call->client = post->client;
	call->client.version = mr_arena_strdup(arena, post->client.version);
	if (call->client.session)
		mr_mcp_session_hold(call->client.session);
	call->rights = copy_rights(arena, post);
	call->len = post->len;
	call->messages = mr_arena_array(arena, post->len, sizeof(*call->messages));
	if (mr_json_parse(arena, post->req->body, NULL, &body, &err))
		abort();
	for (size_t i = 0; i < post->len; i++)
		(void)!mr_rpc_read(post->is_batch ? &body->list.items[i] : body,
			&call->messages[i]);
	return call;
}

static enum mr_code open_stream(struct long_call *call, const struct mr_mcp_post *post,
	const struct mr_value *id, struct mr_err *err)
{
	enum mr_code rc;

	if (call->client.session)
		return mr_mcp_session_stream(call->client.session, id, post->req, post->resp,
			&call->outlet, err);
	call->peer = calloc(1, sizeof(*call->peer));
	if (!call->peer)
		mr_oom(sizeof(*call->peer));
	atomic_store(&call->peer->holders, 2);
	rc = mr_http_stream_open(post->req, post->resp, on_ended, call->peer, &call->http, err);
	if (rc)
		let_go(call->peer);
	return rc;
}

/* Take a thread and open a stream, or neither: then the HTTP status can still report it. */
static bool begin(struct long_call *call, const struct mr_mcp_post *post, const struct mr_value *id,
	struct mr_err *err)
{
	if (mr_mcp_runner_enter(post->endpoint->runner, err))
		return false;
	if (!open_stream(call, post, id, err))
		return true;
	mr_mcp_runner_leave(post->endpoint->runner);
	return false;
}

void mr_mcp_long_call(struct mr_mcp_post *post)
{
	struct long_call *call = make(post);
	const struct mr_value *id = NULL;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	struct mr_err err;

	mr_buf_init(&text, 1 << 16);
	for (size_t i = 0; i < call->len && !id; i++) {
		if (call->messages[i].kind == MR_RPC_REQUEST)
			id = call->messages[i].id;
	}
	if (!begin(call, post, id, &err)) {
		mr_mcp_post_refuse(post->resp, 503, id, MR_RPC_TRANSPORT, NULL, "%s", err.msg);
		end(call);
		return;
	}
	if (!mr_mcp_runner_start(post->endpoint->runner, run, call, &err))
		return;
	/* The response is a stream already, so send the error on it. */
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_rpc_error(&out, id, MR_RPC_TRANSPORT, err.msg, NULL);
	(void)!send_message(&call->channel, mr_buf_bytes(&text), &err);
	end(call);
}
