/*
 * text/value.c - The value tree that JSON and YAML are read into, and cursors that read it
 * strictly and report problems by path.
 */
#include "text/value.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct mr_value *mr_value_get(const struct mr_value *map, const char *key)
{
	if (!map || map->kind != MR_MAP)
		return NULL;
	for (size_t i = 0; i < map->map.len; i++) {
		if (strcmp(map->map.pairs[i].key, key) == 0)
			return &map->map.pairs[i].value;
	}
	return NULL;
}

const char *mr_value_text(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool lists_equal(const struct mr_value *a, const struct mr_value *b)
{
	if (a->list.len != b->list.len)
		return false;
	for (size_t i = 0; i < a->list.len; i++) {
		if (!mr_value_equal(&a->list.items[i], &b->list.items[i]))
			return false;
	}
	return true;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct mr_pair *)a)->key, ((const struct mr_pair *)b)->key);
}

struct mr_pair *mr_pairs_sorted(struct mr_arena *arena, const struct mr_pair *pairs, size_t len)
{
	struct mr_pair *sorted = mr_arena_memdup(arena, pairs, len * sizeof(*pairs));

	qsort(sorted, len, sizeof(*sorted), by_key);
	return sorted;
}

static bool maps_equal(const struct mr_value *a, const struct mr_value *b)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_pair *a_rest;
	const struct mr_pair *b_rest;
	size_t same = 0;
	size_t left;

	if (a->map.len != b->map.len)
		return false;
	/* Nearly always in the same order; what is behind the first difference must be sorted. */
	for (; same < a->map.len; same++) {
		const struct mr_pair *pair = &a->map.pairs[same];

		if (strcmp(pair->key, b->map.pairs[same].key) != 0)
			break;
		if (!mr_value_equal(&pair->value, &b->map.pairs[same].value))
			return false;
	}
	if (same == a->map.len)
		return true;
	arena = mr_arena_new();
	left = a->map.len - same;
	a_rest = mr_pairs_sorted(arena, a->map.pairs + same, left);
	b_rest = mr_pairs_sorted(arena, b->map.pairs + same, left);
	for (size_t i = 0; i < left; i++) {
		if (strcmp(a_rest[i].key, b_rest[i].key) != 0 ||
			!mr_value_equal(&a_rest[i].value, &b_rest[i].value))
			return false;
	}
	return true;
}

bool mr_value_equal(const struct mr_value *a, const struct mr_value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case MR_NULL:
		return true;
	case MR_BOOL:
		return a->boolean == b->boolean;
	case MR_INT:
		return a->integer == b->integer;
	case MR_FLOAT:
		/* Not-a-number equals itself here: the question is whether the texts say the same.
		 */
		return a->real == b->real || (a->real != a->real && b->real != b->real);
	case MR_TEXT:
		return strcmp(a->text, b->text) == 0;
	case MR_LIST:
		return lists_equal(a, b);
	case MR_MAP:
		return maps_equal(a, b);
	}
	return false;
}

const char *mr_kind_name(enum mr_kind kind)
{
	static const char *const names[] = {
		[MR_NULL] = "null",
		[MR_BOOL] = "boolean",
		[MR_INT] = "integer",
		[MR_FLOAT] = "number",
		[MR_TEXT] = "string",
		[MR_LIST] = "list",
		[MR_MAP] = "object",
	};

	return names[kind];
}

struct mr_cursor mr_cursor_root(const struct mr_value *value, struct mr_issues *issues)
{
	return (struct mr_cursor){ .value = value, .issues = issues };
}

struct mr_cursor mr_cursor_key(const struct mr_cursor *at, const char *key)
{
	return (struct mr_cursor){
		.value = mr_value_get(at->value, key),
		.up = at,
		.key = key,
		.issues = at->issues,
	};
}

struct mr_cursor mr_cursor_item(const struct mr_cursor *at, size_t index)
{
	bool there = at->value && at->value->kind == MR_LIST && index < at->value->list.len;

	return (struct mr_cursor){
		.value = there ? &at->value->list.items[index] : NULL,
		.up = at,
		.index = index,
		.issues = at->issues,
	};
}

/* A key longer than this is cut in a path: nobody asked for it, and it may be megabytes. */
enum { PATH_KEY_BYTES = 256, PATH_BYTES = 1 << 20 };

static void put_path(struct mr_buf *path, const struct mr_cursor *at)
{
	size_t len;

	if (!at->up) {
		mr_buf_putc(path, '$');
		return;
	}
	put_path(path, at->up);
	if (!at->key) {
		mr_buf_printf(path, "[%zu]", at->index);
		return;
	}
	len = strlen(at->key);
	mr_buf_putc(path, '.');
	mr_buf_add(path, at->key, mr_utf8_truncate(at->key, len, PATH_KEY_BYTES));
	if (len > PATH_KEY_BYTES)
		mr_buf_puts(path, "...");
}

const char *mr_cursor_path(struct mr_arena *arena, const struct mr_cursor *at)
{
	struct mr_buf path MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&path, PATH_BYTES);
	put_path(&path, at);
	return mr_arena_strdup(arena, mr_buf_text(&path));
}

/* A list that is full only counts: then neither a path nor a message is worth its memory. */
static bool is_full(const struct mr_cursor *at)
{
	return at->issues->len == MR_ISSUES_MAX;
}

