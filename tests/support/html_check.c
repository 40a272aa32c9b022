/* tests/support/html_check.c - a second opinion: it knows nothing of the renderer's code. */
#include "html_check.h"

#include "base/attr.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 256, NAME = 12, VALUE = 64 };

static const char *const elements[] = { "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul",
	"ol", "li", "pre", "code", "em", "strong", "del", "a", "table", "thead", "tbody", "tr",
	"th", "td", "span" };

static const char *wrong(const char *what, const char *at)
{
	static char message[200];

	snprintf(message, sizeof(message), "%s at: %.80s", what, at);
	return message;
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < MR_LEN(elements); i++) {
		if (strcmp(name, elements[i]) == 0)
			return true;
	}
	return false;
}

/* The beginning of an attribute's value, as a browser has it. */
static void decode(const char *from, size_t len, char out[VALUE])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < VALUE; i++) {
		out[n++] = from[i];
		if (from[i] == '&' && from[i + 1] == '#') {
			out[n - 1] = (char)atoi(from + i + 2);
			i += strcspn(from + i, ";");
		}
	}
	out[n] = '\0';
}

static bool is_address(const char *url)
{
	for (const char *at = url; *at; at++) {
		if (*at <= ' ' || *at >= 0x7f)
			return false;
	}
	return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0 ||
		strncasecmp(url, "mailto:", 7) == 0 || url[0] == '#' ||
		(url[0] == '/' && url[1] != '/' && url[1] != '\\');
}

static bool is_attribute(const char *element, const char *name, const char *value, size_t len)
{
	char text[VALUE];

	decode(value, len, text);
	if (strcmp(name, "class") == 0)
		return len > 0 &&
			strspn(value,
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789_+-") == len;
	if (strcmp(element, "ol") == 0)
		return strcmp(name, "start") == 0 && strspn(value, "0123456789") == len;
	if (strcmp(element, "a") != 0)
		return false;
	return (strcmp(name, "href") == 0 && is_address(text)) || strcmp(name, "title") == 0 ||
		(strcmp(name, "rel") == 0 && strcmp(text, "noopener noreferrer nofollow") == 0);
}

/* ` name="value"`, as often as they come, up to the ">". */
static const char *skip_attributes(const char *at, const char *element)
{
	while (*at == ' ') {
		char name[NAME] = "";
		size_t len = strspn(++at, "abcdefghijklmnopqrstuvwxyz");

		if (len == 0 || len >= NAME || strncmp(at + len, "=\"", 2) != 0)
			return NULL;
		memcpy(name, at, len);
		at += len + 2;
		len = strcspn(at, "\"<>");
		if (at[len] != '"' || !is_attribute(element, name, at, len))
			return NULL;
		at += len + 1;
	}
	return *at == '>' ? at + 1 : NULL;
}

static bool is_entity(const char *at)
{
	size_t len =
		strspn(at + 1, "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return len > 0 && at[1 + len] == ';';
}

/* A name too long stays empty, which is no element's. */
static const char *read_name(const char *at, char out[NAME])
{
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (len < NAME)
		memcpy(out, at, len);
	return at + len;
}

const char *html_check(const char *html)
{
	char open[DEPTH][NAME];
	size_t depth = 0;

	for (const char *at = html; *at;) {
		const char *start = at;
		bool closes = at[0] == '<' && at[1] == '/';
		char name[NAME] = "";

		if (strchr(">\"'", *at) || (*at == '&' && !is_entity(at)))
			return wrong("not escaped", at);
		if (*at++ != '<')
			continue;
		at += closes;
		at = read_name(at, name);
		if (!closes && *at == '>' && (strcmp(name, "br") == 0 || strcmp(name, "hr") == 0)) {
			at++;
			continue;
		}
		if (!is_known(name))
			return wrong("a strange tag", start);
		at = closes ? (*at == '>' ? at + 1 : NULL) : skip_attributes(at, name);
		if (!at)
			return wrong("a strange attribute", start);
		if (closes && (depth == 0 || strcmp(open[--depth], name) != 0))
			return wrong("not opened last", start);
		if (!closes && depth == DEPTH)
			return wrong("too deep", start);
		if (!closes)
			memcpy(open[depth++], name, NAME);
	}
	return depth ? wrong("not closed", open[depth - 1]) : NULL;
}
