/* base/str.h - small questions about text. ASCII only where case matters; see utf8.h for the rest.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that may hold anything, NUL included. */
struct mr_bytes {
	const uint8_t *data;
	size_t len;
};

struct mr_bytes mr_bytes_of(const void *data, size_t len);
struct mr_bytes mr_bytes_text(const char *text);

/* A list of texts; `items[len]` is NULL. */
struct mr_texts {
	const char **items;
	size_t len;
};

/* Equality; NULL equals only NULL. */
bool mr_str_eq(const char *a, const char *b);
bool mr_str_eq_nocase(const char *a, const char *b);
bool mr_str_starts(const char *text, const char *prefix);
bool mr_str_ends(const char *text, const char *suffix);
/* "" and NULL. */
bool mr_str_is_empty(const char *text);
/* Equality whose time does not depend on where `b` differs: for secrets. */
bool mr_str_eq_secret(const char *a, const char *b);

/* Without leading and trailing ASCII blanks. */
char *mr_str_trim(struct mr_arena *arena, const char *text);
char *mr_str_lower(struct mr_arena *arena, const char *text);
/* The parts between `sep`, trimmed, empty ones dropped. */
struct mr_texts mr_str_split(struct mr_arena *arena, const char *text, char sep);
char *mr_str_join(struct mr_arena *arena, const struct mr_texts *texts, const char *sep);
bool mr_texts_has(const struct mr_texts *texts, const char *text);

/* The whole text is one decimal number that fits; blanks, '+', "0x" are refused. */
bool mr_str_to_int(const char *text, int64_t *out);
/* true/false in the spellings 1 true t yes y on, 0 false f no n off, in any case. */
bool mr_str_to_bool(const char *text, bool *out);

/* Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`, case ignored; at most
 * `limit` is reported. */
size_t mr_str_distance(const char *a, const char *b, size_t limit);
/* The candidate nearest to `text`, or NULL when none is near enough to be what was meant. */
const char *mr_str_nearest(const char *text, const char *const *candidates, size_t count);
