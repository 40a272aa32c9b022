/*
 * base/str.c - Functions on NUL-terminated text: compare, trim, split, join, parse numbers, find
 * the nearest word.
 */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct mr_bytes mr_bytes_of(const void *data, size_t len)
{
	return (struct mr_bytes){ data, len };
}

struct mr_bytes mr_bytes_text(const char *text)
{
	return mr_bytes_of(text, strlen(text));
}

bool mr_str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool mr_str_eq_nocase(const char *a, const char *b)
{
	/* Letters that differ in case differ in this bit only: most words need no other look. */
	return a == b || (a && b && ((a[0] ^ b[0]) & ~0x20) == 0 && strcasecmp(a, b) == 0);
}

bool mr_str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool mr_str_ends(const char *text, const char *suffix)
{
	size_t len = strlen(text);
	size_t tail = strlen(suffix);

	return len >= tail && strcmp(text + len - tail, suffix) == 0;
}

bool mr_str_is_empty(const char *text)
{
	return !text || !*text;
}

bool mr_str_eq_secret(const char *a, const char *b)
{
	size_t a_len = strlen(a);
	size_t b_len = strlen(b);
	/* Volatile, so that no compiler ends the loop early. */
	volatile unsigned char differs = a_len != b_len;

	for (size_t i = 0; i < b_len; i++)
		differs |= (unsigned char)b[i] ^ (unsigned char)(a_len ? a[i % a_len] : 0);
	return !differs;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void shrink(const char **text, size_t *len)
{
	while (*len && is_blank((*text)[0])) {
		(*text)++;
		(*len)--;
	}
	while (*len && is_blank((*text)[*len - 1]))
		(*len)--;
}

char *mr_str_trim(struct mr_arena *arena, const char *text)
{
	size_t len = strlen(text);

	shrink(&text, &len);
	return mr_arena_strndup(arena, text, len);
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

char *mr_str_lower(struct mr_arena *arena, const char *text)
{
	char *copy = mr_arena_strdup(arena, text);

	for (char *c = copy; *c; c++)
		*c = lower(*c);
	return copy;
}

/* The next part that is not blank, trimmed; false after the last. `*rest` is then NULL. */
static bool next_part(const char **rest, char sep, const char **part, size_t *len)
{
	while (*rest) {
		const char *end = strchrnul(*rest, sep);

		*part = *rest;
		*len = (size_t)(end - *rest);
		*rest = *end ? end + 1 : NULL;
		shrink(part, len);
		if (*len)
			return true;
	}
	return false;
}

struct mr_texts mr_str_split(struct mr_arena *arena, const char *text, char sep)
{
	struct mr_texts parts = { NULL, 0 };
	const char *part;
	size_t count = 0;
	size_t len;

	for (const char *rest = text; next_part(&rest, sep, &part, &len);)
		count++;
	parts.items = mr_arena_array(arena, count + 1, sizeof(*parts.items));
	for (const char *rest = text; next_part(&rest, sep, &part, &len);)
		parts.items[parts.len++] = mr_arena_strndup(arena, part, len);
	return parts;
}

char *mr_str_join(struct mr_arena *arena, const struct mr_texts *texts, const char *sep)
{
	size_t len = 0;
	char *joined;
	char *at;

	for (size_t i = 0; i < texts->len; i++)
		len += strlen(texts->items[i]) + strlen(sep);
	at = joined = mr_arena_alloc(arena, len + 1);
	for (size_t i = 0; i < texts->len; i++) {
		if (i)
			at = stpcpy(at, sep);
		at = stpcpy(at, texts->items[i]);
	}
	return joined;
}

bool mr_texts_has(const struct mr_texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->len; i++) {
		if (strcmp(texts->items[i], text) == 0)
			return true;
	}
	return false;
}

bool mr_str_to_int(const char *text, int64_t *out)
{
	const char *digits = text + (text[0] == '-');
	char *end;
	long long value;

	if (!isdigit((unsigned char)digits[0]))
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end)
		return false;
	*out = value;
	return true;
}

bool mr_str_to_bool(const char *text, bool *out)
{
	static const char *const words[2][6] = {
		{ "0", "false", "f", "no", "n", "off" },
		{ "1", "true", "t", "yes", "y", "on" },
	};

	for (int value = 0; value < 2; value++) {
		for (size_t i = 0; i < MR_LEN(words[value]); i++) {
			if (mr_str_eq_nocase(text, words[value][i])) {
				*out = value;
				return true;
			}
		}
	}
	return false;
}

enum { DISTANCE_BYTES = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t mr_str_distance(const char *a, const char *b, size_t limit)
{
	size_t rows[3][DISTANCE_BYTES + 1];
	size_t a_len = strnlen(a, DISTANCE_BYTES + 1);
	size_t b_len = strnlen(b, DISTANCE_BYTES + 1);

	if (a_len > DISTANCE_BYTES || b_len > DISTANCE_BYTES)
		return limit;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			char x = lower(a[i - 1]);
			char y = lower(b[j - 1]);

			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return least(rows[a_len % 3][b_len], limit);
}

const char *mr_str_nearest(const char *text, const char *const *candidates, size_t count)
{
	/* One slip in a short word, two or three in a longer one: more is another word. */
	size_t len = strlen(text);
	size_t best = (len < 6 ? 1 : len < 10 ? 2 : 3) + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t distance = mr_str_distance(text, candidates[i], best);
		size_t other = strlen(candidates[i]);

		/* Something of the word must be left: "x" is no slip for "y". */
		if (distance < best && distance < (len > other ? len : other)) {
			best = distance;
			nearest = candidates[i];
		}
	}
	return nearest;
}
