/* op/call.h - one operation being run: the request it serves and the program it runs in. */
#pragma once

#include "base/ctx.h"
#include "team/rights.h"

#include <stdbool.h>
#include <stdint.h>

struct mr_gateway;
struct mr_gateway_parts;
struct mr_invocation;
struct mr_value;
struct mr_metrics;
struct mr_op_table;
struct mr_otlp;
struct mr_principal;
struct mr_reach;
struct mr_pace;
struct mr_settings;
struct mr_team_home;
struct mr_work;

/* The program: made at start, only read afterwards. */
struct mr_app {
	const struct mr_op_table *table;
	const struct mr_settings *settings;
	struct mr_metrics *metrics; /* guards itself */
	struct mr_pace *pace;       /* guards itself; or NULL */
	struct mr_team_home *team;  /* guards itself */
	struct mr_otlp *traces;     /* guards itself; or NULL */
	/* Which directories of this machine callers may name; NULL: none. The command line, which
	 * runs as its user, may name all: see mr_dispatch_call(). */
	const struct mr_reach *reach;
	/* The e-mail workspace that a server offers tools for: its directory; NULL: none. */
	const char *workspace;
	/* The agent whose gateway this process is; or NULL. */
	const struct mr_gateway *gateway;
	struct mr_gateway_parts *gateway_parts; /* what runs beside its routes; or NULL */
	const struct mr_clock *clock;
	struct mr_rand *rand; /* the kernel's: safe from any thread */
	int64_t started_us;   /* the clock's mono face at the start */
	/* Of a process that one client started for itself: what names its session, and the agent
	 * that AGENT_NAME says; NULL: no such process, or not said. */
	const char *session, *agent_name;
};

struct mr_call {
	struct mr_ctx cx; /* what the parts get to see */
	const struct mr_app *app;
	/* The command line that it came from; NULL: from another surface. */
	const struct mr_invocation *invocation;
	bool is_usage;          /* set by mr_dispatch(): it failed because what was sent is wrong */
	const char *request_id; /* or NULL */
	const char *traceparent; /* of the caller's span (W3C Trace Context), or NULL */
	bool may_write;          /* what MR_NEED_WRITE asks for */
	bool is_admin;           /* may overrule others: the command line, or the role admin */
	/* The authenticated client; NULL on the command line, which may do everything. */
	const struct mr_principal *principal;
	const char *session;          /* what names the client's session, or NULL */
	const char *agent_name;       /* AGENT_NAME of the client's own process, or NULL */
	const char *agent_token;      /* of the agent the caller acts as (AGENT_AUTH), or NULL */
	bool is_verified;             /* the caller proved to be the agent it acts as */
	struct mr_team_rights rights; /* whose mail the caller may see: set by op/agent_auth.h */
	/* For the operations of agents' gateways: the agent that the path names, or NULL; and the
	 * body as it was sent, which errors quote, or NULL. */
	const char *agent_ref;
	const struct mr_value *body;
	const char *idempotency_key; /* of a request that may be sent again, or NULL */
	struct mr_work *work; /* the e-mail workspace it runs in, opened by its contract; or NULL */
	bool for_person; /* a person reads the result on a page: no text is marked off for models */
	bool fence;      /* texts of others are marked off unless the call says otherwise */
	const char *fence_used; /* set by the operation: with what they were; or NULL */
	/* What a command ends with although it has a result: set by the operation, 0 at first. */
	int exit_status;
	/* Write something to the output at once, before the result: as a value for programs, as a
	 * sentence for people; what is NULL is not written. NULL where there is no output but the
	 * result. */
	void (*line)(void *arg, const struct mr_value *value, const char *sentence);
	void *line_arg;
	bool is_silent; /* set by the operation: it succeeds without a result, not even {} */
	/* For mr_dispatch_confirm(): consent that was given before, and a way to ask a person
	 * now; `confirm` is NULL where there is none. */
	bool confirmed;
	bool (*confirm)(void *arg, const char *question);
	void *confirm_arg;
	/* Ask a person for a line of text, without showing it when it is secret: the line in the
	 * arena, or NULL when there is none. NULL where nobody can be asked. */
	const char *(*ask)(struct mr_arena *arena, const char *question, bool is_secret);
	/* For MR_WAITS: has the client stopped waiting for the result? To be called about every
	 * second; NULL where that cannot be known. */
	bool (*is_over)(void *arg);
	void *is_over_arg;
};
