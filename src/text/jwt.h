/*
 * text/jwt.h - JSON Web Tokens: signed claims, checked. Pure: keys and time are passed in.
 *
 * Compact tokens of HS256, HS384, HS512, RS256, ES256 and EdDSA (Ed25519). The algorithm must be
 * one of those allowed, and the key of the kind the algorithm needs: a public key never serves as a
 * secret, and nothing is accepted unsigned.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "text/value.h"

enum mr_jwt_alg {
	MR_JWT_HS256 = 1,
	MR_JWT_HS384 = 2,
	MR_JWT_HS512 = 4,
	MR_JWT_RS256 = 8,
	MR_JWT_ES256 = 16,
	MR_JWT_EDDSA = 32,
};

enum {
	MR_JWT_BYTES = 16 << 10,
	MR_JWT_KEYS_BYTES = 256 << 10,
	MR_JWT_KEYS_MAX = 64,
	MR_JWT_LEEWAY_S = 60, /* how far clocks may be apart */
};

/* 0 for a name that is not known; "none" is not. The case counts, as in tokens. */
enum mr_jwt_alg mr_jwt_alg_of(const char *name);

/* What tokens are checked with: one secret, or public keys. Any number of threads may use it. */
struct mr_jwt_keys;

/* Living in the arena. The secret must not be empty. */
const struct mr_jwt_keys *mr_jwt_keys_secret(struct mr_arena *arena, const char *secret);
/*
 * A JSON Web Key Set, living in the arena. Keys that are of no use here (for encryption, of an
 * unknown kind, malformed) are passed over, and secrets are: they do not belong there. MR_EFORMAT
 * when it is no such set, or no key is left.
 */
MR_CHECK enum mr_code mr_jwt_keys_parse(struct mr_arena *arena, struct mr_bytes json,
	const struct mr_jwt_keys **out, struct mr_err *err);
size_t mr_jwt_keys_count(const struct mr_jwt_keys *keys);

struct mr_jwt_rules {
	unsigned algs;        /* enum mr_jwt_alg: those allowed */
	const char *audience; /* must be (among) the claim aud; NULL or "" is not asked for */
	const char *issuer;   /* must be the claim iss; the same */
	int64_t now_s;        /* since 1970 */
};

/*
 * The claims of a token that is good. MR_EAUTH says what is wrong with it, in words that may be
 * logged: nothing of the token is in them. MR_ENOTFOUND: none of the keys has the token's id, but
 * others may. A token that does not name its key needs a set with one key that fits.
 */
MR_CHECK enum mr_code mr_jwt_verify(struct mr_arena *arena, const char *token,
	const struct mr_jwt_keys *keys, const struct mr_jwt_rules *rules,
	const struct mr_value **out_claims, struct mr_err *err);

/* Does it look like one: three parts with dots between them? */
bool mr_jwt_is_shaped(const char *token);
