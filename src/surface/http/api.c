/*
 * surface/http/api.c - Serves the operations as HTTP routes and as POST /api/tools/{name}, and the
 * metrics as /metrics.
 */
#include "surface/http/api.h"

#include "app/metrics.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/team/team_home.h"
#include "surface/http/access.h"
#include "surface/http/openapi.h"
#include "surface/http/wait.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ANSWER_BYTES = 64 << 20, METRICS_BYTES = 4 << 20, ARGUMENTS_MAX = 256 };

static void release_buf(void *buf)
{
	mr_buf_release(buf);
}

/* A buffer that lives as long as the request. */
static struct mr_buf *new_buf(struct mr_arena *arena, size_t max)
{
	struct mr_buf *buf = mr_arena_alloc(arena, sizeof(*buf));

	mr_buf_init(buf, max);
	mr_arena_defer(arena, release_buf, buf);
	return buf;
}

/* Arguments being gathered: a map with room for more. */
struct gathering {
	struct mr_arena *arena;
	struct mr_value map;
	struct mr_err *err;
};

static struct mr_pair *find_pair(struct gathering *g, const char *key)
{
	for (size_t i = 0; i < g->map.map.len; i++) {
		if (strcmp(g->map.map.pairs[i].key, key) == 0)
			return &g->map.map.pairs[i];
	}
	return NULL;
}

/* A name that occurs again turns its value into a list. */
static void add_again(struct gathering *g, struct mr_value *have, struct mr_value more)
{
	struct mr_value list = { .kind = MR_LIST };
	size_t len = have->kind == MR_LIST ? have->list.len : 1;

	list.list.items = mr_arena_array(g->arena, len + 1, sizeof(struct mr_value));
	memcpy(list.list.items, have->kind == MR_LIST ? have->list.items : have,
		len * sizeof(struct mr_value));
	list.list.items[len] = more;
	list.list.len = len + 1;
	*have = list;
}

static enum mr_code add(struct gathering *g, const char *key, struct mr_value value)
{
	struct mr_pair *pair = find_pair(g, key);

	if (pair) {
		add_again(g, &pair->value, value);
		return MR_OK;
	}
	if (g->map.map.len == ARGUMENTS_MAX)
		return mr_err_set(g->err, MR_ELIMIT, "more than %d arguments", ARGUMENTS_MAX);
	g->map.map.pairs[g->map.map.len++] = (struct mr_pair){ key, value };
	return MR_OK;
}

static enum mr_code add_body(struct gathering *g, const struct mr_http_request *req)
{
	const char *type = mr_http_request_header(req, "Content-Type");
	const struct mr_value *body;
	enum mr_code rc;

	if (req->body.len == 0)
		return MR_OK;
	if (!type || strncasecmp(type, "application/json", 16) != 0 ||
		(type[16] && !strchr("; \t", type[16])))
		return mr_err_set(g->err, MR_EINVAL, "the body must be application/json");
	rc = mr_json_parse(g->arena, req->body, NULL, &body, g->err);
	if (rc)
		return mr_err_wrap(g->err, "body");
	if (body->kind != MR_MAP)
		return mr_err_set(g->err, MR_EINVAL, "the body must be a JSON object");
	for (size_t i = 0; i < body->map.len && !rc; i++)
		rc = add(g, body->map.pairs[i].key, body->map.pairs[i].value);
	return rc;
}

static enum mr_code add_params(struct gathering *g, const struct mr_http_param *params, size_t len)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < len && !rc; i++) {
		struct mr_value text = { .kind = MR_TEXT, .text = params[i].value };

		rc = add(g, params[i].name, text);
	}
	return rc;
}

/* A body that its operation's contract reads; without one, the query of what takes arguments. */
static enum mr_code add_own_body(struct gathering *g, const struct mr_http_request *req,
	struct mr_call *call, const struct mr_op *op)
{
	const struct mr_value *body = NULL;
	enum mr_code rc = MR_OK;

