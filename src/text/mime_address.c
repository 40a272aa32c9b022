/*
 * text/mime_address.c - addresses and message ids of header fields.
 *
 * Real mail has addresses that no grammar allows, so this is a walk over the characters that
 * matter: quotes, comments, angle brackets, and what parts one address from the next.
 */
#include "text/mime_private.h"

#include <string.h>

struct reader {
	struct mr_arena *arena;
	const char *last_quote;  /* in the text; after it no quoted string can begin */
	struct mr_buf phrase;    /* what stands outside of brackets and comments */
	struct mr_buf comment;   /* the last one */
	struct mr_buf bracketed; /* what stood in angle brackets */
	bool has_brackets;
	struct mr_mime_addresses list;
	size_t room;
};

static void trim(const char **text, size_t *len)
{
	while (*len && (**text == ' ' || **text == '\t')) {
		++*text;
		--*len;
	}
	while (*len && ((*text)[*len - 1] == ' ' || (*text)[*len - 1] == '\t'))
		--*len;
}

static const char *trimmed(struct reader *r, const struct mr_buf *buf)
{
	const char *text = mr_buf_text(buf);
	size_t len = buf->len;

	trim(&text, &len);
	return len ? mr_arena_strndup(r->arena, text, len) : NULL;
}

static const char *decoded(struct reader *r, const char *name)
{
	const char *text = name ? mr_mime_words_decode(r->arena, name) : NULL;

	return mr_str_is_empty(text) ? NULL : text;
}

static void end_address(struct reader *r)
{
	struct mr_mime_address address = { 0 };
	const char *phrase = trimmed(r, &r->phrase);
	const char *route;

	if (r->has_brackets) {
		address.email = trimmed(r, &r->bracketed);
		/* "@hop,@hop:" in front of it is a route of old. */
		route = address.email && *address.email == '@' ? strrchr(address.email, ':') : NULL;
		if (route)
			address.email = mr_str_trim(r->arena, route + 1);
		address.name = decoded(r, phrase);
	} else {
		address.email = phrase;
		address.name = decoded(r, trimmed(r, &r->comment));
	}
	mr_buf_clear(&r->phrase);
	mr_buf_clear(&r->comment);
	mr_buf_clear(&r->bracketed);
	r->has_brackets = false;
	if (mr_str_is_empty(address.email) || r->list.len == MR_MIME_ADDRESSES)
		return;
	if (r->list.len == r->room) {
		size_t bigger = r->room ? 2 * r->room : 4;
		struct mr_mime_address *items = mr_arena_array(r->arena, bigger, sizeof(*items));

		if (r->room)
			memcpy(items, r->list.items, r->room * sizeof(*items));
		r->list.items = items;
		r->room = bigger;
	}
	r->list.items[r->list.len++] = address;
}

/* Behind the quoted string at `at`, whose content is added to `buf`. */
static const char *pass_quoted(const char *at, struct mr_buf *buf)
{
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		mr_buf_putc(buf, *at);
	}
	return *at ? at + 1 : at;
}

/* Behind the comment at `at`. */
static const char *pass_comment(const char *at, struct mr_buf *buf)
{
	size_t depth = 1;

	mr_buf_clear(buf);
	for (at++; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '(')
			depth++;
		else if (*at == ')' && --depth == 0)
			return at + 1;
		mr_buf_putc(buf, *at);
	}
	return at;
}

/* Behind the brackets at `at`; a quoted local part in them keeps its quotes. */
static const char *pass_brackets(struct reader *r, const char *at)
{
	struct mr_buf *buf = &r->bracketed;
	bool is_route = at[1] == '@';
	bool is_quoted = false;

	mr_buf_clear(buf);
	r->has_brackets = true;
	for (at++; *at && (is_quoted || !strchr(is_route ? "<>" : "<>,;", *at)); at++) {
		if (*at == '"' && (is_quoted || at < r->last_quote))
			is_quoted = !is_quoted;
		if (*at == '\\' && is_quoted && at[1])
			mr_buf_putc(buf, *at++);
		mr_buf_putc(buf, *at);
	}
	return *at == '>' ? at + 1 : at;
}

/* Is the ':' that ends this phrase the end of a group's name? */
static bool ends_group_name(const struct reader *r)
{
	return !r->has_brackets && (!r->phrase.len || !memchr(r->phrase.data, '@', r->phrase.len));
}

struct mr_mime_addresses mr_mime_addresses_read(struct mr_arena *arena, const char *text)
{
	struct reader r = { .arena = arena, .last_quote = strrchr(text, '"') };
	size_t max = strlen(text) + 1;
	/* A comment without end is no comment. */
	const char *last_close = strrchr(text, ')');

	mr_buf_init(&r.phrase, max);
	mr_buf_init(&r.comment, max);
	mr_buf_init(&r.bracketed, max);
	for (const char *at = text; *at;) {
		if (*at == '"' && at < r.last_quote) {
			at = pass_quoted(at, &r.phrase);
		} else if (*at == '(' && last_close && at < last_close) {
			at = pass_comment(at, &r.comment);
			mr_buf_putc(&r.phrase, ' ');
		} else if (*at == '<') {
			at = pass_brackets(&r, at);
		} else if (*at == ',' || *at == ';') {
			end_address(&r);
			at++;
		} else if (*at == ':' && ends_group_name(&r)) {
			mr_buf_clear(&r.phrase);
			at++;
		} else {
			if (*at != '"')
				mr_buf_putc(&r.phrase, *at);
			at++;
		}
	}
	end_address(&r);
	mr_buf_release(&r.phrase);
	mr_buf_release(&r.comment);
	mr_buf_release(&r.bracketed);
	return r.list;
}

const char *mr_mime_address_text(struct mr_arena *arena, const struct mr_mime_address *address)
{
	if (mr_str_is_empty(address->name))
		return address->email;
	return mr_arena_printf(arena, "%s <%s>", address->name, address->email);
}

struct mr_texts mr_mime_ids_read(struct mr_arena *arena, const char *text)
{
	bool has_brackets = strchr(text, '<') && strchr(strchr(text, '<'), '>');
	struct mr_texts ids = { 0 };
	const char *at = text;
	size_t count = 0;

	for (const char *p = text; *p && count < MR_MIME_IDS; p++)
		count += has_brackets ? *p == '<' : *p == ' ' || *p == '\t' || p == text;
	ids.items = mr_arena_array(arena, count + 1, sizeof(*ids.items));
	while (*at && ids.len < count) {
		const char *start = has_brackets ? strchr(at, '<') : at + strspn(at, " \t");
		size_t len;

		if (!start)
			break;
		start += has_brackets;
		len = strcspn(start, has_brackets ? "<>" : " \t");
		at = start + len;
		if (has_brackets && *at != '>')
			continue;
		trim(&start, &len);
		if (len)
			ids.items[ids.len++] = mr_arena_strndup(arena, start, len);
	}
	return ids;
}
