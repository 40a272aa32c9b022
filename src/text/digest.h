/* text/digest.h - digests, message authentication codes and signature checks. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

/* As 40 lower-case hexadecimal digits in the arena. For names that a contract derives this way,
 * not for security. */
const char *mr_digest_sha1(struct mr_arena *arena, struct mr_bytes bytes);
/* 64 digits. */
const char *mr_digest_sha256(struct mr_arena *arena, struct mr_bytes bytes);

/* The 32 bytes themselves. */
void mr_digest_sha256_bytes(struct mr_bytes bytes, uint8_t out[32]);

/* Of bytes that come in pieces: begin, add, end (which frees it). */
enum { MR_DIGEST_SHA1_BYTES = 20 };
struct mr_digest;
struct mr_digest *mr_digest_begin_sha1(void);
struct mr_digest *mr_digest_begin_sha256(void);
void mr_digest_add(struct mr_digest *digest, const void *data, size_t len);
/* Of SHA-1: `out` has MR_DIGEST_SHA1_BYTES bytes, or is NULL. */
void mr_digest_end(struct mr_digest *digest, uint8_t *out);
/* Of either: the digits. */
const char *mr_digest_end_hex(struct mr_arena *arena, struct mr_digest *digest);

enum mr_digest_kind { MR_DIGEST_SHA256, MR_DIGEST_SHA384, MR_DIGEST_SHA512 };
enum { MR_DIGEST_BYTES = 64 };

/* HMAC (RFC 2104) with a secret of any length. Returns how much of `out` was filled. */
size_t mr_digest_hmac(enum mr_digest_kind kind, struct mr_bytes secret, struct mr_bytes bytes,
	uint8_t out[MR_DIGEST_BYTES]);
/* A key of 32 bytes from a password (PBKDF2 with HMAC-SHA-256, RFC 8018). */
void mr_digest_pbkdf2_sha256(const char *password, struct mr_bytes salt, int iterations,
	uint8_t out[32]);
/* Equality whose time does not depend on where they differ. */
bool mr_digest_is_equal(struct mr_bytes a, struct mr_bytes b);

/* A public key that signatures are checked with; any number of threads may use it. */
struct mr_digest_key;

/* From the numbers that make it up, most significant byte first; lives in the arena. MR_EINVAL says
 * what is wrong with them. RSA keys have 2048 to 8192 bits. */
MR_CHECK enum mr_code mr_digest_key_rsa(struct mr_arena *arena, struct mr_bytes modulus,
	struct mr_bytes exponent, const struct mr_digest_key **out, struct mr_err *err);
MR_CHECK enum mr_code mr_digest_key_p256(struct mr_arena *arena, struct mr_bytes x,
	struct mr_bytes y, const struct mr_digest_key **out, struct mr_err *err);
MR_CHECK enum mr_code mr_digest_key_ed25519(struct mr_arena *arena, struct mr_bytes x,
	const struct mr_digest_key **out, struct mr_err *err);

/*
 * Did the key's owner sign these bytes? RSA: PKCS #1 v1.5 over SHA-256; P-256: ECDSA over SHA-256,
 * the signature being both numbers in 32 bytes each; Ed25519 as it is.
 */
bool mr_digest_verify(const struct mr_digest_key *key, struct mr_bytes bytes,
	struct mr_bytes signature);
