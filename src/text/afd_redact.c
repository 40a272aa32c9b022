/* text/afd_redact.c - secrets taken out of a value by the names of its members. */
#include "text/afd.h"

#include <ctype.h>
#include <string.h>

static const char hidden[] = "***";

static struct mr_value text_value(const char *text)
{
	return (struct mr_value){ .kind = MR_TEXT, .text = text };
}

static bool has_suffix(const char *key, const char *lower, const char *upper)
{
	return mr_str_ends(key, lower) || mr_str_ends(key, upper);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The name of a query parameter with its escapes decoded. */
static const char *decoded(struct mr_arena *arena, const char *text, size_t len)
{
	char *out = mr_arena_alloc(arena, len + 1);
	size_t to = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '%' && i + 2 < len && hex_digit(text[i + 1]) >= 0 &&
			hex_digit(text[i + 2]) >= 0) {
			char c = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));

			out[to++] = c ? c : '?'; /* a NUL would hide what follows it */
			i += 2;
		} else {
			out[to++] = text[i] == '+' ? ' ' : text[i];
		}
	}
	return out;
}

static bool is_secret_name(struct mr_arena *arena, const char *name, size_t len)
{
	return has_suffix(decoded(arena, name, len), "_secret", "_SECRET");
}

/* The length of "scheme://" at the beginning, 0 when there is none. */
static size_t scheme_len(const char *url)
{
	size_t i = 0;

	if (!isalpha((unsigned char)url[0]))
		return 0;
	while (isalnum((unsigned char)url[i]) || (url[i] && strchr("+.-", url[i])))
		i++;
	return strncmp(url + i, "://", 3) == 0 ? i + 3 : 0;
}

/* Where the host begins: after the last '@' of the authority, which has `len` bytes. */
static const char *host_of(const char *at, size_t len)
{
	const char *host = at;

	for (size_t i = 0; i < len; i++)
		if (at[i] == '@')
			host = at + i + 1;
	return host;
}

/* Is what follows the host nothing or a port? Otherwise the authority may be a user and the
 * beginning of a password that has a slash in it. */
static bool is_clean_authority(const char *at)
{
	size_t len = strcspn(at, "/?#");
	const char *host = host_of(at, len), *end = at + len, *port;

	if (host < end && *host == '[')
		host += strcspn(host, "]/?#");
	port = host < end ? memchr(host, ':', (size_t)(end - host)) : NULL;
	return !port || port + 1 + strspn(port + 1, "0123456789") == end;
}

/* "user:password@" becomes "user:***@". Returns where the rest begins. */
static const char *put_authority(struct mr_buf *out, const char *at)
{
	size_t len = strcspn(at, "/?#");
	const char *host = host_of(at, len), *sign = host > at ? host - 1 : NULL;
	const char *colon = sign ? memchr(at, ':', (size_t)(sign - at)) : NULL;

	if (colon) {
		mr_buf_add(out, at, (size_t)(colon + 1 - at));
		mr_buf_puts(out, hidden);
		mr_buf_add(out, sign, len - (size_t)(sign - at));
	} else {
		mr_buf_add(out, at, len);
	}
	return at + len;
}

static void put_query(struct mr_arena *arena, struct mr_buf *out, const char *at)
{
	const char *end = at + strcspn(at, "#");

	while (at < end) {
		size_t len = strcspn(at, "&#"), name = strcspn(at, "=&#");

		mr_buf_add(out, at, name);
		if (name < len && is_secret_name(arena, at, name)) {
			mr_buf_putc(out, '=');
			mr_buf_puts(out, hidden);
		} else {
			mr_buf_add(out, at + name, len - name);
		}
		at += len;
		if (at < end)
			mr_buf_putc(out, *at++);
	}
	mr_buf_puts(out, end);
}

static const char *redact_url(struct mr_arena *arena, const char *url)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	size_t scheme = scheme_len(url);
	const char *rest;
	size_t path;

	if (!scheme || strpbrk(url, " \t\r\n\f\v") || !is_clean_authority(url + scheme))
		return strpbrk(url, " \t\r\n\f\v@") ? hidden : url;
	mr_buf_init(&out, strlen(url) * 2 + 64);
	mr_buf_add(&out, url, scheme);
	rest = put_authority(&out, url + scheme);
	path = strcspn(rest, "?#");
	mr_buf_add(&out, rest, path);
	rest += path;
	if (*rest == '?') {
		mr_buf_putc(&out, '?');
		put_query(arena, &out, rest + 1);
	} else {
		mr_buf_puts(&out, rest);
	}
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

static struct mr_value redacted(struct mr_arena *arena, const struct mr_value *value,
	unsigned depth);

static struct mr_value redacted_member(struct mr_arena *arena, const struct mr_pair *pair,
	unsigned depth)
{
	if (has_suffix(pair->key, "_secret", "_SECRET"))
		return text_value(hidden);
	if (pair->value.kind == MR_TEXT && has_suffix(pair->key, "_url", "_URL"))
		return text_value(redact_url(arena, pair->value.text));
	return redacted(arena, &pair->value, depth + 1);
}

static struct mr_value redacted(struct mr_arena *arena, const struct mr_value *value,
	unsigned depth)
{
	struct mr_value out = *value;

	if (depth > MR_AFD_DEPTH)
		return text_value(hidden);
	if (value->kind == MR_LIST) {
		out.list.items =
			mr_arena_array(arena, value->list.len + 1, sizeof(*out.list.items));
		for (size_t i = 0; i < value->list.len; i++)
			out.list.items[i] = redacted(arena, &value->list.items[i], depth + 1);
	} else if (value->kind == MR_MAP) {
		out.map.pairs = mr_arena_array(arena, value->map.len + 1, sizeof(*out.map.pairs));
		for (size_t i = 0; i < value->map.len; i++) {
			out.map.pairs[i].key = value->map.pairs[i].key;
			out.map.pairs[i].value =
				redacted_member(arena, &value->map.pairs[i], depth);
		}
	}
	return out;
}

const struct mr_value *mr_afd_redact(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_value *out = mr_arena_alloc(arena, sizeof(*out));

	*out = redacted(arena, value, 0);
	return out;
}
