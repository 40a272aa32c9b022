/* text/mime_body.c - which parts are the body and which are attachments, and the body's text. */
#include "text/mime_private.h"

#include "base/utf8.h"
#include "text/clean.h"
#include "text/html.h"

#include <string.h>

struct list {
	size_t *items;
	size_t len;
};

struct body {
	const struct mr_mime *mime;
	struct list text, html, attached;
	size_t next; /* the part to be looked at */
};

static bool is_media(const struct mr_mime_part *part)
{
	return mr_str_starts(part->type, "image/") || mr_str_starts(part->type, "audio/") ||
		mr_str_starts(part->type, "video/");
}

static bool is_plain(const struct mr_mime_part *part)
{
	return mr_str_eq(part->type, "text/plain");
}

static bool is_html(const struct mr_mime_part *part)
{
	return mr_str_eq(part->type, "text/html");
}

static void push(struct list *list, size_t part)
{
	list->items[list->len++] = part;
}

/* May the part be shown in the body? `index` is its place among its siblings. */
static bool is_inline(const struct mr_mime_part *part, const char *multipart, size_t index)
{
	if (mr_str_eq(part->disposition, "attachment") || part->is_broken)
		return false;
	if (!is_plain(part) && !is_html(part) && !is_media(part))
		return false;
	return index == 0 || (!mr_str_eq(multipart, "related") && (is_media(part) || !part->name));
}

/* A part of the body goes into the lists that still are wanted; NULL is not wanted. */
static void sort_inline(struct body *b, size_t at, const char *multipart, bool in_alternative,
	struct list **text, struct list **html)
{
	const struct mr_mime_part *part = &b->mime->parts[at];

	if (mr_str_eq(multipart, "alternative")) {
		if (is_media(part))
			push(&b->attached, at);
		else if (is_plain(part) ? *text != NULL : *html != NULL)
			push(is_plain(part) ? *text : *html, at);
		return;
	}
	if (in_alternative) {
		if (is_plain(part))
			*html = NULL;
		if (is_html(part))
			*text = NULL;
	}
	/* A picture in the body is listed, too: nobody could fetch it otherwise. */
	if (is_media(part)) {
		push(&b->attached, at);
		return;
	}
	if (*text)
		push(*text, at);
	if (*html)
		push(*html, at);
}

/* The parts below `parent`, as RFC 8621 sorts them; the depth of parts bounds the recursion. */
static void sort_parts(struct body *b, size_t parent, bool in_alternative, struct list *text,
	struct list *html)
{
	const struct mr_mime_part *parts = b->mime->parts;
	const char *multipart = parts[parent].type + strlen("multipart/");
	size_t text_before = text ? text->len : 0;
	size_t html_before = html ? html->len : 0;

	for (size_t index = 0; b->next < b->mime->part_count; index++) {
		size_t at = b->next;

		if (parts[at].depth <= parts[parent].depth)
			break;
		b->next++;
		if (parts[at].is_multipart)
			sort_parts(b, at,
				in_alternative ||
					mr_str_eq(parts[at].type, "multipart/alternative"),
				text, html);
		else if (is_inline(&parts[at], multipart, index))
			sort_inline(b, at, multipart, in_alternative, &text, &html);
		else
			push(&b->attached, at);
	}
	if (!mr_str_eq(multipart, "alternative") || !text || !html)
		return;
	/* What exists in one form only stands for the other. */
	if (text->len == text_before && html->len != html_before) {
		for (size_t i = html_before; i < html->len; i++)
			push(text, html->items[i]);
	} else if (html->len == html_before && text->len != text_before) {
		for (size_t i = text_before; i < text->len; i++)
			push(html, text->items[i]);
	}
}

/* The decoded text of a part, cleaned; the source is cut where no result could need more. */
static char *part_text(struct mr_arena *arena, const struct mr_mime_part *part,
	struct mr_mime_notes *notes)
{
	struct mr_buf raw MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	size_t max = (is_html(part) ? 4 : 1) * (size_t)MR_MIME_TEXT_BYTES;

	mr_buf_init(&raw, 2 * max);
	if (mr_mime_transfer_decode(part->encoding, part->bytes, &raw) > raw.len)
		mr_mime_note(notes, "the body is longer than %zu bytes and was cut", raw.max);
	if (!mr_mime_charset_is_known(part->charset))
		mr_mime_note(notes, "the charset \"%.40s\" is not known; read as UTF-8",
			part->charset);
	mr_buf_init(&text, 4 * raw.max);
	mr_mime_charset_decode(&text, part->charset, mr_buf_bytes(&raw));
	return mr_clean_body(arena, mr_buf_bytes(&text));
}

/* Lines that end in a space go on in the next (RFC 3676). */
static char *unflow(struct mr_arena *arena, const char *text, bool has_delsp)
{
	char *out = mr_arena_alloc(arena, 2 * strlen(text) + 2);
	char *to = out;
	size_t open_depth = 0;
	bool is_open = false; /* the last line flows into this one */

	while (*text) {
		size_t depth = strspn(text, ">");
		const char *line = text + depth + (text[depth] == ' ');
		size_t len = strcspn(line, "\n");
		bool is_signature = len == 3 && memcmp(line, "-- ", 3) == 0;
		bool flows = len && line[len - 1] == ' ' && !is_signature && line[len] == '\n';

		if (is_open && (depth != open_depth || is_signature)) {
			*to++ = '\n';
			is_open = false;
		}
		if (!is_open) {
			memset(to, '>', depth);
			to += depth;
			if (depth && len)
				*to++ = ' ';
		}
		memcpy(to, line, len);
		to += len - (flows && has_delsp);
		text = line + len;
		if (*text == '\n') {
			text++;
			if (!flows)
				*to++ = '\n';
		}
		is_open = flows;
		open_depth = depth;
	}
	*to = '\0';
	return out;
}

