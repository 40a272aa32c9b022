/* text/markdown_html.c - the HTML of text/markdown.h: only our tags, everything else escaped. */
#include "text/markdown.h"

#include "text/markdown_sink.h"

#include <string.h>

enum {
	NESTING_MAX = 100, /* browsers slow down, or stop, somewhere past 500 */
	LANG_BYTES = 32,
};

struct html {
	struct mr_buf *buf;
	unsigned depth;
	unsigned link_depth; /* where an <a> is open, or 0: they do not nest */
	size_t link_start;   /* of its text in `buf` */
};

static const char *const names[] = {
	[MR_MARKDOWN_QUOTE] = "blockquote",
	[MR_MARKDOWN_BULLETS] = "ul",
	[MR_MARKDOWN_NUMBERS] = "ol",
	[MR_MARKDOWN_ITEM] = "li",
	[MR_MARKDOWN_PARAGRAPH] = "p",
	[MR_MARKDOWN_TABLE] = "table",
	[MR_MARKDOWN_TABLE_HEAD] = "thead",
	[MR_MARKDOWN_TABLE_BODY] = "tbody",
	[MR_MARKDOWN_ROW] = "tr",
	[MR_MARKDOWN_HEAD_CELL] = "th",
	[MR_MARKDOWN_CELL] = "td",
	[MR_MARKDOWN_EMPHASIS] = "em",
	[MR_MARKDOWN_STRONG] = "strong",
	[MR_MARKDOWN_STRIKE] = "del",
	[MR_MARKDOWN_CODE] = "code",
	[MR_MARKDOWN_OTHER] = NULL,
};

static const char *escape(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void put_escaped(struct mr_buf *buf, const char *text, size_t len)
{
	size_t start = 0;

	for (size_t i = 0; i < len; i++) {
		const char *escaped = escape(text[i]);

		if (!escaped)
			continue;
		mr_buf_add(buf, text + start, i - start);
		mr_buf_puts(buf, escaped);
		start = i + 1;
	}
	mr_buf_add(buf, text + start, len - start);
}

/* Characters that do not belong into an address are percent-encoded, then HTML's are escaped. */
static void put_url(struct mr_buf *buf, const char *url)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "-._~:/?#[]@!$&'()*+,;=%";

	for (; *url; url++) {
		if (strchr(plain, *url))
			put_escaped(buf, url, 1);
		else
			mr_buf_printf(buf, "%%%02X", (unsigned char)*url);
	}
}

