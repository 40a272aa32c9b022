/* surface/http/media.c - Compares media types in Accept and Content-Type headers. */
#include "surface/http/media.h"

#include <string.h>
#include <strings.h>

/* "type/subtype" of `len` bytes at `text`, without the blanks around it. */
static struct mr_bytes essence(const char *text, size_t len)
{
	while (len && strchr(" \t", text[0])) {
		text++;
		len--;
	}
	while (len && strchr(" \t", text[len - 1]))
		len--;
	return mr_bytes_of(text, len);
}

static bool is_text(struct mr_bytes bytes, const char *text, size_t len)
{
	return bytes.len == len && strncasecmp((const char *)bytes.data, text, len) == 0;
}

bool mr_http_media_is(const char *content_type, const char *type)
{
	return content_type &&
		is_text(essence(content_type, strcspn(content_type, ";")), type, strlen(type));
}

static bool covers(struct mr_bytes range, const char *type)
{
	size_t family = strcspn(type, "/") + 1;

	if (is_text(range, type, strlen(type)) || is_text(range, "*/*", 3))
		return true;
	return range.len == family + 1 && range.data[family] == '*' &&
		strncasecmp((const char *)range.data, type, family) == 0;
}

/* q=0, q=0.0 ...: the parameters of one range, from its first ';' on. */
static bool is_refused(const char *params, const char *end)
{
	for (const char *at = params; at < end; at++) {
		if (*at != ';')
			continue;
		for (at++; at < end && strchr(" \t", *at); at++)
			continue;
		if (end - at < 3 || strncasecmp(at, "q=", 2) != 0)
			continue;
		for (at += 2; at < end && strchr("0.", *at); at++)
			continue;
		return at == end || strchr("; \t", *at);
	}
	return false;
}

static bool list_accepts(const char *list, const char *type)
{
	for (const char *at = list; *at;) {
		const char *end = at + strcspn(at, ",");
		size_t len = strcspn(at, ",;");

		if (covers(essence(at, len), type) && !is_refused(at + len, end))
			return true;
		at = *end ? end + 1 : end;
	}
	return false;
}

bool mr_http_media_accepts(const struct mr_http_request *req, const char *type)
{
	for (size_t i = 0; i < req->headers_len; i++) {
		if (strcasecmp(req->headers[i].name, "Accept") == 0 &&
			list_accepts(req->headers[i].value, type))
			return true;
	}
	return false;
}
