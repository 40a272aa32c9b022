/* surface/mcp/post.c - POST on the MCP endpoint: reads the messages, finds their client, checks
 * its rights, and answers. */
#include "base/attr.h"
#include "surface/http/access.h"
#include "surface/http/media.h"
#include "surface/http/server.h"
#include "surface/http/wait.h"
#include "surface/mcp/answer.h"
#include "surface/mcp/endpoint_private.h"
#include "surface/mcp/era.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/method.h"

#include <string.h>

static void release_buf(void *buf)
{
	mr_buf_release(buf);
}

/* A buffer that lives as long as the response. */
static struct mr_buf *new_buf(struct mr_arena *arena)
{
	struct mr_buf *buf = mr_arena_alloc(arena, sizeof(*buf));

	mr_buf_init(buf, MR_MCP_ANSWER_BYTES);
	mr_arena_defer(arena, release_buf, buf);
	return buf;
}

void mr_mcp_post_refuse(struct mr_http_response *resp, int status, const struct mr_value *id,
	int code, const struct mr_value *data, const char *fmt, ...)
{
	struct mr_buf *text = new_buf(resp->arena);
	const char *message;
	struct mr_out out;
	va_list ap;

	va_start(ap, fmt);
	message = mr_arena_vprintf(resp->arena, fmt, ap);
	va_end(ap);
	mr_out_init_json(&out, text, MR_JSON_COMPACT);
	mr_rpc_error(&out, id, code, message, data);
	mr_http_response_json(resp, status, mr_buf_bytes(text));
	if (status == 503)
		mr_http_response_header(resp, "Retry-After", "1");
}

const char *mr_mcp_post_owner(const struct mr_http_request *req)
{
	return req->principal ? req->principal->name : NULL;
}

static struct mr_mcp_exchange make_exchange(const struct mr_mcp_post *post)
{
	struct mr_mcp_exchange ex = { .mcp = post->endpoint->mcp, .client = &post->client };

	ex.call = mr_dispatch_call(mr_mcp_app(ex.mcp), post->req->arena);
	if (post->client.session)
		ex.call.session = mr_mcp_session_id(post->client.session);
	mr_http_access_call(post->req, &ex.call);
	mr_http_wait_lend(post->req, &ex.call.cx);
	return ex;
}

/* ---- what is in the body ---- */

/* False when the response says why not. */
static bool read_messages(struct mr_mcp_post *post, const struct mr_value *body)
{
	const struct mr_value *items = body;

	post->len = 1;
	post->is_batch = body->kind == MR_LIST;
	if (post->is_batch) {
		items = body->list.items;
		post->len = body->list.len;
	}
	if (post->len == 0 || post->len > MR_MCP_BATCH) {
		mr_mcp_post_refuse(post->resp, 400, NULL, MR_RPC_INVALID, NULL,
			"a batch has 1 to %d messages", MR_MCP_BATCH);
		return false;
	}
	post->items = items;
	post->messages = mr_arena_array(post->req->arena, post->len, sizeof(*post->messages));
	for (size_t i = 0; i < post->len; i++) {
		const char *why = mr_rpc_read(&items[i], &post->messages[i]);

		if (why) {
			mr_mcp_post_refuse(post->resp, 400, post->messages[i].id, MR_RPC_PARSE,
				NULL, "%s", why);
			return false;
		}
		post->requests += post->messages[i].kind == MR_RPC_REQUEST;
	}
	return true;
}

static bool is_initialize(const struct mr_rpc *message)
{
	return message->kind == MR_RPC_REQUEST && mr_str_eq(message->method, "initialize");
}

/* ---- who sends it ---- */

