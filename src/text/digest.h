/* text/digest.h - digests of bytes, as lower-case hexadecimal digits in the arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* 40 digits. For names that a contract derives so, not for trust. */
const char *mr_digest_sha1(struct mr_arena *arena, struct mr_bytes bytes);
/* 64 digits. */
const char *mr_digest_sha256(struct mr_arena *arena, struct mr_bytes bytes);

/* SHA-256 of bytes that come piece by piece. */
struct mr_digest;
struct mr_digest *mr_digest_new(void);
void mr_digest_add(struct mr_digest *digest, struct mr_bytes bytes);
/* 64 digits; nothing can be added afterwards. */
const char *mr_digest_end(struct mr_arena *arena, struct mr_digest *digest);
/* For MR_CLEANUP. */
void mr_digest_freep(struct mr_digest **digest);
