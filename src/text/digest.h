/* text/digest.h - digests of bytes, as lower-case hexadecimal digits in the arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* 40 digits. For names that a contract derives so, not for trust. */
const char *mr_digest_sha1(struct mr_arena *arena, struct mr_bytes bytes);
/* 64 digits. */
const char *mr_digest_sha256(struct mr_arena *arena, struct mr_bytes bytes);
