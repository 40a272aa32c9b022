/* text/glob.c - matching, which never goes back further than to the last star. */
#include "text/glob_private.h"

#include "base/utf8.h"

#include <string.h>

const char *mr_glob_text(const struct mr_glob *glob)
{
	return glob->text;
}

const char *mr_glob_literal_prefix(const struct mr_glob *glob)
{
	return glob->prefix;
}

size_t mr_glob_size(const struct mr_glob *glob)
{
	size_t size = 0;

	for (size_t i = 0; i < glob->len; i++) {
		const struct mr_glob_alternative *alt = &glob->alternatives[i];

		for (size_t j = 0; j < alt->len; j++)
			size += 1 + alt->segments[j].len;
	}
	return size;
}

size_t mr_glob_common_prefix(const char *a, const char *b)
{
	size_t common = 0;

	for (size_t i = 0;; i++) {
		bool a_ends = a[i] == '\0' || a[i] == '/';
		bool b_ends = b[i] == '\0' || b[i] == '/';

		if (a_ends && b_ends)
			common = i;
		if (a[i] != b[i] || a[i] == '\0')
			return common;
	}
}

bool mr_glob_prefixes_meet(const char *a, const char *b)
{
	size_t common = mr_glob_common_prefix(a, b);

	return a[common] == '\0' || b[common] == '\0';
}

/* One character of a name, of which `len` > 0 bytes are there; returns its length. */
static size_t next_character(const char *text, size_t len, uint32_t *out)
{
	size_t used = mr_utf8_next(text, len, out);

	if (used)
		return used;
	*out = MR_GLOB_RAW + (unsigned char)*text;
	return 1;
}

static bool elem_has(const struct mr_glob_elem *elem, uint32_t character)
{
	for (size_t i = 0; i < elem->count && elem->ranges[i].first <= character; i++) {
		if (character <= elem->ranges[i].last)
			return true;
	}
	return false;
}

/*
 * A mismatch goes back to the last star only and lets it take one character more: an earlier star
 * that took more would leave the later one less, never something else.
 */
static bool segment_matches(const struct mr_glob_segment *segment, const char *text, size_t len)
{
	size_t elem = 0;
	size_t at = 0;
	size_t after_star = SIZE_MAX;
	size_t star_end = 0;

	if (segment->literal)
		return segment->literal_len == len && memcmp(segment->literal, text, len) == 0;
	while (at < len) {
		uint32_t character;
		size_t used = next_character(text + at, len - at, &character);

		if (elem < segment->len && segment->elems[elem].star) {
			after_star = ++elem;
			star_end = at;
		} else if (elem < segment->len && elem_has(&segment->elems[elem], character)) {
			elem++;
			at += used;
		} else if (after_star != SIZE_MAX) {
			elem = after_star;
			star_end += next_character(text + star_end, len - star_end, &character);
			at = star_end;
		} else {
			return false;
		}
	}
	while (elem < segment->len && segment->elems[elem].star)
		elem++;
	return elem == segment->len;
}

struct name {
	const char *text;
	size_t len;
};

/* The next name of the path; false when there is none. */
static bool next_name(const char **path, struct name *out)
{
	const char *at = *path;

	for (;;) {
		size_t len;

		at += strspn(at, "/");
		len = strcspn(at, "/");
		if (len == 0)
			return false;
		*path = at + len;
		if (len > 1 || *at != '.') {
			*out = (struct name){ at, len };
			return true;
		}
		at += len;
	}
}

/* The same walk as in a segment, with names for characters and "**" for the star. */
static bool segments_match(const struct mr_glob_alternative *alt, const char *path)
{
	size_t i = 0;
	size_t after_deep = SIZE_MAX;
	const char *deep_end = path;

	for (;;) {
		const char *next = path;
		struct name name;

		if (i < alt->len && alt->segments[i].deep) {
			after_deep = ++i;
			deep_end = path;
			if (i == alt->len)
				return true;
			continue;
		}
		if (!next_name(&next, &name))
			return i == alt->len;
		if (i < alt->len && segment_matches(&alt->segments[i], name.text, name.len)) {
			i++;
			path = next;
		} else if (after_deep != SIZE_MAX) {
			i = after_deep;
			(void)next_name(&deep_end, &name);
			path = deep_end;
		} else {
			return false;
		}
	}
}

/* Where wildcards cross '/', the whole path is one text. */
static bool whole_matches(const struct mr_glob_alternative *alt, const char *path)
{
	size_t len;

	while (*path == '/' || (path[0] == '.' && path[1] == '/'))
		path += *path == '/' ? 1 : 2;
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	return segment_matches(&alt->segments[0], path, len);
}

bool mr_glob_matches(const struct mr_glob *glob, const char *path)
{
	size_t len = strlen(path);
	bool is_directory = len > 0 && path[len - 1] == '/';

	for (size_t i = 0; i < glob->len; i++) {
		const struct mr_glob_alternative *alt = &glob->alternatives[i];

		if (alt->directories_only && !is_directory)
			continue;
		if (glob->cross ? whole_matches(alt, path) : segments_match(alt, path))
			return true;
	}
	return false;
}
