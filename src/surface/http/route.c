/*
 * surface/http/route.c - Matches method and path against the route table and decodes the
 * parameters in the path.
 */
#include "surface/http/route.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* A parameter as it stands in pattern and path. */
struct span {
	const char *name;
	size_t name_len;
	const char *text;
	size_t len;
};

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return len > 0;
}

/* What is wrong with the segment "{...}" of `len` bytes, or NULL. */
static const char *check_param(const char *segment, size_t len, bool is_last)
{
	size_t name_len;

	if (segment[len - 1] != '}')
		return "a parameter must be the whole segment";
	name_len = len - 2;
	if (name_len > 3 && memcmp(segment + len - 4, "...", 3) == 0) {
		if (!is_last)
			return "only the last segment may be {name...}";
		name_len -= 3;
	}
	if (!is_name(segment + 1, name_len))
		return "a parameter's name is made of a-z, 0-9 and _";
	return NULL;
}

static const char *check_pattern(const char *pattern)
{
	size_t params = 0;

	if (pattern[0] != '/')
		return "it must start with /";
	if (strlen(pattern) > MR_ROUTE_PATH_BYTES)
		return "it is too long";
	for (const char *at = pattern; *at == '/';) {
		size_t len = strcspn(++at, "/");
		const char *why;

		if (len == 0) {
			/* "/" alone is fine; a slash at the end is the flag's business. */
			return pattern[1] ? "it has an empty segment" : NULL;
		}
		if (at[0] == '{') {
			why = check_param(at, len, at[len] == '\0');
			if (why)
				return why;
			if (++params > MR_ROUTE_PARAMS_MAX)
				return "it has too many parameters";
		} else if (memchr(at, '{', len) || memchr(at, '}', len)) {
			return "a parameter must be the whole segment";
		}
		at += len;
	}
	return NULL;
}

enum mr_code mr_http_route_check(const struct mr_http_route *routes, size_t count,
	struct mr_err *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *why = check_pattern(routes[i].pattern);

		if (!why && mr_str_is_empty(routes[i].method))
			why = "it has no method";
		if (!why && !routes[i].handler)
			why = "it has no handler";
		if (why)
			return mr_err_set(err, MR_EINVAL, "route %zu, %s: %s", i, routes[i].pattern,
				why);
	}
	return MR_OK;
}

/* Does the path fit the pattern? Then the parameters' places are in `spans`. */
static bool fits(const struct mr_http_route *route, const char *path, struct span *spans,
	size_t *out_len)
{
	const char *p = route->pattern;
	size_t count = 0;

	while (*p) {
		if (*p == '{') {
			size_t name_len = strcspn(p + 1, ".}");
			bool rest = p[1 + name_len] == '.';
			size_t len = rest ? strlen(path) : strcspn(path, "/");

			if (len == 0)
				return false;
			spans[count++] = (struct span){ p + 1, name_len, path, len };
			p += 1 + name_len + (rest ? sizeof("...}") - 1 : 1);
			path += len;
		} else if (*p++ != *path++) {
			return false;
		}
	}
	if ((route->flags & MR_ROUTE_SLASH) && path[0] == '/' && path[1] == '\0' &&
		route->pattern[1])
		path++;
	*out_len = count;
	return *path == '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decode to `out`, which has room; the length, or SIZE_MAX for what decode refuses. */
static size_t decode(const char *text, size_t len, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '%') {
			int high = len - i > 2 ? hex_digit(text[i + 1]) : -1;
			int low = len - i > 2 ? hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return SIZE_MAX;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (c == '\0')
			return SIZE_MAX;
		out[used++] = c;
	}
	out[used] = '\0';
	return mr_utf8_is_valid(out, used, NULL) ? used : SIZE_MAX;
}

char *mr_http_route_decode(struct mr_arena *arena, const char *text, size_t len)
{
	char *out = mr_arena_alloc(arena, len + 1);

	return decode(text, len, out) == SIZE_MAX ? NULL : out;
}

/* The decoded parameter, segment by segment, or NULL. */
static const char *decode_param(struct mr_arena *arena, const struct span *span)
{
	char *out = mr_arena_alloc(arena, span->len + 1);
	const char *end = span->text + span->len;
	size_t used = 0;

	for (const char *at = span->text; at < end;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t len = (size_t)((slash ? slash : end) - at);
		char *segment = out + used;
		size_t got = decode(at, len, segment);

		if (got == SIZE_MAX || memchr(segment, '/', got) || strcmp(segment, ".") == 0 ||
			strcmp(segment, "..") == 0)
			return NULL;
		used += got;
		if (slash)
			out[used++] = '/';
		at += len + (slash ? 1 : 0);
	}
	out[used] = '\0';
	return out;
}

static bool method_fits(const struct mr_http_route *route, const char *method)
{
	return strcmp(route->method, method) == 0 ||
		(strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0 &&
			!(route->flags & MR_ROUTE_NO_HEAD));
}

/* The methods of every row that fits the path, each once, in the table's order. */
static const char *list_allowed(struct mr_arena *arena, const struct mr_http_route *routes,
	size_t count, const char *path)
{
	struct span spans[MR_ROUTE_PARAMS_MAX];
	struct mr_texts seen = { mr_arena_array(arena, count * 2 + 1, sizeof(char *)), 0 };
	size_t ignored;

	for (size_t i = 0; i < count; i++) {
		if (!fits(&routes[i], path, spans, &ignored))
			continue;
		if (!mr_texts_has(&seen, routes[i].method))
			seen.items[seen.len++] = routes[i].method;
		if (method_fits(&routes[i], "HEAD") && !mr_texts_has(&seen, "HEAD"))
			seen.items[seen.len++] = "HEAD";
	}
	return seen.len ? mr_str_join(arena, &seen, ", ") : NULL;
}

int mr_http_route_match(struct mr_arena *arena, const struct mr_http_route *routes, size_t count,
	const char *method, const char *path, struct mr_http_match *out)
{
	struct span spans[MR_ROUTE_PARAMS_MAX];
	size_t len;

	*out = (struct mr_http_match){ 0 };
	if (path[0] != '/')
		return 400;
	if (strnlen(path, MR_ROUTE_PATH_BYTES + 1) > MR_ROUTE_PATH_BYTES)
		return 414;
	for (size_t i = 0; i < count; i++) {
		if (!method_fits(&routes[i], method) || !fits(&routes[i], path, spans, &len))
			continue;
		for (size_t k = 0; k < len; k++) {
			const char *value = decode_param(arena, &spans[k]);

			if (!value) {
				out->len = 0;
				return 400;
			}
			out->params[out->len++] = (struct mr_http_param){
				mr_arena_strndup(arena, spans[k].name, spans[k].name_len), value
			};
		}
		out->route = &routes[i];
		return 200;
	}
	out->allow = list_allowed(arena, routes, count, path);
	return out->allow ? 405 : 404;
}