static const char *plain_text(struct mr_arena *arena, const struct mr_mime_part *part,
	struct mr_mime_notes *notes)
{
	char *text = part_text(arena, part, notes);

	if (is_html(part))
		return mr_html_to_text(arena, text, MR_MIME_TEXT_BYTES);
	return part->is_flowed ? unflow(arena, text, part->has_delsp) : text;
}

static void read_text(struct mr_arena *arena, struct mr_mime *mime, const struct list *list,
	struct mr_mime_notes *notes)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 16 * (size_t)MR_MIME_TEXT_BYTES);
	for (size_t i = 0; i < list->len && buf.len < MR_MIME_TEXT_BYTES; i++) {
		const char *text = plain_text(arena, &mime->parts[list->items[i]], notes);

		if (buf.len && *text && buf.data[buf.len - 1] != '\n')
			mr_buf_putc(&buf, '\n');
		mr_buf_puts(&buf, text);
	}
	if (buf.len > MR_MIME_TEXT_BYTES)
		mr_mime_note(notes, "the text of the body was cut after %d bytes",
			MR_MIME_TEXT_BYTES);
	mime->body_text = mr_arena_strndup(arena, mr_buf_text(&buf),
		mr_utf8_truncate(mr_buf_text(&buf), buf.len, MR_MIME_TEXT_BYTES));
}

static void read_html(struct mr_arena *arena, struct mr_mime *mime, const struct list *list,
	struct mr_mime_notes *notes)
{
	for (size_t i = 0; i < list->len && !mime->body_html; i++) {
		const struct mr_mime_part *part = &mime->parts[list->items[i]];
		const char *html;

		if (!is_html(part))
			continue;
		html = part_text(arena, part, notes);
		mime->body_html = mr_arena_strndup(arena, html,
			mr_utf8_truncate(html, strlen(html), 4 * MR_MIME_TEXT_BYTES));
	}
}

static void list_attachments(struct mr_arena *arena, struct mr_mime *mime, const struct list *list)
{
	mime->attachments = mr_arena_array(arena, list->len, sizeof(*mime->attachments));
	mime->attachment_count = list->len;
	for (size_t i = 0; i < list->len; i++) {
		const struct mr_mime_part *part = &mime->parts[list->items[i]];
		struct mr_mime_attachment *out = &mime->attachments[i];

		out->part_id = mr_arena_printf(arena, "%zu", list->items[i]);
		out->filename =
			part->name ? part->name : mr_arena_printf(arena, "part-%s", out->part_id);
		out->content_type = part->has_type ? part->type : "application/octet-stream";
		out->content_id = part->content_id;
		out->is_inline = is_media(part) && !mr_str_eq(part->disposition, "attachment");
		out->size_bytes = (int64_t)(part->is_broken
				? part->bytes.len
				: mr_mime_transfer_decode(part->encoding, part->bytes, NULL));
	}
}

/* Base64 of a text with other characters in it is not decoded: whatever it is, it is no text. */
static void find_broken(struct mr_mime *mime, struct mr_mime_notes *notes)
{
	bool is_base64[256] = { ['+'] = true,
		['/'] = true,
		['='] = true,
		['\r'] = true,
		['\n'] = true,
		[' '] = true,
		['\t'] = true };

	for (int c = 0; c < 128; c++)
		is_base64[c] |= (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
	for (size_t i = 0; i < mime->part_count; i++) {
		struct mr_mime_part *part = &mime->parts[i];
		size_t at = 0;

		if (part->encoding != MR_MIME_BASE64 || part->is_multipart)
			continue;
		while (at < part->bytes.len && is_base64[part->bytes.data[at]])
			at++;
		if (at == part->bytes.len)
			continue;
		mr_mime_note(notes, "the base64 of part %zu is broken", i);
		part->is_broken = mr_str_starts(part->type, "text/");
	}
}

void mr_mime_body_read(struct mr_arena *arena, struct mr_mime *mime, struct mr_mime_notes *notes)
{
	/* A part is listed at most once for itself and once for the other form. */
	size_t max = 2 * mime->part_count;
	struct body b = { .mime = mime };

	b.text.items = mr_arena_array(arena, max, sizeof(size_t));
	b.html.items = mr_arena_array(arena, max, sizeof(size_t));
	b.attached.items = mr_arena_array(arena, max, sizeof(size_t));
	find_broken(mime, notes);
	b.next = 1;
	if (mime->parts[0].is_multipart) {
		sort_parts(&b, 0, mr_str_eq(mime->parts[0].type, "multipart/alternative"), &b.text,
			&b.html);
	} else if (is_inline(&mime->parts[0], "", 0) && !is_media(&mime->parts[0])) {
		push(&b.text, 0);
		push(&b.html, 0);
	} else if (mime->parts[0].bytes.len) {
		push(&b.attached, 0);
	}
	read_text(arena, mime, &b.text, notes);
	read_html(arena, mime, &b.html, notes);
	list_attachments(arena, mime, &b.attached);
}
