/*
 * text/value.h - the tree that JSON and YAML are read into, and strict accessors for it.
 *
 * Nodes live in an arena and are never changed once read. Strings are valid UTF-8 without NUL. Maps
 * keep the order of their keys, and no key stands twice.
 *
 * A cursor is a place in the tree. It lives on the stack, costs nothing to move, and knows its path
 * only when something is wrong there: problems are added to the cursor's list as $.to[0].address,
 * and reading goes on, so that one pass reports them all.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum mr_kind {
	MR_NULL,
	MR_BOOL,
	MR_INT,
	MR_FLOAT,
	MR_TEXT,
	MR_LIST,
	MR_MAP,
};

struct mr_value {
	enum mr_kind kind;
	/* The text as it stood in the source, of a YAML plain scalar that is not a MR_TEXT
	 * (a date is MR_TEXT); else NULL. */
	const char *plain;
	union {
		bool boolean;
		int64_t integer;
		double real;
		const char *text;
		struct {
			struct mr_value *items;
			size_t len;
		} list;
		struct {
			struct mr_pair *pairs;
			size_t len;
		} map;
	};
};

struct mr_pair {
	const char *key;
	struct mr_value value;
};

/* The value under `key`, or NULL: also when `map` is NULL or not a map. */
const struct mr_value *mr_value_get(const struct mr_value *map, const char *key);
/* The text there, or NULL: also when something else is there. */
const char *mr_value_text(const struct mr_value *map, const char *key);
/* The order of keys does not matter; 1 and 1.0 are not equal, not-a-number equals itself. */
bool mr_value_equal(const struct mr_value *a, const struct mr_value *b);
/* A copy of `len` pairs, sorted by the bytes of their keys; the values are shared. */
struct mr_pair *mr_pairs_sorted(struct mr_arena *arena, const struct mr_pair *pairs, size_t len);
/* "null", "boolean", "integer", "number", "string", "list", "object". */
const char *mr_kind_name(enum mr_kind kind);

struct mr_cursor {
	const struct mr_value *value; /* NULL where nothing is */
	const struct mr_cursor *up;   /* must outlive this one */
	const char *key;              /* NULL for a list's element and the root */
	size_t index;
	struct mr_issues *issues;
};

struct mr_cursor mr_cursor_root(const struct mr_value *value, struct mr_issues *issues);
/* The place under `key`, whether or not something is there. */
struct mr_cursor mr_cursor_key(const struct mr_cursor *at, const char *key);
struct mr_cursor mr_cursor_item(const struct mr_cursor *at, size_t index);
/* $.to[0].address; of a key longer than 256 bytes the beginning, and "...". */
const char *mr_cursor_path(struct mr_arena *arena, const struct mr_cursor *at);
/* Report against a rule at this place. */
void mr_cursor_refuse(const struct mr_cursor *at, const char *fmt, ...) MR_PRINTF(2, 3);

bool mr_cursor_is_present(const struct mr_cursor *at); /* there, and not null */

/*
 * Strict: no coercion, 1 is not true, 10.0 is no integer. The required form reports a missing value
 * and a wrong type; the optional form lets absence and null pass and then leaves `*out` as it was.
 * All return whether `*out` was set.
 */
bool mr_cursor_text(const struct mr_cursor *at, const char **out);
bool mr_cursor_text_opt(const struct mr_cursor *at, const char **out);
bool mr_cursor_int(const struct mr_cursor *at, int64_t min, int64_t max, int64_t *out);
bool mr_cursor_int_opt(const struct mr_cursor *at, int64_t min, int64_t max, int64_t *out);
bool mr_cursor_bool(const struct mr_cursor *at, bool *out);
bool mr_cursor_bool_opt(const struct mr_cursor *at, bool *out);
/* One of `words` (NULL-terminated); `*out` gets its index. */
bool mr_cursor_choice(const struct mr_cursor *at, const char *const *words, size_t *out);
bool mr_cursor_list(const struct mr_cursor *at, size_t *out_len);
bool mr_cursor_list_opt(const struct mr_cursor *at, size_t *out_len);
bool mr_cursor_map(const struct mr_cursor *at);
/* A list of texts in the issues' arena. */
bool mr_cursor_texts(const struct mr_cursor *at, struct mr_texts *out);
/* Report every key of this map that is not among `known` (NULL-terminated), with the nearest one.
 */
void mr_cursor_only(const struct mr_cursor *at, const char *const *known);