	if (strcmp(req->method, "POST") == 0 || strcmp(req->method, "PUT") == 0)
		rc = op->contract->read_body(call, op, mr_http_request_header(req, "Content-Type"),
			req->body, &body);
	else if (op->params)
		rc = add_params(g, req->query, req->query_len);
	for (size_t i = 0; body && i < body->map.len && !rc; i++)
		rc = add(g, body->map.pairs[i].key, body->map.pairs[i].value);
	return rc;
}

static enum mr_code gather(const struct mr_http_request *req, struct mr_call *call,
	const struct mr_op *op, struct gathering *g)
{
	size_t room = req->match.len + req->query_len;
	enum mr_code rc;

	g->map.kind = MR_MAP;
	/* A call that waits keeps them. */
	if (room > ARGUMENTS_MAX || req->body.len > 0)
		room = ARGUMENTS_MAX;
	g->map.map.pairs = mr_arena_array(g->arena, room + 1, sizeof(struct mr_pair));
	rc = add_params(g, req->match.params, req->match.len);
	if (!rc && op->contract->read_body)
		return add_own_body(g, req, call, op);
	if (!rc)
		rc = add_params(g, req->query, req->query_len);
	if (!rc)
		rc = add_body(g, req);
	return rc;
}

static void answer_error(struct mr_http_response *resp, const struct mr_op *op,
	const struct mr_err *err)
{
	struct mr_buf *text = new_buf(resp->arena, ANSWER_BYTES);
	struct mr_out out;

	mr_out_init_json(&out, text, MR_JSON_COMPACT);
	mr_contract_error(op->contract, &out, err);
	mr_http_response_json(resp, mr_contract_http_status(op->contract, err), mr_buf_bytes(text));
}

/* Take a place for a handler that waits, and let it notice when its client hangs up. */
static bool begin_wait(const struct mr_http_request *req, struct mr_http_response *resp,
	struct mr_call *call)
{
	if (!mr_http_wait_begin(req)) {
		mr_http_response_error(resp, 503, "Too many requests wait already");
		mr_http_response_header(resp, "Retry-After", "1");
		return false;
	}
	call->is_over = mr_http_wait_is_over;
	return true;
}

static void run(const struct mr_op *op, const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	struct mr_call call = mr_dispatch_call(req->app, req->arena);
	struct gathering sent = { .arena = req->arena, .err = &call.cx.err };
	struct mr_buf *text = new_buf(req->arena, ANSWER_BYTES);
	struct mr_out out;

	mr_http_access_call(req, &call);
	mr_http_wait_lend(req, &call.cx);
	call.is_over = mr_http_wait_is_stopping;
	call.is_over_arg = (void *)(uintptr_t)req;
	if (op->traits & MR_WAITS && !begin_wait(req, resp, &call))
		return;
	mr_out_init_json(&out, text, MR_JSON_COMPACT);
	if (gather(req, &call, op, &sent) || mr_dispatch(&call, op, &sent.map, &out) ||
		mr_buf_check(text, "the answer", &call.cx.err))
		answer_error(resp, op, &call.cx.err);
	else
		mr_http_response_json(resp, 200, mr_buf_bytes(text));
	if (op->traits & MR_WAITS)
		mr_http_wait_end(req);
}

static void run_operation(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct mr_http_route *route = req->match.route;
	const struct mr_op *op = route->arg;
	struct mr_http_task task = mr_http_task_of(op);

	if (route->flags & MR_ROUTE_OPEN || mr_http_access_check(req, resp, &task, 1) == 200)
		run(op, req, resp);
}

/* Any tool, for scripts that do not speak MCP. Its name is not one of its arguments. */
static void run_tool(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const char *name = mr_http_request_param(req, "name");
	const struct mr_op *op = mr_op_find(((const struct mr_app *)req->app)->table, name);
	struct mr_http_request bare = *req;
	struct mr_http_task task = { MR_HTTP_TOOL, NULL, MR_NEED_WRITE };
	bool is_tool = op && op->surfaces & MR_ON_MCP;

	if (is_tool)
		task = mr_http_task_of(op);
	if (mr_http_access_check(req, resp, &task, 1) != 200)
		return;
	bare.match.len = 0;
	if (is_tool)
		run(op, &bare, resp);
	else
		mr_http_response_error(resp, 404, "There is no tool %.64s", name);
}

