/*
 * surface/http/jwks.h - the keys of whoever issues tokens, fetched and kept.
 *
 * They are good for an hour, and beyond when new ones cannot be had. A token that names a key we do
 * not know has them fetched again, at most every 30 s. One thread fetches; few others wait for it,
 * so that a flood of forged tokens does not take all of them. Only for threads that may wait. Safe
 * from any of them.
 */
#pragma once

#include "base/clock.h"
#include "text/jwt.h"

enum {
	MR_HTTP_JWKS_FRESH_S = 3600,
	MR_HTTP_JWKS_RETRY_S = 30,
	MR_HTTP_JWKS_TIMEOUT_MS = 5000,
	MR_HTTP_JWKS_WAITERS = 2,
};

/* Gets the set's JSON into `arena`. */
typedef enum mr_code mr_http_jwks_fetch(void *arg, struct mr_arena *arena, struct mr_bytes *out,
	struct mr_err *err);

struct mr_http_jwks;

/* `clock` and `arg` must outlive it. */
struct mr_http_jwks *mr_http_jwks_new(mr_http_jwks_fetch *fetch, void *arg,
	const struct mr_clock *clock);
/* NULL is fine. */
void mr_http_jwks_free(struct mr_http_jwks *jwks);

/*
 * mr_jwt_verify() with the keys there are. MR_EAUTH: the token is not good. MR_EREMOTE: there are
 * no keys; MR_EBUSY: others are waiting for them already.
 */
MR_CHECK enum mr_code mr_http_jwks_verify(struct mr_http_jwks *jwks, struct mr_arena *arena,
	const char *token, const struct mr_jwt_rules *rules, const struct mr_value **out_claims,
	struct mr_err *err);

/* The usual way: GET of a URL (a text, as `arg`). */
mr_http_jwks_fetch mr_http_jwks_get;
