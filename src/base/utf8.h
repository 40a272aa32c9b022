/* base/utf8.h - UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing past U+10FFFF.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read one scalar value at `text`, of which `len` > 0 bytes are there. Returns its length in bytes
 * (1 to 4), or 0 when the bytes are not UTF-8; `*out` is then untouched.
 */
size_t mr_utf8_next(const char *text, size_t len, uint32_t *out);
/* Write one scalar value to `out` (room for 4); returns its length, 0 for what is no scalar value.
 */
size_t mr_utf8_put(uint32_t scalar, char out[4]);

/* How many bytes at the beginning are ASCII: most text is, and can be looked at in runs. */
size_t mr_utf8_ascii_run(const char *text, size_t len);

/* Are all bytes UTF-8? If not, and `bad_at` is not NULL, it gets the offset of the first bad byte.
 */
bool mr_utf8_is_valid(const char *text, size_t len, size_t *bad_at);

/* The longest prefix of at most `max` bytes that ends on a character boundary; `text` is valid. */
size_t mr_utf8_truncate(const char *text, size_t len, size_t max);
/* How many code points; `text` is valid. */
size_t mr_utf8_count(const char *text, size_t len);
/* Bytes of the first `count` code points, or `len` when there are fewer; `text` is valid. */
size_t mr_utf8_prefix(const char *text, size_t len, size_t count);

/* What Unicode calls white space, as Python's str.strip() removes it. */
bool mr_utf8_is_space(uint32_t scalar);
/* Shrink `*text`, `*len` by leading and trailing Unicode white space; the text is valid. */
void mr_utf8_strip(const char **text, size_t *len);

/* Part of a word: a letter or a number of any script, or a private character. */
bool mr_utf8_is_word(uint32_t scalar);
/* A mark that stands on the letter before it. */
bool mr_utf8_is_mark(uint32_t scalar);
/* The letter without case and marks, as a search compares it: 'e' for U+00C9. */
uint32_t mr_utf8_fold(uint32_t scalar);

/* The same letter in the other case, where that is one letter; else the letter itself. */
uint32_t mr_utf8_upper(uint32_t scalar);
uint32_t mr_utf8_lower(uint32_t scalar);

/* Columns the text takes on a terminal; control characters count 0. */
size_t mr_utf8_width(const char *text, size_t len);
/* Bytes of the longest prefix that takes at most `columns`. */
size_t mr_utf8_fit(const char *text, size_t len, size_t columns);
