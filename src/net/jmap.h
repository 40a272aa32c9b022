/*
 * net/jmap.h - a JMAP server (RFC 8620): its session, batches of method calls, and blobs.
 *
 * One struct mr_jmap is one connection that is kept open between requests, for one thread at a
 * time. Its session object is fetched when it is first needed, and again when the server says that
 * it changed. Redirects are followed on the same host only, and credentials go nowhere else.
 *
 * The server's limits are obeyed: a request with more calls than it takes becomes several, and
 * result references between those are resolved here. What the server asks to be tried later (429,
 * 503, `rateLimit`, `serverUnavailable`) is tried again a few times, after a pause that grows.
 *
 * When cx->is_over() says that nobody waits any more, a request that hangs is given up a second or
 * two later (MR_ETIMEOUT).
 *
 * Errors of all functions: MR_EREMOTE no connection, a certificate that does not fit, a server that
 * fails or does not talk JMAP; MR_ETIMEOUT; MR_EAUTH the credentials are refused; MR_EPERM the
 * account may not do this; MR_ENOTFOUND no such account, method's object or blob; MR_ECONFLICT the
 * state changed meanwhile (mr_jmap_changed); MR_ELIMIT too large, or over quota; MR_EINVAL what the
 * server calls wrong. Messages have the server's words, and never a credential.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "text/jmap.h"
#include "text/out.h"

struct mr_jmap;

struct mr_jmap_login {
	/* Of the session object. When it is none, /.well-known/jmap on that host is asked. */
	const char *url;
	const char *user, *password; /* for Basic */
	const char *bearer;          /* a token, in their place; or NULL */
	const char *ca_file;         /* further authorities, or NULL */
	int timeout_ms;              /* of one request; 0: 10 s */
	/* Sleeps; NULL: really. */
	void (*pause)(void *arg, int ms);
	void *pause_arg;
};

/* Nothing is asked yet. MR_EINVAL: not an http or https address. */
MR_CHECK enum mr_code mr_jmap_open(struct mr_ctx *cx, const struct mr_jmap_login *login,
	struct mr_jmap **out);
void mr_jmap_close(struct mr_jmap *jmap);
/* For MR_CLEANUP. */
void mr_jmap_closep(struct mr_jmap **jmap);

/* The session; valid until the next request. */
MR_CHECK enum mr_code mr_jmap_session(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_session **out);
/* The session object as the server sent it, to be remembered; empty before it was fetched. */
struct mr_bytes mr_jmap_remember(const struct mr_jmap *jmap, const char **out_url);
/* Begin with a session that was remembered, which saves a request. One that cannot be read is
 * ignored. */
void mr_jmap_recall(struct mr_jmap *jmap, const char *url, struct mr_bytes session);
/* The headers that log in ("Authorization: …"), NULL-terminated, and the further authorities: for
 * event streams of the same server. They live as long as `jmap`. */
const char *const *mr_jmap_headers(const struct mr_jmap *jmap);
const char *mr_jmap_ca_file(const struct mr_jmap *jmap);

/* --- method calls --- */

struct mr_jmap_call {
	const char *name;            /* "Email/get" */
	const char *id;              /* unique in its request */
	const struct mr_value *args; /* a map; accountId is added */
};

/* A request being written. */
struct mr_jmap_request {
	struct mr_arena *arena;
	struct mr_out args;
	struct mr_jmap_call *calls;
	size_t len;
};
void mr_jmap_begin(struct mr_jmap_request *request, struct mr_arena *arena);
/* Begin a call: its arguments are written into what is returned, until mr_jmap_end(). */
struct mr_out *mr_jmap_call(struct mr_jmap_request *request, const char *name, const char *id);
void mr_jmap_end(struct mr_jmap_request *request);
/* The argument `key` is what the result of the call `id` has at `path` ("/ids", "/list/ * /id"
 * without the blanks). */
void mr_jmap_refer(struct mr_out *args, const char *key, const char *id, const char *name,
	const char *path);

enum mr_jmap_kind {
	MR_JMAP_READS,  /* asked again also when the connection was lost */
	MR_JMAP_WRITES, /* asked again only when the server says that nothing was done */
};
/*
 * Send it, and wait for all responses. A method that fails does not fail the request: see
 * mr_jmap_find(). With MR_JMAP_WRITES, MR_EREMOTE and MR_ETIMEOUT leave open whether it was carried
 * out, unless `mr_jmap_not_done` is the error's word. Results live in cx->arena.
 */
MR_CHECK enum mr_code mr_jmap_ask(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_request *request, enum mr_jmap_kind kind,
	struct mr_jmap_response *out);
extern const char mr_jmap_not_done[]; /* "not_done" */
extern const char mr_jmap_changed[];  /* "state_changed" */

/* The result of the call `id` named `name`; else the error of that call. */
MR_CHECK enum mr_code mr_jmap_find(struct mr_ctx *cx, const struct mr_jmap_response *response,
	const char *id, const char *name, const struct mr_value **out);
/* The error of a SetError: what `notCreated`, `notUpdated`, `notDestroyed` has of an object. */
enum mr_code mr_jmap_refused(struct mr_ctx *cx, const struct mr_value *set_error);
/* A /set's object `key` under `done` ("created", "updated"): `*out` is its value there, which may
 * be null. Else the error that `refused` ("notCreated", ...) has of it. */
MR_CHECK enum mr_code mr_jmap_set_result(struct mr_ctx *cx, const struct mr_value *result,
	const char *done, const char *refused, const char *key, const struct mr_value **out);

/* --- blobs --- */

MR_CHECK enum mr_code mr_jmap_upload(struct mr_ctx *cx, struct mr_jmap *jmap, struct mr_bytes bytes,
	const char *media_type, const char **out_blob_id);
MR_CHECK enum mr_code mr_jmap_download(struct mr_ctx *cx, struct mr_jmap *jmap, const char *blob_id,
	const char *media_type, const char *name, size_t max_bytes, struct mr_bytes *out);