static bool is_language(const char *lang)
{
	size_t len =
		strspn(lang, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-");

	return len > 0 && len <= LANG_BYTES && lang[len] == '\0';
}

static void open_code_block(struct html *h, const struct mr_markdown_node *node)
{
	mr_buf_puts(h->buf, "<pre><code");
	if (is_language(node->lang))
		mr_buf_printf(h->buf, " class=\"language-%s\"", node->lang);
	mr_buf_putc(h->buf, '>');
}

/* A link inside a link, and one that may not be followed, is only its text. */
static void open_link(struct html *h, const struct mr_markdown_node *node)
{
	if (h->link_depth || !mr_markdown_url_is_allowed(node->url))
		return;
	mr_buf_puts(h->buf, "<a href=\"");
	put_url(h->buf, node->url);
	mr_buf_puts(h->buf, "\" rel=\"noopener noreferrer nofollow\"");
	if (node->kind == MR_MARKDOWN_IMAGE)
		mr_buf_puts(h->buf, " class=\"image\"");
	if (node->title[0]) {
		mr_buf_puts(h->buf, " title=\"");
		put_escaped(h->buf, node->title, strlen(node->title));
		mr_buf_putc(h->buf, '"');
	}
	mr_buf_putc(h->buf, '>');
	h->link_depth = h->depth;
	h->link_start = h->buf->len;
}

static void close_link(struct html *h, const struct mr_markdown_node *node)
{
	if (h->link_depth != h->depth)
		return;
	/* One must be able to see it. */
	if (h->buf->len == h->link_start)
		put_escaped(h->buf, node->url, strlen(node->url));
	mr_buf_puts(h->buf, "</a>");
	h->link_depth = 0;
}

static void open_cell(struct html *h, const struct mr_markdown_node *node)
{
	static const char *const aligns[] = {
		[MR_ALIGN_LEFT] = "left",
		[MR_ALIGN_CENTER] = "center",
		[MR_ALIGN_RIGHT] = "right",
	};

	mr_buf_printf(h->buf, "<%s", names[node->kind]);
	if (node->align != MR_ALIGN_NONE)
		mr_buf_printf(h->buf, " class=\"align-%s\"", aligns[node->align]);
	mr_buf_putc(h->buf, '>');
}

/* Checkboxes as characters: a page needs no form for them. */
static void open_item(struct html *h, const struct mr_markdown_node *node)
{
	mr_buf_puts(h->buf, "<li>");
	if (node->task == MR_TASK_OPEN)
		mr_buf_puts(h->buf, "<span class=\"task-open\">\u2610</span> ");
	else if (node->task == MR_TASK_DONE)
		mr_buf_puts(h->buf, "<span class=\"task-done\">\u2611</span> ");
}

static bool enter(void *arg, const struct mr_markdown_node *node)
{
	struct html *h = arg;

	if (++h->depth > NESTING_MAX)
		return !h->buf->failed;
	switch (node->kind) {
	case MR_MARKDOWN_RULE:
		mr_buf_puts(h->buf, "<hr>\n");
		break;
	case MR_MARKDOWN_HEADING:
		mr_buf_printf(h->buf, "<h%u>", node->number);
		break;
	case MR_MARKDOWN_CODE_BLOCK:
		open_code_block(h, node);
		break;
	case MR_MARKDOWN_LINK:
	case MR_MARKDOWN_IMAGE:
		open_link(h, node);
		break;
	case MR_MARKDOWN_HEAD_CELL:
	case MR_MARKDOWN_CELL:
		open_cell(h, node);
		break;
	case MR_MARKDOWN_ITEM:
		open_item(h, node);
		break;
	case MR_MARKDOWN_NUMBERS:
		if (node->number != 1) {
			mr_buf_printf(h->buf, "<ol start=\"%u\">", node->number);
			break;
		}
		mr_buf_puts(h->buf, "<ol>");
		break;
	default:
		if (names[node->kind])
			mr_buf_printf(h->buf, "<%s>", names[node->kind]);
		break;
	}
	return !h->buf->failed;
}

static bool is_block(enum mr_markdown_kind kind)
{
	return kind < MR_MARKDOWN_EMPHASIS;
}

static bool leave(void *arg, const struct mr_markdown_node *node)
{
	struct html *h = arg;

	if (h->depth <= NESTING_MAX) {
		if (node->kind == MR_MARKDOWN_HEADING)
			mr_buf_printf(h->buf, "</h%u>", node->number);
		else if (node->kind == MR_MARKDOWN_CODE_BLOCK)
			mr_buf_puts(h->buf, "</code></pre>");
		else if (node->kind == MR_MARKDOWN_LINK || node->kind == MR_MARKDOWN_IMAGE)
			close_link(h, node);
		else if (node->kind != MR_MARKDOWN_RULE && names[node->kind])
			mr_buf_printf(h->buf, "</%s>", names[node->kind]);
	}
	if (is_block(node->kind) && node->kind != MR_MARKDOWN_RULE)
		mr_buf_putc(h->buf, '\n');
	h->depth--;
	return !h->buf->failed;
}

static bool text(void *arg, enum mr_markdown_piece piece, const char *bytes, size_t len)
{
	struct html *h = arg;

	/* An entity in text stays: it stands for a character, never for markup. */
	if (piece == MR_PIECE_ENTITY)
		mr_buf_add(h->buf, bytes, len);
	else if (piece == MR_PIECE_BREAK)
		mr_buf_puts(h->buf, "<br>\n");
	else
		put_escaped(h->buf, bytes, len);
	return !h->buf->failed;
}

/* Take back what was appended since `len`. */
static void rewind_to(struct mr_buf *buf, size_t len)
{
	buf->len = len;
	if (buf->data)
		buf->data[len] = '\0';
}

enum mr_code mr_markdown_to_html(struct mr_buf *buf, struct mr_bytes md, struct mr_err *err)
{
	static const struct mr_markdown_sink sink = { enter, leave, text };
	struct mr_buf clean MR_CLEANUP(mr_buf_release) = { 0 };
	struct html h = { .buf = buf };
	size_t start = buf->len;
	enum mr_code rc;

	mr_markdown_clean(&clean, md);
	if (mr_markdown_walk(&clean, &sink, &h) == MR_MARKDOWN_COSTLY) {
		rewind_to(buf, start);
		mr_buf_puts(buf, "<pre>");
		put_escaped(buf, clean.data, clean.len);
		mr_buf_puts(buf, "</pre>\n");
	}
	rc = mr_buf_check(buf, "the HTML of a message", err);
	if (rc)
		rewind_to(buf, start);
	return rc;
}
