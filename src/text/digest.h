/* text/digest.h - digests of bytes, as lower-case hexadecimal digits in the arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* 40 digits. For names that a contract derives so, not for trust. */
const char *mr_digest_sha1(struct mr_arena *arena, struct mr_bytes bytes);
/* 64 digits. */
const char *mr_digest_sha256(struct mr_arena *arena, struct mr_bytes bytes);

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
