/* text/glob_expand.c - a pattern's text: normalised, and its braces written out. */
#include "text/glob_private.h"

#include "base/utf8.h"

#include <string.h>

static struct mr_glob_source source_new(struct mr_arena *arena, size_t room)
{
	return (struct mr_glob_source){
		.text = mr_arena_array(arena, room + 1, 1),
		.from = mr_arena_array(arena, room + 1, sizeof(uint16_t)),
	};
}

static void source_add(struct mr_glob_source *to, const struct mr_glob_source *src, size_t at,
	size_t len)
{
	memcpy(to->text + to->len, src->text + at, len);
	memcpy(to->from + to->len, src->from + at, len * sizeof(uint16_t));
	to->len += len;
}

static void source_put(struct mr_glob_source *to, char c, size_t from)
{
	to->text[to->len] = c;
	to->from[to->len++] = (uint16_t)from;
}

size_t mr_glob_class_close(const struct mr_glob_source *src, size_t at, bool escapes)
{
	size_t i = at + 1;

	if (i < src->len && (src->text[i] == '!' || src->text[i] == '^'))
		i++;
	/* Right after the opening it is a member. */
	if (i < src->len && src->text[i] == ']')
		i++;
	for (; i < src->len && src->text[i] != ']'; i++) {
		if (escapes && src->text[i] == '\\')
			i++;
	}
	return i < src->len ? i : 0;
}

/* Bytes of the token at `at`: an escaped byte, a class, or one byte. */
static size_t token_len(const struct mr_glob_source *src, size_t at, bool escapes)
{
	size_t close;

	if (escapes && src->text[at] == '\\' && at + 1 < src->len)
		return 2;
	if (src->text[at] != '[')
		return 1;
	close = mr_glob_class_close(src, at, escapes);
	return close ? close - at + 1 : 1;
}

/* Without the blanks that do not count; `*text` moves forward. */
static size_t trim(const char **text, size_t len, unsigned flags)
{
	const char *end = *text + len;

	if (!(flags & (MR_GLOB_ESCAPE | MR_GLOB_IGNORE))) {
		mr_utf8_strip(text, &len);
		return len;
	}
	if (!(flags & MR_GLOB_IGNORE)) {
		const char *tail = *text;
		size_t tail_len = len;

		mr_utf8_strip(&tail, &tail_len);
		if (tail_len == 0)
			return 0;
		*text = tail;
	}
	/* An escaped blank at the end stays. */
	while (end > *text && end[-1] == ' ') {
		size_t slashes = 0;

		while (end - 1 - slashes > *text && end[-2 - (ptrdiff_t)slashes] == '\\')
			slashes++;
		if (slashes % 2)
			break;
		end--;
	}
	return (size_t)(end - *text);
}

/* Bytes of `src` that `root` takes, when it is above. */
static size_t root_len(const struct mr_glob_source *src, const char *root)
{
	size_t len = root ? strlen(root) : 0;

	while (len > 0 && (root[len - 1] == '/' || root[len - 1] == '\\'))
		len--;
	if (len > src->len || (len < src->len && src->text[len] != '/'))
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (src->text[i] != (root[i] == '\\' ? '/' : root[i]))
			return 0;
	}
	return len;
}

/* Blanks at the very start, where a '/' was dropped: without them the result is its own normal
 * form. */
static size_t blank_len(const struct mr_glob_source *src, size_t at)
{
	uint32_t scalar = 0;
	size_t len = mr_utf8_next(src->text + at, src->len - at, &scalar);

	return mr_utf8_is_space(scalar) ? len : 0;
}

/* Drop what a path does not need; a directory becomes all that is in it. */
static void tidy(const struct mr_glob_source *src, size_t at, bool escapes,
	struct mr_glob_source *out)
{
	size_t last = src->len ? src->from[src->len - 1] : 0;

	for (size_t len; at < src->len; at += len) {
		bool at_start = out->len == 0 || out->text[out->len - 1] == '/';
		char c = src->text[at];

		bool is_dot = c == '.' && (at + 1 == src->len || src->text[at + 1] == '/');

		if (at_start && (c == '/' || is_dot)) {
			len = 1;
		} else if (out->len == 0 && blank_len(src, at)) {
			len = blank_len(src, at);
		} else {
			len = token_len(src, at, escapes);
			source_add(out, src, at, len);
		}
	}
	if (out->len == 0 || out->text[out->len - 1] == '/') {
		source_put(out, '*', last);
		source_put(out, '*', last);
	}
}

static enum mr_code check_len(size_t len, struct mr_err *err)
{
	if (len > MR_GLOB_PATTERN_BYTES)
		return mr_err_set(err, MR_ELIMIT, "pattern is longer than %d bytes",
			MR_GLOB_PATTERN_BYTES);
	return MR_OK;
}