/* False when the response says why not. A session is held for the request in `*out`. */
static bool find_client(struct mr_mcp_post *post, struct mr_mcp_session **out)
{
	const char *version = mr_http_request_header(post->req, "MCP-Protocol-Version");
	const char *id = mr_http_request_header(post->req, "Mcp-Session-Id");
	struct mr_call call = mr_dispatch_call(mr_mcp_app(post->endpoint->mcp), post->req->arena);
	enum mr_code rc;

	if (version && !mr_mcp_knows_version(version) && !is_initialize(&post->messages[0])) {
		mr_mcp_post_refuse(post->resp, 400, NULL, MR_RPC_TRANSPORT, NULL,
			"protocol version %.40s is not spoken here", version);
		return false;
	}
	if (!id) {
		post->client = (struct mr_mcp_client){ .era = MR_MCP_SESSIONS,
			.version = version ? version : MR_MCP_ASSUMED,
			.is_silent = !version };
		return true;
	}
	rc = mr_mcp_shared_find(post->endpoint->shared, &call, mr_mcp_post_owner(post->req), id,
		out);
	if (rc) {
		mr_mcp_post_refuse(post->resp, rc == MR_ENOTFOUND ? 404 : 503, NULL, MR_RPC_SESSION,
			NULL, "%s", call.cx.err.msg);
		return false;
	}
	post->client = mr_mcp_session_client(*out);
	return true;
}

/* Only one version has batches, and introductions are made alone. */
static bool may_be_batch(struct mr_mcp_post *post)
{
	const char *why = NULL;

	if (!post->is_batch)
		return true;
	if (!mr_str_eq(post->client.version, MR_MCP_ASSUMED))
		why = "there are no batches in this protocol version";
	for (size_t i = 0; i < post->len && !why; i++) {
		if (is_initialize(&post->messages[i]))
			why = "initialize must be sent alone";
	}
	if (why)
		mr_mcp_post_refuse(post->resp, 400, NULL, MR_RPC_INVALID, NULL, "%s", why);
	return !why;
}

/* ---- may they ---- */

static struct mr_http_task task_of(const struct mr_mcp_post *post, const struct mr_rpc *request)
{
	struct mr_http_task task = { .kind = MR_HTTP_OTHER };

	if (mr_str_eq(request->method, "tools/call")) {
		task.kind = MR_HTTP_TOOL;
		task.name = mr_mcp_tools_needs(post->endpoint->mcp, request, &task.needs);
	} else if (mr_str_eq(request->method, "resources/read")) {
		task.kind = MR_HTTP_RESOURCE;
	}
	return task;
}

/* False when the response says why not. */
static bool may_do_all(struct mr_mcp_post *post)
{
	struct mr_http_task *tasks = mr_arena_array(post->req->arena, post->len, sizeof(*tasks));
	size_t count = 0;
	int status;

	for (size_t i = 0; i < post->len; i++) {
		if (post->messages[i].kind == MR_RPC_REQUEST)
			tasks[count++] = task_of(post, &post->messages[i]);
	}
	status = mr_http_access_check(post->req, post->resp, tasks, count);
	/* Whoever has a session reads JSON-RPC; the headers stay. */
	if (status == 429 && post->client.session)
		mr_mcp_post_refuse(post->resp, 429, NULL, MR_RPC_TRANSPORT, NULL,
			"Rate limit exceeded");
	return status == 200;
}

/* ---- what is done ---- */

/* `body` is the whole message. */
static void take_notice(struct mr_mcp_post *post, const struct mr_rpc *message,
	const struct mr_value *body)
{
	struct mr_call call = mr_dispatch_call(mr_mcp_app(post->endpoint->mcp), post->req->arena);
	struct mr_mcp_session *session = post->client.session;
	const struct mr_value *id = mr_value_get(message->params, "requestId");
	bool is_ours = true;

	if (!session)
		return;
	if (message->kind == MR_RPC_RESPONSE) {
		is_ours = mr_mcp_session_answered(session, message);
	} else if (mr_str_eq(message->method, "notifications/cancelled") && id) {
		is_ours = mr_mcp_session_cancel(session, id);
		body = id;
	}
	if (!is_ours)
		mr_mcp_shared_pass(post->endpoint->shared, &call, session, message, body);
}

