/*
 * surface/mcp/mcp.h - an MCP server without its transport: requests in, answers out.
 *
 * Two generations of the protocol are spoken. In the first (to 2025-11-25) a client introduces
 * itself and then has a session; in the second (2026-07-28) every request says all about itself.
 * What a method does is the same in both; the table in method.c says which of the two knows it.
 *
 * Tools, their schemas and their results come from the operation table (op/op.h); nothing here
 * knows what a message or a lease is.
 */
#pragma once

#include "app/protocol.h"
#include "op/call.h"
#include "op/dispatch.h"
#include "surface/mcp/rpc.h"

#define MR_MCP_ASSUMED "2025-03-26" /* when a client does not say */

enum mr_mcp_era { MR_MCP_SESSIONS = 1, MR_MCP_STATELESS = 2 };

struct mr_mcp_asked;
struct mr_mcp_hub;
struct mr_mcp_listener;
struct mr_mcp_recent;
struct mr_mcp_session;
struct mr_team;

/* The severity of a log message; a client chooses the least severe level it receives. */
enum mr_mcp_level {
	MR_MCP_DEBUG,
	MR_MCP_INFO,
	MR_MCP_NOTICE,
	MR_MCP_WARNING,
	MR_MCP_ERROR,
	MR_MCP_CRITICAL,
	MR_MCP_ALERT,
	MR_MCP_EMERGENCY,
	MR_MCP_SILENCE, /* of a client that wants no log messages */
};
/* false for another word. */
bool mr_mcp_level_of(const char *word, enum mr_mcp_level *out);

/* The client, as far as it has described itself. */
struct mr_mcp_client {
	enum mr_mcp_era era;
	const char *version;
	bool is_silent; /* it did not say its version, which is assumed to be MR_MCP_ASSUMED */
	bool can_sample, can_elicit, has_roots;
	int log_level;                    /* enum mr_mcp_level: what it wants to hear */
	struct mr_mcp_session *session;   /* or NULL */
	struct mr_mcp_listener *listener; /* for notifications (hub.h); NULL: gets none */
};

/*
 * The way to the client while its request is worked on: notifications and questions that belong to
 * it. Transports fill one in; NULL where only the answer can be sent.
 */
struct mr_mcp_channel {
	/* One whole JSON-RPC message. MR_ENOTFOUND when the client has gone. */
	enum mr_code (
		*send)(struct mr_mcp_channel *channel, struct mr_bytes json, struct mr_err *err);
	/* A request of ours: send, and wait for its answer (a result, living in `arena`). */
	enum mr_code (*ask)(struct mr_mcp_channel *channel, struct mr_arena *arena,
		const char *method, const struct mr_value *params, const struct mr_value **out,
		struct mr_err *err);
	/* Hang up on the client, which comes back for the rest; does nothing where it cannot. */
	void (*pause)(struct mr_mcp_channel *channel);
	/* Has the client stopped waiting for the answer? */
	bool (*is_over)(struct mr_mcp_channel *channel);
};

/* One request on its way through. */
struct mr_mcp_exchange {
	struct mr_call call;  /* memory, error, program, rights */
	struct mr_team *team; /* NULL before mr_mcp_open_team() */
	struct mr_mcp *mcp;
	const struct mr_mcp_client *client;
	struct mr_mcp_channel *channel; /* or NULL */
	const struct mr_value *params;  /* or NULL */
	/* A failure of the protocol, not of a tool: fill by mr_mcp_refuse(). */
	int rpc_code;
	const struct mr_value *rpc_data;
	struct mr_mcp_asked *asked; /* of ask.h */
	/* What the result's _meta holds besides what every result's does; or NULL. */
	const struct mr_value *meta;
};

/* Only in the first generation: what a client said of itself, for the transport to keep. */
struct mr_mcp_hello {
	const char *version; /* the one agreed on */
	bool can_sample, can_elicit, has_roots;
	const char *name; /* or NULL */
};
void mr_mcp_hello(const struct mr_value *params, struct mr_mcp_hello *out);
bool mr_mcp_knows_version(const char *version);
/* Does the client's version have structured results, and schemas of them (from 2025-06-18)? A
 * client that does not say it is a program, which reads them. */
bool mr_mcp_is_structured(const struct mr_mcp_client *client);

struct mr_mcp;

struct mr_mcp_fixtures;

struct mr_mcp_options {
	/* What the conformance tests ask for, in a build that has it and is told to by
	 * MCP_CONFORMANCE_FIXTURES; else NULL. */
	const struct mr_mcp_fixtures *fixtures;
};

/* `app` must outlive it. */
struct mr_mcp *mr_mcp_new(const struct mr_app *app, const struct mr_mcp_options *options);
void mr_mcp_free(struct mr_mcp *mcp);
const struct mr_app *mr_mcp_app(const struct mr_mcp *mcp);
const struct mr_mcp_options *mr_mcp_options(const struct mr_mcp *mcp);
/* A random key of this process, for sealing; or that of all servers, once they share one. */
struct mr_bytes mr_mcp_secret(const struct mr_mcp *mcp);
/* Before anything is sealed. */
void mr_mcp_share_secret(struct mr_mcp *mcp, const char *secret);
/* The subscriptions, and the latest tool calls. They stay the server's. */
struct mr_mcp_hub *mr_mcp_hub(const struct mr_mcp *mcp);
struct mr_mcp_recent *mr_mcp_recent(const struct mr_mcp *mcp);

/*
 * The operation that a tools/call with these params runs in the end, whatever name it goes by (an
 * alias of the peers, call_extended_tool); NULL when there is none. For callers that must know this
 * before it runs: rights, limits, MR_WAITS.
 */
const struct mr_op *mr_mcp_tool_meant(const struct mr_mcp *mcp, const struct mr_value *params);

/* Send a log message to the client of this request, if it wants that level and can receive one. */
void mr_mcp_log(struct mr_mcp_exchange *ex, enum mr_mcp_level level, const char *logger,
	const char *text);

/* The token of the agent that asks (AGENT_AUTH), from the params' _meta: for requests that have no
 * arguments, on ways that have no headers. */
void mr_mcp_take_token(struct mr_mcp_exchange *ex);

/* For handlers that run no operation: open the team, for ex->team. */
MR_CHECK enum mr_code mr_mcp_open_team(struct mr_mcp_exchange *ex);
/* For handlers: fail with a JSON-RPC error instead of a result. Returns the error's code. */
enum mr_code mr_mcp_refuse(struct mr_mcp_exchange *ex, int rpc_code, const char *fmt, ...)
	MR_PRINTF(3, 4);
/* A text among params; NULL when it is not there or no text. */
const char *mr_mcp_param_text(const struct mr_mcp_exchange *ex, const char *key);
/* One page of a list: where to begin (0 at first) in `*from`; MR_RPC_PARAMS for a bad cursor. The
 * cursor is the name of the last item shown, opaque to clients. */
MR_CHECK enum mr_code mr_mcp_page_from(struct mr_mcp_exchange *ex, const char *const *names,
	size_t count, size_t *from);
void mr_mcp_page_next(struct mr_mcp_exchange *ex, struct mr_out *out, const char *last_name);
enum { MR_MCP_PAGE = 100 };
