/*
 * surface/mcp/uri.h - resource://inbox/BlueLake?project=backend taken apart. Pure.
 *
 * Lenient: a '%' that encodes nothing stands for itself, a slash at the end does not matter, a
 * query may also be part of the last segment, encoded with it.
 */
#pragma once

#include "base/arena.h"
#include "text/value.h"

enum { MR_URI_BYTES = 4096 };

struct mr_uri {
	const char *path; /* without the scheme and the query, as it came: inbox/BlueLake */
	struct mr_pair *query;
	size_t query_len;
};

/* false: another scheme, too long, or not UTF-8 without NUL when decoded. */
bool mr_uri_parse(struct mr_arena *arena, const char *text, struct mr_uri *out);
/*
 * Is its path `prefix`, and what comes then? With `variable` the prefix ends before a slash, and
 * the rest of the path, whatever it holds, is the variable, decoded and not empty; a query inside
 * it is added to the URI's.
 */
bool mr_uri_match(struct mr_arena *arena, struct mr_uri *uri, const char *prefix,
	const char **variable);

/* A value of the query; NULL or the fallback when it is missing or cannot be read. Flags: 1,
 * true, t, yes, y, on in any case are true, everything else is false. */
const char *mr_uri_text(const struct mr_uri *uri, const char *key);
bool mr_uri_flag(const struct mr_uri *uri, const char *key);
int64_t mr_uri_int(const struct mr_uri *uri, const char *key, int64_t fallback);

/* The path of a file:///... URI of this machine, decoded: it begins with a slash. NULL for anything
 * else. */
const char *mr_uri_file(struct mr_arena *arena, const char *text);

/* A text so that it can be a segment, or a value of a query. */
const char *mr_uri_encode(struct mr_arena *arena, const char *text);
