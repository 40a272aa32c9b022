/*
 * surface/http/jwks.h - the public keys of the token issuer, fetched and cached.
 *
 * They are used for an hour, and longer when they cannot be fetched again. A token that names a key
 * we do not know has them fetched again, at most every 30 s. One thread fetches, and only a few
 * others wait for it, so that a flood of forged tokens does not block all workers. Blocks; safe
 * from any thread.
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
 * mr_jwt_verify() with the cached keys. MR_EAUTH: the token is not valid. MR_EREMOTE: there are no
 * keys. MR_EBUSY: too many threads wait for the keys already.
 */
MR_CHECK enum mr_code mr_http_jwks_verify(struct mr_http_jwks *jwks, struct mr_arena *arena,
	const char *token, const struct mr_jwt_rules *rules, const struct mr_value **out_claims,
	struct mr_err *err);

/* The default: GET a URL (`arg` is its text). */
mr_http_jwks_fetch mr_http_jwks_get;