static void show_metrics(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct mr_app *app = req->app;
	struct mr_buf *text = new_buf(req->arena, METRICS_BYTES);
	struct mr_call call = mr_dispatch_call(app, req->arena);

	mr_team_home_measure(&call);
	mr_metrics_write(app->metrics, text);
	mr_http_response_body(resp, 200, "text/plain; version=0.0.4; charset=utf-8",
		mr_buf_bytes(text));
}

static void show_openapi(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const struct mr_app *app = req->app;
	struct mr_buf *text = new_buf(req->arena, ANSWER_BYTES);
	struct mr_out out;

	mr_out_init_json(&out, text, MR_JSON_COMPACT);
	mr_openapi_write(req->arena, &out, app->table);
	mr_http_response_json(resp, 200, mr_buf_bytes(text));
}

/* Paths under which clients and watchdogs of other servers look for the health checks. */
static const struct {
	const char *path, *op;
} aliases[] = {
	{ "/healthz", "health" },
	{ "/mcp/health", "health" },
	{ "/ready", "health_readiness" },
};

static struct mr_http_route route_of(const struct mr_op *op, const char *method,
	const char *pattern)
{
	return (struct mr_http_route){
		.method = method,
		.pattern = pattern,
		.handler = run_operation,
		.arg = op,
		.flags = (op->traits & MR_QUICK ? MR_ROUTE_INLINE : 0u) |
			(op->traits & MR_OPEN ? MR_ROUTE_OPEN : 0u) |
			(op->contract->read_body
					? MR_ROUTE_SLASH | MR_ROUTE_NO_HEAD | MR_ROUTE_LONG_IS_422
					: 0u) |
			MR_ROUTE_TASKS,
	};
}

/* Room for `more` routes is left. */
static struct mr_http_route *op_routes(struct mr_arena *arena, const struct mr_op_table *table,
	size_t more, size_t *out_count)
{
	struct mr_http_route *routes = mr_arena_array(arena, table->len + more, sizeof(*routes));
	size_t count = 0;

	for (size_t i = 0; i < table->len; i++) {
		const struct mr_op *op = table->ops[i];
		size_t method_len;

		if (!op->route)
			continue;
		method_len = strcspn(op->route, " ");
		routes[count++] = route_of(op, mr_arena_strndup(arena, op->route, method_len),
			op->route + method_len + 1);
	}
	*out_count = count;
	return routes;
}

const struct mr_http_route *mr_api_op_routes(struct mr_arena *arena,
	const struct mr_op_table *table, size_t *out_count)
{
	return op_routes(arena, table, 0, out_count);
}

const struct mr_http_route *mr_api_routes(struct mr_arena *arena, const struct mr_op_table *table,
	size_t *out_count)
{
	size_t count = 0;
	struct mr_http_route *routes = op_routes(arena, table, MR_LEN(aliases) + 3, &count);

	for (size_t i = 0; i < MR_LEN(aliases); i++) {
		const struct mr_op *op = mr_op_find(table, aliases[i].op);

		if (op)
			routes[count++] = route_of(op, "GET", aliases[i].path);
	}
	routes[count++] = (struct mr_http_route){
		.method = "GET",
		.pattern = "/api-docs/openapi.json",
		.handler = show_openapi,
	};
	routes[count++] = (struct mr_http_route){
		.method = "GET",
		.pattern = "/metrics",
		.handler = show_metrics,
	};
	routes[count++] = (struct mr_http_route){
		.method = "POST",
		.pattern = "/api/tools/{name}",
		.handler = run_tool,
		.flags = MR_ROUTE_TASKS,
	};
	*out_count = count;
	return routes;
}

void mr_api_observe(void *app, const struct mr_http_finished *finished)
{
	struct mr_metrics *metrics = ((const struct mr_app *)app)->metrics;
	const char *route = *finished->pattern ? finished->pattern : "none";
	char status[12];

	snprintf(status, sizeof(status), "%d", finished->status);
	mr_metrics_count(metrics, MR_METRIC_HTTP_REQUESTS, route, status, 1);
	mr_metrics_observe(metrics, MR_METRIC_HTTP_SECONDS, route,
		(double)finished->duration_us / 1e6);
}
