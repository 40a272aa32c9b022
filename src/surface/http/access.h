/*
 * surface/http/access.h - authentication and authorisation: from a request to a principal, its
 * rights and its limits.
 *
 * The server asks for every request, before its handler runs, and puts the principal into the
 * request. A credential, when one is sent, decides: one of the static tokens with its role, or a
 * JWT with the roles of its claim. Without one: the user who runs the server may do everything
 * through the Unix socket; while loopback is trusted (mr_locations_trust()) so may any client that
 * connects from this machine over TCP, and others have the default role when no token is configured
 * at all. Everything else is refused: 401 {"detail":"Unauthorized"}.
 *
 * On routes with MR_ROUTE_PAGE a browser's session (sign_in.h) stands for the credential it began
 * with; on others its cookie means nothing, so that no other site can use it.
 *
 * "From this machine" is the Unix socket or a loopback address of the peer, no header that proxies
 * add, and no Origin that only "*" lets in. Forwarded addresses are believed of
 * HTTP_TRUSTED_PROXIES alone; a forwarded request is never local.
 *
 * Safe from any thread.
 */
#pragma once

#include "app/principal.h"
#include "app/settings.h"
#include "base/clock.h"
#include "op/call.h"
#include "op/op.h"
#include "surface/http/cors.h"
#include "surface/http/jwks.h"
#include "surface/http/rate_limit.h"
#include "surface/http/request.h"

struct mr_http_access;

enum mr_http_kind { MR_HTTP_OTHER, MR_HTTP_TOOL, MR_HTTP_RESOURCE };

/* A static token and the role of its holder (one enum mr_role). */
struct mr_http_token {
	const char *token;
	enum mr_role role;
};

struct mr_http_access_config {
	struct mr_http_token *tokens;
	size_t tokens_len;
	bool allow_local; /* TCP clients on this machine need no token */
	struct mr_texts trusted_proxies;

	bool with_jwt;
	unsigned jwt_algs;          /* enum mr_jwt_alg */
	const char *jwt_secret;     /* or "" */
	const char *jwt_keys_url;   /* wins over the secret; or "" */
	const char *jwt_audience;   /* or "" */
	const char *jwt_issuer;     /* or "" */
	const char *jwt_role_claim; /* "a.b" is b inside a, where nothing is called "a.b" */

	bool with_roles; /* false: whoever is let in may do everything */
	struct mr_texts reader_roles, writer_roles, admin_roles;
	const char *default_role;
	struct mr_texts readonly_tools;

	bool with_limits;
	struct mr_http_rate_limit limits[MR_HTTP_RESOURCE + 1]; /* by enum mr_http_kind */
	const char *sign_in_path; /* of the page where sessions begin; or NULL */
	struct mr_http_rate_limit
		failures; /* wrong credentials, by address; whatever with_limits */

	const char *challenge; /* of 401, in WWW-Authenticate; NULL is "Bearer" */
	const struct mr_clock *clock;
	mr_http_jwks_fetch *fetch; /* NULL is mr_http_jwks_get; for tests */
	void *fetch_arg;
};

/* Defaults: clients on this machine may do everything, others may read. */
void mr_http_access_defaults(struct mr_http_access_config *out);

/* The same from the settings of a server that root runs, or an ordinary user; texts are theirs or
 * in `arena`. MR_EINVAL names the setting. */
MR_CHECK enum mr_code mr_http_access_read(struct mr_arena *arena,
	const struct mr_settings *settings, bool is_root, struct mr_http_access_config *out,
	struct mr_err *err);
void mr_http_cors_read(const struct mr_settings *settings, struct mr_http_cors *out);

/* Errors (MR_EINVAL) name the setting that is wrong, and never a secret. Texts are copied. */
MR_CHECK enum mr_code mr_http_access_new(const struct mr_http_access_config *config,
	struct mr_http_access **out, struct mr_err *err);
/* NULL is fine. */
void mr_http_access_free(struct mr_http_access *access);

/* ---- for handlers ---- */

/* One thing a request wants done: a JSON-RPC request, an operation. */
struct mr_http_task {
	enum mr_http_kind kind;
	const char *name; /* of the tool: it has a limit of its own; or NULL */
	unsigned needs;   /* enum mr_need; MR_NEED_WRITE for an unknown tool */
};
struct mr_http_task mr_http_task_of(const struct mr_op *op);

/*
 * May the request's principal do all of these, now? 200; otherwise nothing may be done, and `resp`
 * says why: 403 {"detail":"Forbidden"}, or 429 {"detail":"Rate limit exceeded"} with Retry-After.
 * Where there are limits, `resp` has RateLimit-* headers afterwards. For handlers of routes with
 * MR_ROUTE_TASKS, after the body was read: a batch is asked about as a whole. A tool that calls
 * another one has the needs of that one.
 */
int mr_http_access_check(const struct mr_http_request *req, struct mr_http_response *resp,
	const struct mr_http_task *tasks, size_t count);

/* Give the call the principal's rights, the request's id, and the header X-Agent-Token. */
void mr_http_access_call(const struct mr_http_request *req, struct mr_call *call);

/* The cookie that names a browser's session; routes with MR_ROUTE_PAGE alone regard it. */
#define MR_HTTP_SESSION_COOKIE "mailroom_session"

/*
 * Begin a session with a credential that somebody has typed. 200: `*out_name` is the session's
 * name, in the request's arena. Otherwise 401, 429 (too many were wrong) or 503, with `resp` saying
 * why. May wait for a token issuer's keys.
 */
int mr_http_access_sign_in(struct mr_http_request *req, struct mr_http_response *resp,
	const char *credential, const char **out_name);
/* End the session of this request; without one nothing happens. */
void mr_http_access_sign_out(const struct mr_http_request *req);

/* ---- for the server ---- */

enum mr_http_entry {
	MR_HTTP_ENTERED,   /* req->principal is set */
	MR_HTTP_TURNED,    /* `resp` says why not: 401, 403, 429 */
	MR_HTTP_UNSETTLED, /* a thread that may wait calls mr_http_access_settle() */
};

/* At the door, from the headers alone; never blocks. `access` may be NULL: everybody enters. Also
 * sets req->client_ip as far as proxies are trusted. */
enum mr_http_entry mr_http_access_enter(struct mr_http_access *access, struct mr_http_request *req,
	struct mr_http_response *resp);
/* The rest, where that is needed: ENTERED or TURNED (401, 403, 429, 503). May block for seconds. */
enum mr_http_entry mr_http_access_settle(struct mr_http_access *access, struct mr_http_request *req,
	struct mr_http_response *resp);
