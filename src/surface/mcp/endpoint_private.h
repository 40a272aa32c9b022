/* surface/mcp/endpoint_private.h - what the files of the endpoint share. */
#pragma once

#include "surface/mcp/endpoint.h"
#include "surface/mcp/runner.h"
#include "surface/mcp/session.h"
#include "surface/mcp/shared.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	MR_MCP_ANSWER_BYTES = 32 << 20,
	/* On a stream, whose client is cut off when more than 4 MiB wait: with room for what was
	 * said on the way. */
	MR_MCP_STREAMED_ANSWER_BYTES = (4 << 20) - (256 << 10),
};

struct mr_mcp_endpoint {
	struct mr_mcp *mcp;
	struct mr_mcp_sessions *sessions;
	struct mr_mcp_shared *shared;
	struct mr_mcp_runner *runner;
	_Atomic(bool) stopping;
	pthread_mutex_t lock;
	struct mr_mcp_listening *listenings;
};

/* A POST while its handler runs. */
struct mr_mcp_post {
	struct mr_mcp_endpoint *endpoint;
	const struct mr_http_request *req;
	struct mr_http_response *resp;
	struct mr_mcp_client client;
	const struct mr_value *items; /* what the messages were read from */
	struct mr_rpc *messages;
	size_t len;
	size_t requests; /* among them */
	bool is_batch;
};

/* A JSON-RPC error as the whole response; `id` NULL is null. */
void mr_mcp_post_refuse(struct mr_http_response *resp, int status, const struct mr_value *id,
	int code, const struct mr_value *data, const char *fmt, ...) MR_PRINTF(6, 7);

/* Whose sessions the request may use: its principal's. */
const char *mr_mcp_post_owner(const struct mr_http_request *req);

/* post.c */
mr_http_handler mr_mcp_post;
/* long_call.c: open the stream and let a thread go on. Fills the response in any case. */
void mr_mcp_long_call(struct mr_mcp_post *post);
/* listening.c: a stream of changes. Fills the response in any case. */
void mr_mcp_post_listen(struct mr_mcp_post *post, struct mr_mcp_exchange *ex);
/* End all such streams. */
void mr_mcp_listening_stop(struct mr_mcp_endpoint *endpoint);
