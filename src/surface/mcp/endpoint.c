/*
 * surface/mcp/endpoint.c - The MCP endpoint over HTTP: its routes, opening and resuming a stream
 * by GET, ending a session by DELETE.
 */
#include "base/oom.h"
#include "op/dispatch.h"
#include "op/team/team_home.h"
#include "surface/http/media.h"
#include "surface/http/wait.h"
#include "surface/mcp/endpoint_private.h"
#include "surface/mcp/hub.h"

#include <stdlib.h>
#include <string.h>

struct mr_mcp_endpoint *mr_mcp_endpoint_new(struct mr_mcp *mcp)
{
	struct mr_mcp_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	const struct mr_app *app = mr_mcp_app(mcp);

	if (!endpoint)
		mr_oom(sizeof(*endpoint));
	endpoint->mcp = mcp;
	endpoint->sessions = mr_mcp_sessions_new(app->clock, app->rand, mr_mcp_hub(mcp));
	endpoint->shared = mr_mcp_shared_new(mcp, endpoint->sessions);
	pthread_mutex_init(&endpoint->lock, NULL);
	endpoint->runner = mr_mcp_runner_new(MR_MCP_LONG_CALLS);
	return endpoint;
}

void mr_mcp_endpoint_stop(struct mr_mcp_endpoint *endpoint)
{
	atomic_store(&endpoint->stopping, true);
	mr_mcp_sessions_stop(endpoint->sessions);
	mr_mcp_runner_stop(endpoint->runner);
	mr_mcp_listening_stop(endpoint);
}

void mr_mcp_endpoint_free(struct mr_mcp_endpoint *endpoint)
{
	if (!endpoint)
		return;
	mr_mcp_endpoint_stop(endpoint);
	mr_mcp_runner_free(endpoint->runner);
	mr_mcp_shared_free(endpoint->shared);
	mr_mcp_sessions_free(endpoint->sessions);
	pthread_mutex_destroy(&endpoint->lock);
	free(endpoint);
}

/* The session the request names, held; NULL when the response says why not. */
static struct mr_mcp_session *find_session(const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const struct mr_mcp_endpoint *endpoint = req->match.route->arg;
	const char *version = mr_http_request_header(req, "MCP-Protocol-Version");
	const char *id = mr_http_request_header(req, "Mcp-Session-Id");
	struct mr_call call = mr_dispatch_call(mr_mcp_app(endpoint->mcp), req->arena);
	struct mr_mcp_session *session = NULL;
	enum mr_code rc;

	if (version && !mr_mcp_knows_version(version)) {
		mr_mcp_post_refuse(resp, 400, NULL, MR_RPC_TRANSPORT, NULL,
			"there is no session in protocol version %.40s", version);
		return NULL;
	}
	if (!id) {
		mr_mcp_post_refuse(resp, 400, NULL, MR_RPC_TRANSPORT, NULL,
			"the header Mcp-Session-Id is missing");
		return NULL;
	}
	rc = mr_mcp_shared_find(endpoint->shared, &call, mr_mcp_post_owner(req), id, &session);
	if (rc)
		mr_mcp_post_refuse(resp, rc == MR_ENOTFOUND ? 404 : 503, NULL, MR_RPC_SESSION, NULL,
			"%s", call.cx.err.msg);
	return session;
}

/* GET with Last-Event-ID. */
static enum mr_code resume(struct mr_mcp_session *session, const char *last_id,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err)
{
	const struct mr_mcp_endpoint *endpoint = req->match.route->arg;
	struct mr_call call = mr_dispatch_call(mr_mcp_app(endpoint->mcp), req->arena);
	enum mr_code rc = mr_mcp_session_resume(session, last_id, req, resp, err);
	bool anew = false;

	if (rc != MR_ENOTFOUND)
		return rc;
	mr_http_wait_lend(req, &call.cx);
	if (!mr_mcp_shared_claim(endpoint->shared, &call, session, last_id, &anew))
		return rc;
	if (!anew)
		return mr_mcp_session_resume(session, last_id, req, resp, err);
	rc = mr_mcp_session_listen(session, req, resp, err);
	if (!rc)
		mr_mcp_hub_tell_all(mr_mcp_hub(endpoint->mcp),
			mr_mcp_session_client(session).listener);
	return rc;
}

static void get(const struct mr_http_request *req, struct mr_http_response *resp)
{
	const char *last_id = mr_http_request_header(req, "Last-Event-ID");
	struct mr_mcp_session *session MR_CLEANUP(mr_mcp_session_done) = NULL;
	struct mr_err err;
	enum mr_code rc;

	if (!mr_http_media_accepts(req, "text/event-stream")) {
		mr_mcp_post_refuse(resp, 406, NULL, MR_RPC_TRANSPORT, NULL,
			"the header Accept must allow text/event-stream");
		return;
	}
	session = find_session(req, resp);
	if (!session)
		return;
	rc = last_id ? resume(session, last_id, req, resp, &err)
		     : mr_mcp_session_listen(session, req, resp, &err);
	if (rc)
		mr_mcp_post_refuse(resp,
			rc == MR_EEXISTS             ? 409
				: rc == MR_ENOTFOUND ? 400
						     : 503,
			NULL, MR_RPC_TRANSPORT, NULL, "%s", err.msg);
}

static void delete (const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_mcp_session *session MR_CLEANUP(mr_mcp_session_done) = find_session(req, resp);
	const struct mr_mcp_endpoint *endpoint = req->match.route->arg;
	struct mr_call call = mr_dispatch_call(mr_mcp_app(endpoint->mcp), req->arena);

	if (!session)
		return;
	mr_team_home_session_end(&call, mr_mcp_session_id(session));
	mr_mcp_shared_ended(endpoint->shared, &call, session);
	mr_mcp_session_end(session);
}

static size_t add_routes(struct mr_mcp_endpoint *endpoint, const char *pattern,
	struct mr_http_route *out)
{
	const unsigned flags = MR_ROUTE_SLASH | MR_ROUTE_NO_HEAD;

	out[0] = (struct mr_http_route){ "GET", pattern, get, flags, endpoint };
	out[1] = (struct mr_http_route){ "POST", pattern, mr_mcp_post, flags | MR_ROUTE_TASKS,
		endpoint };
	out[2] = (struct mr_http_route){ "DELETE", pattern, delete, flags, endpoint };
	return 3;
}

size_t mr_mcp_endpoint_routes(struct mr_mcp_endpoint *endpoint, struct mr_arena *arena,
	const char *path, struct mr_http_route *out)
{
	size_t len = strlen(path);
	const char *bare;
	size_t count;

	if (len > 1 && path[len - 1] == '/')
		len--;
	bare = mr_arena_strndup(arena, path, len);
	count = add_routes(endpoint, "/mcp", out);
	count += add_routes(endpoint, "/api", out + count);
	if (!mr_str_eq(bare, "/mcp") && !mr_str_eq(bare, "/api"))
		count += add_routes(endpoint, bare, out + count);
	return count;
}
