/*
 * text/token.h - ids, random names, slugs and base64. Pure: time and chance are passed in.
 *
 * All results live in the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/rand.h"
#include "base/str.h"
#include "text/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `bytes` random bytes as 2 * `bytes` lower-case hexadecimal digits. */
const char *mr_token_hex(struct mr_arena *arena, struct mr_rand *rand, size_t bytes);

enum { MR_TOKEN_UUID_DIGITS = 32 };

/* A random UUID (version 4) as 32 lower-case digits without dashes. */
const char *mr_token_uuid4_hex(struct mr_arena *arena, struct mr_rand *rand);
/* `prefix` and the first `digits`, at most 32, of such a UUID: "reg-" with 32, "att-" with 12. */
const char *mr_token_prefixed(struct mr_arena *arena, struct mr_rand *rand, const char *prefix,
	size_t digits);
/* `prefix`, the time, `sep` and random digits, at most 32: "gwreq-20260311-041500Z-0f3a9c12". */
const char *mr_token_stamped(struct mr_arena *arena, struct mr_rand *rand, const char *prefix,
	int64_t now_us, enum mr_time_style style, const char *sep, size_t digits);

/* "msg-20260311T041500Z-" and 32 digits: the id of a mailbox message. */
const char *mr_token_message_id(struct mr_arena *arena, struct mr_rand *rand, int64_t now_us);
/* Is this the form of a message id? Nothing around it, ASCII digits; date and UUID are not checked.
 */
bool mr_token_is_message_id(const char *text);
/* "msg_20260311_" and `digits` digits: the id of a team message. */
const char *mr_token_uid(struct mr_arena *arena, struct mr_rand *rand, int64_t now_us,
	size_t digits);

/* Base64 with '+' and '/', and padding (RFC 4648, section 4). */
const char *mr_token_base64(struct mr_arena *arena, struct mr_bytes bytes);
/* Base64 with '-' and '_', without padding (RFC 4648, section 5). */
const char *mr_token_base64url(struct mr_arena *arena, struct mr_bytes bytes);
/*
 * Back to bytes, which are followed by a NUL that is not counted. Strict: each text is the encoding
 * of its result, so padding, other characters and left-over bits are MR_EFORMAT with their byte.
 */
MR_CHECK enum mr_code mr_token_base64url_decode(struct mr_arena *arena, const char *text,
	struct mr_bytes *out, struct mr_err *err);

/*
 * Lower-case words joined by '-': every run of other than ASCII letters and digits is one '-', none
 * at the ends; then cut to `max` bytes. `fallback` when nothing is left. "/data/My App" is
 * "data-my-app".
 */
const char *mr_token_slug(struct mr_arena *arena, const char *text, size_t max,
	const char *fallback);
/*
 * The same for a part of a file's name, which may also hold '.', '_' and '-': every run of others
 * is one '-'; no '-' or '_' at the ends; then lower case and cut.
 */
const char *mr_token_file_slug(struct mr_arena *arena, const char *text, size_t max,
	const char *fallback);

/* One of `count` > 0 words, each with the same chance. */
const char *mr_token_pick(struct mr_rand *rand, const char *const *words, size_t count);
/* One word of each list, joined: "Green" and "Castle" make "GreenCastle". */
const char *mr_token_name(struct mr_arena *arena, struct mr_rand *rand,
	const char *const *adjectives, size_t adjective_count, const char *const *nouns,
	size_t noun_count);