static enum mr_code normalise(struct mr_arena *arena, const char *text,
	const struct mr_glob_options *options, struct mr_glob_source *out, struct mr_err *err)
{
	bool ignore = options->flags & MR_GLOB_IGNORE;
	bool escapes = options->flags & (MR_GLOB_ESCAPE | MR_GLOB_IGNORE);
	size_t len = strlen(text);
	const char *start = text;
	size_t bad_at;

	enum mr_code rc = check_len(len, err);

	if (rc)
		return rc;
	if (!mr_utf8_is_valid(text, len, &bad_at))
		return mr_err_set(err, MR_EINVAL, "pattern is not UTF-8 at byte %zu", bad_at);
	len = trim(&start, len, options->flags);
	if (len == 0)
		return mr_err_set(err, MR_EINVAL, "pattern is empty");

	struct mr_glob_source raw = source_new(arena, len);

	for (size_t i = 0; i < len; i++) {
		size_t from = (size_t)(start - text) + i;

		if (start[i] != '\\') {
			source_put(&raw, start[i], from);
		} else if (!escapes) {
			source_put(&raw, '/', from);
		} else if (i + 1 == len || start[i + 1] != '/') {
			source_put(&raw, start[i], from);
			if (++i < len)
				source_put(&raw, start[i], from + 1);
		}
	}
	if (ignore) {
		*out = raw;
		return MR_OK;
	}
	*out = source_new(arena, len + 2);
	tidy(&raw, root_len(&raw, options->root), escapes, out);
	/* What was added must not make the normal form too long to be read again. */
	return check_len(out->len, err);
}

/* The '}' of the '{' at `open`, or 0; `*out_commas` counts those that separate alternatives. */
static size_t brace_close(const struct mr_glob_source *src, size_t open, bool escapes,
	size_t *out_commas)
{
	size_t depth = 0;

	*out_commas = 0;
	for (size_t i = open; i < src->len; i += token_len(src, i, escapes)) {
		if (src->text[i] == '{')
			depth++;
		else if (src->text[i] == '}' && --depth == 0)
			return i;
		else if (src->text[i] == ',' && depth == 1)
			(*out_commas)++;
	}
	return 0;
}

struct list {
	struct mr_glob_source *items;
	size_t len;
	size_t bytes;
};

/* Put the alternatives of the group from `open` to `close` in the place of `list->items[at]`. */
static void split(struct mr_arena *arena, struct list *list, size_t at, size_t open, size_t close,
	bool escapes)
{
	struct mr_glob_source src = list->items[at];
	size_t depth = 0;
	size_t part = open + 1;
	bool first = true;

	list->bytes -= src.len;
	for (size_t i = open; i <= close; i += token_len(&src, i, escapes)) {
		depth += src.text[i] == '{';
		if (depth == 1 && (src.text[i] == ',' || src.text[i] == '}')) {
			struct mr_glob_source one = source_new(arena, src.len);

			source_add(&one, &src, 0, open);
			source_add(&one, &src, part, i - part);
			source_add(&one, &src, close + 1, src.len - close - 1);
			list->items[first ? at : list->len++] = one;
			list->bytes += one.len;
			part = i + 1;
			first = false;
		}
		depth -= src.text[i] == '}';
	}
}

/* Write out the braces of `list->items[at]`, until there are none. */
static enum mr_code expand_one(struct mr_arena *arena, struct list *list, size_t at, bool escapes,
	struct mr_err *err)
{
	size_t i = 0;

	while (i < list->items[at].len) {
		const struct mr_glob_source *src = &list->items[at];
		size_t commas;
		size_t close;

		if (src->text[i] != '{') {
			i += token_len(src, i, escapes);
			continue;
		}
		close = brace_close(src, i, escapes, &commas);
		if (!close)
			return mr_err_set(err, MR_EINVAL, "'{' at byte %u has no '}'",
				src->from[i]);
		if (commas == 0) {
			i++;
			continue;
		}
		if (list->len + commas > MR_GLOB_ALTERNATIVES)
			return mr_err_set(err, MR_ELIMIT,
				"braces at byte %u make more than %d alternatives", src->from[i],
				MR_GLOB_ALTERNATIVES);
		uint16_t from = src->from[i];

		split(arena, list, at, i, close, escapes);
		if (list->bytes > MR_GLOB_EXPANDED_BYTES)
			return mr_err_set(err, MR_ELIMIT,
				"braces at byte %u make a pattern of more than %d bytes", from,
				MR_GLOB_EXPANDED_BYTES);
	}
	return MR_OK;
}

enum mr_code mr_glob_expand(struct mr_arena *arena, const char *text,
	const struct mr_glob_options *options, const char **out_text, struct mr_glob_source **out,
	size_t *out_len, struct mr_err *err)
{
	struct mr_glob_source whole = { 0 };
	enum mr_code rc = normalise(arena, text, options, &whole, err);

	if (rc)
		return rc;

	bool plain = (options->flags & MR_GLOB_IGNORE) || whole.len == 0 ||
		!memchr(whole.text, '{', whole.len);
	struct list list = {
		.items = mr_arena_array(arena, plain ? 1 : MR_GLOB_ALTERNATIVES, sizeof(whole)),
		.len = 1,
		.bytes = whole.len,
	};

	list.items[0] = whole;
	for (size_t i = 0; i < list.len && !plain; i++) {
		rc = expand_one(arena, &list, i, options->flags & MR_GLOB_ESCAPE, err);
		if (rc)
			return rc;
	}
	*out_text = mr_arena_strndup(arena, whole.text, whole.len);
	*out = list.items;
	*out_len = list.len;
	return MR_OK;
}