static enum mr_code open_session(struct mr_mcp_post *post, struct mr_call *call,
	const struct mr_mcp_hello *hello, struct mr_mcp_session **out)
{
	struct mr_mcp_shared *shared = post->endpoint->shared;
	const char *owner = mr_mcp_post_owner(post->req);
	enum mr_code rc = mr_mcp_shared_ready(shared, call);

	if (!rc)
		rc = mr_mcp_session_open(post->endpoint->sessions, owner, hello, out,
			&call->cx.err);
	if (!rc)
		rc = mr_mcp_shared_opened(shared, call, *out, owner, hello);
	return rc;
}

static void introduce(struct mr_mcp_post *post)
{
	const struct mr_rpc *request = &post->messages[0];
	struct mr_mcp_session *session MR_CLEANUP(mr_mcp_session_done) = NULL;
	struct mr_mcp_exchange ex = make_exchange(post);
	struct mr_buf *answer = new_buf(post->req->arena);
	struct mr_mcp_hello hello;

	if (post->client.session) {
		mr_mcp_post_refuse(post->resp, 400, request->id, MR_RPC_INVALID, NULL,
			"this session has been initialized already");
		return;
	}
	mr_mcp_answer(&ex, request, answer);
	if (!ex.rpc_code) {
		mr_mcp_hello(request->params, &hello);
		if (open_session(post, &ex.call, &hello, &session)) {
			mr_mcp_post_refuse(post->resp, 503, request->id, MR_RPC_TRANSPORT, NULL,
				"%s", ex.call.cx.err.msg);
			return;
		}
		mr_http_response_header(post->resp, "Mcp-Session-Id",
			mr_arena_strdup(post->resp->arena, mr_mcp_session_id(session)));
	}
	mr_http_response_json(post->resp, 200, mr_buf_bytes(answer));
}

static int answer_one(const struct mr_mcp_post *post, const struct mr_rpc *request,
	struct mr_buf *out)
{
	struct mr_mcp_exchange ex = make_exchange(post);
	int status = mr_mcp_answer(&ex, request, out);

	if (post->client.session)
		mr_mcp_shared_answered(post->endpoint->shared, &ex.call, post->client.session,
			request);
	return status;
}

static void answer_batch(const struct mr_mcp_post *post, struct mr_buf *out)
{
	struct mr_buf one MR_CLEANUP(mr_buf_release) = { 0 };
	const char *before = "[";

	mr_buf_init(&one, MR_MCP_ANSWER_BYTES);
	for (size_t i = 0; i < post->len; i++) {
		if (post->messages[i].kind != MR_RPC_REQUEST)
			continue;
		mr_buf_clear(&one);
		answer_one(post, &post->messages[i], &one);
		mr_buf_puts(out, before);
		mr_buf_add(out, one.data, one.len);
		before = ",";
	}
	mr_buf_putc(out, ']');
}

/* Answer with JSON, here and now. */
static void answer(struct mr_mcp_post *post)
{
	struct mr_buf *text = new_buf(post->req->arena);
	int status = 200;

	if (post->is_batch)
		answer_batch(post, text);
	else
		status = answer_one(post, &post->messages[0], text);
	if (text->failed)
		mr_mcp_post_refuse(post->resp, 200, NULL, MR_RPC_INTERNAL, NULL,
			"the answers together are larger than %d bytes", MR_MCP_ANSWER_BYTES);
	else
		mr_http_response_json(post->resp,
			post->client.era == MR_MCP_STATELESS ? status : 200, mr_buf_bytes(text));
}

static bool has_long(const struct mr_mcp_post *post)
{
	for (size_t i = 0; i < post->len; i++) {
		if (post->messages[i].kind == MR_RPC_REQUEST &&
			mr_mcp_is_long(post->endpoint->mcp, &post->client, &post->messages[i]))
			return true;
	}
	return false;
}

static void listen_to(struct mr_mcp_post *post)
{
	struct mr_mcp_exchange ex = make_exchange(post);

	ex.params = post->messages[0].params;
	mr_mcp_post_listen(post, &ex);
}

