/* surface/mcp/uri.c - Parses and encodes resource:// URIs, and file:// URIs of this machine. */
#include "surface/mcp/uri.h"

#include "base/utf8.h"

#include <string.h>

static const char SCHEME[] = "resource://";

enum { QUERY_MAX = 32 };

static int digit_of(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}

/* NULL when it is no text. */
static const char *decode(struct mr_arena *arena, const char *text, size_t len)
{
	char *out = mr_arena_alloc(arena, len + 1);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		int high = text[i] == '%' && i + 2 < len ? digit_of(text[i + 1]) : -1;
		int low = high >= 0 ? digit_of(text[i + 2]) : -1;

		if (low < 0) {
			out[at++] = text[i];
			continue;
		}
		out[at++] = (char)(high * 16 + low);
		i += 2;
	}
	out[at] = '\0';
	return memchr(out, '\0', at) || !mr_utf8_is_valid(out, at, NULL) ? NULL : out;
}

/* false when something of it is no text. */
static bool add_query(struct mr_arena *arena, struct mr_uri *uri, const char *text)
{
	while (*text && uri->query_len < QUERY_MAX) {
		size_t len = strcspn(text, "&");
		size_t key = 0;
		struct mr_pair *pair = &uri->query[uri->query_len];

		while (key < len && text[key] != '=')
			key++;
		if (key > 0) {
			const char *value = key < len ? text + key + 1 : "";

			pair->key = decode(arena, text, key);
			pair->value.kind = MR_TEXT;
			pair->value.text = decode(arena, value, key < len ? len - key - 1 : 0);
			if (!pair->key || !pair->value.text)
				return false;
			uri->query_len++;
		}
		text += len + (text[len] == '&');
	}
	return true;
}

bool mr_uri_parse(struct mr_arena *arena, const char *text, struct mr_uri *out)
{
	struct mr_uri uri = { .query = mr_arena_array(arena, QUERY_MAX, sizeof(*uri.query)) };
	size_t len;

	if (strlen(text) > MR_URI_BYTES || !mr_str_starts(text, SCHEME))
		return false;
	text += strlen(SCHEME);
	len = strcspn(text, "?");
	uri.path = mr_arena_strndup(arena, text, len);
	if (!decode(arena, text, len) || (text[len] && !add_query(arena, &uri, text + len + 1)))
		return false;
	*out = uri;
	return true;
}

/* The words a query inside a segment must begin with: others may well belong to the segment. */
static const char *const known[] = { "active_only=", "agent=", "fence=", "include_bodies=",
	"limit=", "max_chars=", "project=", "since_ts=", "ttl_minutes=", "ttl_seconds=",
	"urgent_only=" };

static const char *hidden_query(const char *text)
{
	for (const char *mark = strchr(text, '?'); mark; mark = strchr(mark + 1, '?')) {
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
			if (mr_str_starts(mark + 1, known[i]))
				return mark;
		}
	}
	return NULL;
}

bool mr_uri_match(struct mr_arena *arena, struct mr_uri *uri, const char *prefix,
	const char **variable)
{
	size_t len = strlen(prefix);
	size_t end = strlen(uri->path);
	const char *text, *hidden;

	if (strncmp(uri->path, prefix, len) != 0)
		return false;
	if (!variable)
		return uri->path[len] == '\0' || mr_str_eq(uri->path + len, "/");
	if (uri->path[len] != '/')
		return false;
	while (end > len + 1 && uri->path[end - 1] == '/')
		end--;
	if (end == len + 1)
		return false;
	text = decode(arena, uri->path + len + 1, end - len - 1);
	hidden = hidden_query(text);
	if (hidden) {
		if (!add_query(arena, uri, hidden + 1))
			return false;
		text = mr_arena_strndup(arena, text, (size_t)(hidden - text));
	}
	if (!*text)
		return false;
	*variable = text;
	return true;
}

const char *mr_uri_text(const struct mr_uri *uri, const char *key)
{
	for (size_t i = 0; i < uri->query_len; i++) {
		if (mr_str_eq(uri->query[i].key, key) && *uri->query[i].value.text)
			return uri->query[i].value.text;
	}
	return NULL;
}

bool mr_uri_flag(const struct mr_uri *uri, const char *key)
{
	const char *text = mr_uri_text(uri, key);
	bool flag = false;

	return text && mr_str_to_bool(text, &flag) && flag;
}

int64_t mr_uri_int(const struct mr_uri *uri, const char *key, int64_t fallback)
{
	const char *text = mr_uri_text(uri, key);
	int64_t number;

	return text && mr_str_to_int(text, &number) ? number : fallback;
}

const char *mr_uri_encode(struct mr_arena *arena, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t len = strlen(text), at = 0;
	char *out = mr_arena_alloc(arena, len * 3 + 1);

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(c && strchr("-._~", c))) {
			out[at++] = (char)c;
			continue;
		}
		out[at++] = '%';
		out[at++] = digits[c >> 4];
		out[at++] = digits[c & 15];
	}
	out[at] = '\0';
	return out;
}

const char *mr_uri_file(struct mr_arena *arena, const char *text)
{
	static const char *const starts[] = { "file:///", "file://localhost/" };

	for (size_t i = 0; i < MR_LEN(starts) && strlen(text) <= MR_URI_BYTES; i++) {
		const char *path = text + strlen(starts[i]) - 1;

		if (mr_str_starts(text, starts[i]))
			return decode(arena, path, strcspn(path, "?#"));
	}
	return NULL;
}