void mr_cursor_refuse(const struct mr_cursor *at, const char *fmt, ...)
{
	struct mr_arena *arena = at->issues->arena;
	va_list ap;
	const char *msg;

	if (is_full(at)) {
		at->issues->dropped++;
		return;
	}
	va_start(ap, fmt);
	msg = mr_arena_vprintf(arena, fmt, ap);
	va_end(ap);
	mr_issues_add(at->issues, MR_ISSUE_RULE, mr_cursor_path(arena, at), NULL, "%s", msg);
}

bool mr_cursor_is_present(const struct mr_cursor *at)
{
	return at->value && at->value->kind != MR_NULL;
}

static void report_kind(const struct mr_cursor *at, enum mr_kind kind)
{
	const char *expected = mr_kind_name(kind);
	const char *path;

	if (is_full(at)) {
		at->issues->dropped++;
		return;
	}
	path = mr_cursor_path(at->issues->arena, at);
	if (!at->value)
		mr_issues_add(at->issues, MR_ISSUE_MISSING, path, expected, "is required");
	else
		mr_issues_add(at->issues, MR_ISSUE_TYPE, path, expected, "must be %s %s, not %s",
			kind == MR_INT || kind == MR_MAP ? "an" : "a", expected,
			mr_kind_name(at->value->kind));
}

/* Is there a value of this kind? If not, report it. */
static bool require(const struct mr_cursor *at, enum mr_kind kind)
{
	if (at->value && at->value->kind == kind)
		return true;
	report_kind(at, kind);
	return false;
}

bool mr_cursor_text(const struct mr_cursor *at, const char **out)
{
	if (!require(at, MR_TEXT))
		return false;
	*out = at->value->text;
	return true;
}

bool mr_cursor_text_opt(const struct mr_cursor *at, const char **out)
{
	return mr_cursor_is_present(at) && mr_cursor_text(at, out);
}

bool mr_cursor_int(const struct mr_cursor *at, int64_t min, int64_t max, int64_t *out)
{
	if (!require(at, MR_INT))
		return false;
	if (at->value->integer < min || at->value->integer > max) {
		mr_cursor_refuse(at, "must be between %lld and %lld", (long long)min,
			(long long)max);
		return false;
	}
	*out = at->value->integer;
	return true;
}

bool mr_cursor_int_opt(const struct mr_cursor *at, int64_t min, int64_t max, int64_t *out)
{
	return mr_cursor_is_present(at) && mr_cursor_int(at, min, max, out);
}

bool mr_cursor_bool(const struct mr_cursor *at, bool *out)
{
	if (!require(at, MR_BOOL))
		return false;
	*out = at->value->boolean;
	return true;
}

bool mr_cursor_bool_opt(const struct mr_cursor *at, bool *out)
{
	return mr_cursor_is_present(at) && mr_cursor_bool(at, out);
}

bool mr_cursor_choice(const struct mr_cursor *at, const char *const *words, size_t *out)
{
	struct mr_texts all = { (const char **)words, 0 };

	if (!require(at, MR_TEXT))
		return false;
	for (; words[all.len]; all.len++) {
		if (strcmp(words[all.len], at->value->text) == 0) {
			*out = all.len;
			return true;
		}
	}
	mr_cursor_refuse(at, "must be one of: %s",
		is_full(at) ? "" : mr_str_join(at->issues->arena, &all, ", "));
	return false;
}

bool mr_cursor_list(const struct mr_cursor *at, size_t *out_len)
{
	if (!require(at, MR_LIST))
		return false;
	*out_len = at->value->list.len;
	return true;
}

bool mr_cursor_list_opt(const struct mr_cursor *at, size_t *out_len)
{
	return mr_cursor_is_present(at) && mr_cursor_list(at, out_len);
}

bool mr_cursor_map(const struct mr_cursor *at)
{
	return require(at, MR_MAP);
}

bool mr_cursor_texts(const struct mr_cursor *at, struct mr_texts *out)
{
	struct mr_texts texts = { NULL, 0 };
	size_t len;
	bool good = true;

	if (!mr_cursor_list(at, &len))
		return false;
	texts.items = mr_arena_array(at->issues->arena, len + 1, sizeof(*texts.items));
	for (; texts.len < len; texts.len++) {
		struct mr_cursor item = mr_cursor_item(at, texts.len);

		good = mr_cursor_text(&item, &texts.items[texts.len]) && good;
	}
	if (good)
		*out = texts;
	return good;
}

static void refuse_unknown(const struct mr_cursor *at, const char *near)
{
	const char *path = mr_cursor_path(at->issues->arena, at);

	if (near)
		mr_issues_add(at->issues, MR_ISSUE_UNKNOWN, path, NULL,
			"is not known; did you mean %s?", near);
	else
		mr_issues_add(at->issues, MR_ISSUE_UNKNOWN, path, NULL, "is not known");
}

void mr_cursor_only(const struct mr_cursor *at, const char *const *known)
{
	struct mr_texts all = { (const char **)known, 0 };

	if (!at->value || at->value->kind != MR_MAP)
		return;
	while (known[all.len])
		all.len++;
	for (size_t i = 0; i < at->value->map.len; i++) {
		const struct mr_pair *pair = &at->value->map.pairs[i];
		/* Not by mr_cursor_key(): looking each one up would make this quadratic. */
		struct mr_cursor here = { .value = &pair->value,
			.up = at,
			.key = pair->key,
			.issues = at->issues };

		if (mr_texts_has(&all, pair->key))
			continue;
		if (is_full(at))
			at->issues->dropped++;
		else
			refuse_unknown(&here, mr_str_nearest(pair->key, known, all.len));
	}
}