/* Headers that repeat arguments of a tool: only those of the conformance tests have such. */
static bool do_params_agree(struct mr_mcp_post *post)
{
	const struct mr_rpc *request = &post->messages[0];
	const struct mr_value *name = mr_value_get(request->params, "name");
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(post->endpoint->mcp)->fixtures;
	const char *wrong = NULL;

	if (fixtures && mr_str_eq(request->method, "tools/call") && name && name->kind == MR_TEXT)
		wrong = mr_mcp_era_wrong_param(post->req,
			fixtures->schema(post->req->arena, name->text),
			mr_value_get(request->params, "arguments"));
	if (wrong)
		mr_mcp_post_refuse(post->resp, 400, request->id, MR_RPC_HEADERS, NULL,
			"the header %s must say what the body says", wrong);
	return !wrong;
}

/* The second generation: one message, which says all about itself. */
static void serve_modern(struct mr_mcp_post *post)
{
	const struct mr_rpc *request = &post->messages[0];
	struct mr_call call = mr_dispatch_call(mr_mcp_app(post->endpoint->mcp), post->req->arena);

	/* What fails for that reason says so when it asks for the team. */
	(void)!mr_mcp_shared_ready(post->endpoint->shared, &call);
	if (post->requests == 0)
		post->resp->status = 202;
	else if (!do_params_agree(post) || !may_do_all(post))
		return;
	else if (mr_str_eq(request->method, "subscriptions/listen"))
		listen_to(post);
	else if (has_long(post))
		mr_mcp_long_call(post);
	else
		answer(post);
}

/* Which generation is it? False when the response says what is wrong. */
static bool find_era(struct mr_mcp_post *post, bool *is_modern)
{
	struct mr_mcp_objection objection;

	*is_modern = false;
	for (size_t i = 0; i < post->len; i++)
		*is_modern |= mr_mcp_era_is_modern(&post->messages[i]);
	if (post->is_batch && *is_modern) {
		mr_mcp_post_refuse(post->resp, 400, NULL, MR_RPC_INVALID, NULL,
			"there are no batches in protocol version " MR_MCP_MODERN);
		return false;
	}
	if (post->is_batch ||
		mr_mcp_era_check(post->req, &post->messages[0], &post->client, &objection))
		return true;
	mr_mcp_post_refuse(post->resp, 400, post->messages[0].id, objection.code, objection.data,
		"%s", objection.message);
	return false;
}

static void serve(struct mr_mcp_post *post)
{
	struct mr_mcp_session *session MR_CLEANUP(mr_mcp_session_done) = NULL;
	bool is_modern;

	if (!find_era(post, &is_modern))
		return;
	if (is_modern) {
		serve_modern(post);
		return;
	}
	if (!find_client(post, &session) || !may_be_batch(post) || !may_do_all(post))
		return;
	for (size_t i = 0; i < post->len; i++) {
		if (post->messages[i].kind != MR_RPC_REQUEST)
			take_notice(post, &post->messages[i], &post->items[i]);
	}
	if (post->requests == 0)
		post->resp->status = 202;
	else if (is_initialize(&post->messages[0]))
		introduce(post);
	else if (has_long(post))
		mr_mcp_long_call(post);
	else
		answer(post);
}

void mr_mcp_post(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_mcp_post post = {
		.endpoint = (struct mr_mcp_endpoint *)(uintptr_t)req->match.route->arg,
		.req = req,
		.resp = resp,
	};
	const struct mr_value *body;
	struct mr_err err;

	if (!mr_http_media_accepts(req, "application/json") ||
		!mr_http_media_accepts(req, "text/event-stream")) {
		mr_mcp_post_refuse(resp, 406, NULL, MR_RPC_TRANSPORT, NULL,
			"the header Accept must allow application/json and text/event-stream");
		return;
	}
	if (!mr_http_media_is(mr_http_request_header(req, "Content-Type"), "application/json")) {
		mr_mcp_post_refuse(resp, 415, NULL, MR_RPC_TRANSPORT, NULL,
			"the header Content-Type must be application/json");
		return;
	}
	if (mr_json_parse(req->arena, req->body, NULL, &body, &err)) {
		mr_mcp_post_refuse(resp, 400, NULL, MR_RPC_PARSE, NULL, "%s", err.msg);
		return;
	}
	if (read_messages(&post, body))
		serve(&post);
}
